//! The configuration language: every annotation and ConfigMap key, in one registry.
//!
//! Keys of a family are in one file: for each its [`Entry`] (what the documentation says) and its parser, and a table test.
//! [`keys`] lists them all; the reference page, `outrigger options`, the check of objects and "did you mean" hints are made
//! from it.
#![deny(clippy::disallowed_methods)]

pub mod access;
pub mod auth;
pub mod condition;
pub mod expression;
pub mod format;
pub mod global;
mod key;
mod layer;
mod page;
pub mod raw;
pub mod regex;
pub mod rewriting;
pub mod routing;
pub mod servers;
mod servers_increment;
mod ssl_redirect;
mod suggestion;
pub mod tls;
pub mod value;

use std::sync::LazyLock;

pub use key::{AnyKey, Chapter, Effect, Entry, Key, PREFIXES, Scope, Wrong};
pub use layer::{Finding, FindingKind, Invalid, Layer, Layers, find};
pub use page::{example, page, scopes};
pub use servers_increment::{DEFAULT_SERVERS_INCREMENT, SERVERS_INCREMENT};
pub use ssl_redirect::SSL_REDIRECT;
pub use suggestion::suggestion;

/// Keys of one family, as its file lists them.
pub type Family = &'static [&'static dyn AnyKey];

static FIRST: Family = &[&SERVERS_INCREMENT, &SSL_REDIRECT];

/// Every key, in alphabetical order.
pub fn keys() -> &'static [&'static dyn AnyKey] {
    static KEYS: LazyLock<Vec<&'static dyn AnyKey>> = LazyLock::new(|| {
        let families: [Family; 9] = [
            FIRST,
            routing::KEYS,
            rewriting::KEYS,
            tls::KEYS,
            servers::KEYS,
            access::KEYS,
            auth::KEYS,
            global::KEYS,
            raw::KEYS,
        ];
        let mut keys: Vec<&'static dyn AnyKey> = families.into_iter().flatten().copied().collect();
        keys.sort_by_key(|key| key.entry().name);
        keys
    });
    &KEYS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_belongs_to_one_key() {
        let mut seen = BTreeSet::new();
        for key in keys() {
            let entry = key.entry();
            assert!(!entry.docs.is_empty() && !entry.scopes.is_empty(), "{}", entry.name);
            assert!(entry.scopes.is_sorted(), "{}: scopes are in the order of lookup", entry.name);
            if entry.example.is_empty() {
                assert!(
                    key.check("x").is_err(),
                    "{}: only a key that is not supported has no example",
                    entry.name
                );
            } else {
                assert_eq!(key.check(entry.example), Ok(()), "{}: the example is a valid value", entry.name);
            }
            for name in entry.names() {
                assert!(seen.insert(name), "{name} is taken twice");
            }
        }
    }
}
