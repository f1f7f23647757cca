//! `allow-list` and `deny-list`, and what a list of addresses may be.

use std::sync::Arc;

use ipnet::IpNet;

use crate::options::value::networks;
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// A list of source addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addresses {
    /// Written out.
    Networks(Vec<IpNet>),
    /// A pattern file, by its name in the ConfigMap that `--configmap-patternfiles` names.
    File(Arc<str>),
}

/// What a list of addresses takes, in words.
pub(super) const ADDRESSES: &str = "addresses and networks (`192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`), separated by commas or white space, or one \
     `patterns/NAME`";

/// Who may.
pub static ALLOW_LIST: Key<Addresses> = Key {
    entry: Entry {
        name: "allow-list",
        aliases: &["whitelist"],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: ADDRESSES,
        default: "everybody",
        docs: "Only clients with one of these source addresses are served, all others get 403. `patterns/NAME` is the entry \
               NAME of the ConfigMap that `--configmap-patternfiles` names: an address or network a line; while there is no \
               such entry, nobody is served. Where TLS is passed through, the connection is closed instead. Entries that \
               change are applied while HAProxy runs; the first list of a path, and the change from one kind of list to \
               the other, is a reload. A value that is not valid closes the path (503) until it is mended.",
        example: "10.0.0.0/8, 192.0.2.7",
        effect: Effect::Live,
    },
    parse: addresses,
};

/// Who may not.
pub static DENY_LIST: Key<Addresses> = Key {
    entry: Entry {
        name: "deny-list",
        aliases: &["blacklist"],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: ADDRESSES,
        default: "nobody",
        docs: "Clients with one of these source addresses get 403; it counts before `allow-list`. `patterns/NAME` is the \
               entry NAME of the ConfigMap that `--configmap-patternfiles` names: an address or network a line; while \
               there is no such entry, the path is closed (503), since nobody knows whom it should refuse. Where TLS is \
               passed through, the connection is closed instead. Entries that change are applied while HAProxy runs; the \
               first list of a path is a reload. A value that is not valid closes the path (503) until it is mended.",
        example: "203.0.113.0/24",
        effect: Effect::Live,
    },
    parse: addresses,
};

/// A list of addresses.
pub(super) fn addresses(text: &str) -> Result<Addresses, Wrong> {
    match text.strip_prefix("patterns/") {
        Some(name) if is_pattern_file(name) => Ok(Addresses::File(name.into())),
        Some(_) => Err(Wrong::because("a pattern file is one name of letters, digits and `-_.`")),
        None => networks(text).map(Addresses::Networks),
    }
}

/// Whether a pattern file may have this name: letters, digits and `-_.`, at most 200, no dot in front. What begins with
/// `outrigger-` is ours.
pub fn is_pattern_file(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=200).contains(&name.len())
        && name.bytes().all(allowed)
        && !name.starts_with('.')
        && !name.starts_with("outrigger-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let networks =
            |texts: &[&str]| Addresses::Networks(texts.iter().map(|t| t.parse().unwrap()).collect());
        for (text, value) in [
            ("10.0.0.1/8 192.0.2.7", networks(&["10.0.0.0/8", "192.0.2.7/32"])),
            ("2001:db8::/32,\n10.0.0.0/8", networks(&["10.0.0.0/8", "2001:db8::/32"])),
            ("patterns/office", Addresses::File("office".into())),
            ("patterns/office_v2.txt", Addresses::File("office_v2.txt".into())),
        ] {
            assert_eq!(addresses(text), Ok(value), "{text}");
        }
        let long = format!("patterns/{}", "x".repeat(201));
        for text in [
            "",
            "10.0.0.0/33",
            "localhost",
            "10.0.0.1 }",
            "10.0.0.1\" #",
            "10.0.0.1\0",
            "-f /etc/passwd",
            "%[src]",
            "patterns/",
            "patterns/a b",
            "patterns/../x",
            "patterns/a/b",
            "patterns/.hidden",
            "patterns/outrigger-x",
            "patterns/a 10.0.0.1",
            "10.0.0.1 patterns/a",
            "patterns/a\nb",
            &long,
        ] {
            assert!(addresses(text).is_err(), "{text}");
        }
    }
}
