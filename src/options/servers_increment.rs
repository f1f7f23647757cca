//! `servers-increment`.

use super::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Spare server slots when the key is not written.
pub const DEFAULT_SERVERS_INCREMENT: u16 = 10;

/// Number of spare server slots.
pub static SERVERS_INCREMENT: Key<u16> = Key {
    entry: Entry {
        name: "servers-increment",
        aliases: &["server-slots", "scale-server-slots"],
        chapter: Chapter::Servers,
        scopes: &[Scope::Service, Scope::Ingress, Scope::ConfigMap],
        allowed: "a number from 1 to 1000",
        default: "`10`",
        docs: "Servers of a backend come in multiples of this number; the spare ones take new endpoints without a reload. \
               Only used with HAProxy before 2.6: since then servers are added while HAProxy runs, and no spare is needed. A \
               Service or an Ingress may say another number for its own backends; haproxytech's default is 42.",
        example: "20",
        effect: Effect::Reload,
    },
    parse,
};

fn parse(text: &str) -> Result<u16, Wrong> {
    text.parse().ok().filter(|n| (1..=1000).contains(n)).ok_or(Wrong::PLAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (text, value) in
            [("1", Some(1)), ("1000", Some(1000)), ("0", None), ("1001", None), ("ten", None), ("", None)]
        {
            assert_eq!((SERVERS_INCREMENT.parse)(text).ok(), value, "{text}");
        }
        assert_eq!(
            (SERVERS_INCREMENT.parse)(SERVERS_INCREMENT.entry.default.trim_matches('`')),
            Ok(DEFAULT_SERVERS_INCREMENT)
        );
    }
}
