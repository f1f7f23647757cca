//! `auth-method` and `auth-timeout`.

use crate::options::value::{duration, word};
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

const SCOPES: &[Scope] = &[Scope::Service, Scope::Ingress, Scope::ConfigMap];

/// The method when the key is not written.
pub const DEFAULT_AUTH_METHOD: &str = "GET";

/// Milliseconds when the key is not written.
pub const DEFAULT_AUTH_TIMEOUT: u32 = 5_000;

/// Method of the sub-request.
pub static AUTH_METHOD: Key<&'static str> = Key {
    entry: Entry {
        name: "auth-method",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: SCOPES,
        allowed: "`GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`",
        default: "`GET`",
        docs: "Method with which the service of `auth-url` is asked. The body of the client's request is never sent to it; its \
               method is in `X-Original-Method`.",
        example: "POST",
        effect: Effect::Reload,
    },
    parse: method,
};

/// How long the service may take, in milliseconds.
pub static AUTH_TIMEOUT: Key<u32> = Key {
    entry: Entry {
        name: "auth-timeout",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: SCOPES,
        allowed: "a duration up to `1m`",
        default: "`5s`",
        docs: "How long the service of `auth-url` may take for its whole answer. Requests that it has not decided on by then are \
               answered with 503.",
        example: "2s",
        effect: Effect::Reload,
    },
    parse: timeout,
};

fn method(text: &str) -> Result<&'static str, Wrong> {
    const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    word(text, &METHODS.map(|method| (method, method)))
}

fn timeout(text: &str) -> Result<u32, Wrong> {
    let millis = duration(text)?;
    if millis > 60_000 { Err(Wrong::because("it is too long")) } else { Ok(millis) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods() {
        assert_eq!((AUTH_METHOD.parse)("post"), Ok("POST"));
        assert_eq!((AUTH_METHOD.parse)("GET"), Ok(DEFAULT_AUTH_METHOD));
        for text in ["", "GET /", "CONNECT", "TRACE", "GET\n", "%[method]", "G\0ET", &"A".repeat(9999)] {
            assert!((AUTH_METHOD.parse)(text).is_err(), "{text}");
        }
    }

    #[test]
    fn timeouts() {
        assert_eq!(
            (AUTH_TIMEOUT.parse)(AUTH_TIMEOUT.entry.default.trim_matches('`')),
            Ok(DEFAULT_AUTH_TIMEOUT)
        );
        for text in ["", "0s", "61s", "5", "-1s", "1d", "5s # x", "5s\n5s"] {
            assert!((AUTH_TIMEOUT.parse)(text).is_err(), "{text}");
        }
    }
}
