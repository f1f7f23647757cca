//! Servers and the way to them.

mod balance;
mod check;
mod persistence;
mod retries;
mod transport;

pub use balance::{LOAD_BALANCE, POD_MAXCONN};
pub use check::{CHECK, CHECK_HTTP, CHECK_INTERVAL, TIMEOUT_CHECK};
pub use persistence::{COOKIE_PERSISTENCE, COOKIE_PERSISTENCE_NO_DYNAMIC};
pub use retries::{ABORT_ON_CLOSE, REDISPATCH, RETRIES, RETRY_ON};
pub use transport::{SEND_PROXY_PROTOCOL, SERVER_CA, SERVER_CRT, SERVER_PROTO, SERVER_SSL};

use std::sync::Arc;

use super::{Family, Scope, Wrong};

/// The keys of this file.
pub(super) static KEYS: Family = &[
    &LOAD_BALANCE,
    &POD_MAXCONN,
    &CHECK,
    &CHECK_HTTP,
    &CHECK_INTERVAL,
    &TIMEOUT_CHECK,
    &COOKIE_PERSISTENCE,
    &COOKIE_PERSISTENCE_NO_DYNAMIC,
    &SERVER_SSL,
    &SERVER_CA,
    &SERVER_CRT,
    &SERVER_PROTO,
    &SEND_PROXY_PROTOCOL,
    &ABORT_ON_CLOSE,
    &RETRIES,
    &RETRY_ON,
    &REDISPATCH,
];

/// Everywhere.
const ALL: &[Scope] = &[Scope::Service, Scope::Ingress, Scope::ConfigMap];

/// The name of a cookie, header or parameter that stands in an argument: letters, digits and `-_.`, at most 128.
fn simple_name(text: &str) -> Result<Arc<str>, Wrong> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    (first && text.len() <= 128 && text.bytes().all(allowed))
        .then(|| text.into())
        .ok_or_else(|| Wrong::because("names consist of letters, digits, `-`, `_` and `.`"))
}

/// Values that no key of this family takes.
#[cfg(test)]
const HOSTILE: [&str; 12] = [
    "",
    "\n",
    "a\nserver x 127.0.0.1:1",
    "roundrobin\0",
    "\"quoted\"",
    "#",
    "a # b",
    "%[src]",
    "${HOME}",
    "default-server check",
    "\u{e4}",
    "{ path / }",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_takes_hostile_values() {
        let huge = "a".repeat(100_000);
        for key in KEYS {
            for value in HOSTILE.into_iter().chain([huge.as_str()]) {
                assert!(key.check(value).is_err(), "{}: {value:?}", key.entry().name);
            }
        }
    }

    #[test]
    fn names_are_simple() {
        for name in ["a", "X-User", "_id", "a.b", "JSESSIONID"] {
            assert_eq!(simple_name(name).as_deref(), Ok(name));
        }
        for name in ["-a", ".a", "a b", "a,b", "a)", "a'", "a;"] {
            assert!(simple_name(name).is_err(), "{name}");
        }
    }
}
