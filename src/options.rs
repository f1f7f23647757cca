//! The configuration language: every annotation and ConfigMap key, in one registry.
//!
//! A key is one file: its [`Entry`] (what the documentation says), its parser, and a table test. [`ALL`] lists them; the
//! reference page, `outrigger options` and "did you mean" hints are made from it.
#![deny(clippy::disallowed_methods)]

mod key;
mod servers_increment;
mod ssl_redirect;
mod value;

pub use key::{Effect, Entry, Invalid, Key, PREFIXES, Reading, Scope};
pub use servers_increment::{DEFAULT_SERVERS_INCREMENT, SERVERS_INCREMENT};
pub use ssl_redirect::SSL_REDIRECT;

/// Every key, in alphabetical order.
pub static ALL: [&Entry; 2] = [&SERVERS_INCREMENT.entry, &SSL_REDIRECT.entry];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_belongs_to_one_key() {
        let mut seen = BTreeSet::new();
        for entry in ALL {
            assert!(
                !entry.docs.is_empty() && !entry.example.is_empty() && !entry.scopes.is_empty(),
                "{}",
                entry.name
            );
            for name in entry.names() {
                assert!(seen.insert(name), "{name} is taken twice");
            }
        }
        assert!(ALL.is_sorted_by_key(|entry| entry.name));
    }
}
