//! Hosts and paths of rules: which ones a request can carry.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::{IngressPath, PathType};
use crate::model::{HostMatch, PathMatch};
use crate::options::regex;
use crate::options::routing::PathKind;

/// Longer paths do not fit beside their value into one safe payload of the master CLI (15 kB), nor is there use for them.
const LONGEST_PATH: usize = 4096;

/// A host as it is written, in lower case, when it is an RFC 1123 name or `*.` and such a name; else the reason.
pub(super) fn parse_host(text: &str) -> Result<Arc<str>, &'static str> {
    let host = text.to_ascii_lowercase();
    let name = host.strip_prefix("*.").unwrap_or(&host);
    if name.is_empty() {
        return Err("it is empty");
    }
    if name.len() > 253 {
        return Err("it is longer than 253 characters");
    }
    if name.contains('*') {
        return Err("the star stands for exactly one label, the first one");
    }
    if name.contains(':') {
        return Err("a port or an IPv6 address is not a host name");
    }
    for label in name.split('.') {
        let bytes = label.as_bytes();
        let alphanumeric = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
        if bytes.is_empty() {
            return Err("it has an empty label");
        }
        if bytes.len() > 63 {
            return Err("a label is longer than 63 characters");
        }
        if !bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-') {
            return Err("labels consist of letters, digits and `-`");
        }
        if !alphanumeric(bytes.first()) || !alphanumeric(bytes.last()) {
            return Err("labels start and end with a letter or a digit");
        }
    }
    Ok(host.into())
}

/// How a host that [`parse_host`] accepted is matched.
pub(super) fn host_match(host: &Arc<str>) -> HostMatch {
    match host.strip_prefix("*.") {
        Some(domain) => HostMatch::Wildcard(domain.into()),
        None => HostMatch::Exact(host.clone()),
    }
}

/// Whether a host of a rule is one of the TLS hosts, or under a wildcard among them.
pub(super) fn is_covered(host: &str, tls_hosts: &BTreeSet<Arc<str>>) -> bool {
    if tls_hosts.contains(host) {
        return true;
    }
    match host.split_once('.') {
        Some((label, parent)) if label != "*" => tls_hosts.contains(format!("*.{parent}").as_str()),
        _ => false,
    }
}

/// How the path of a rule is matched, or why it cannot be. `kind` is about the type `ImplementationSpecific`.
pub(super) fn path_match(path: &IngressPath, kind: PathKind) -> Result<PathMatch, &'static str> {
    let text = path.path.as_deref().unwrap_or_default();
    if text.is_empty() {
        return match path.path_type {
            PathType::ImplementationSpecific => Ok(PathMatch::Prefix("".into())),
            PathType::Exact | PathType::Prefix => Err("it is empty"),
        };
    }
    if (path.path_type, kind) == (PathType::ImplementationSpecific, PathKind::Regex) {
        let regex = text.strip_prefix('^').unwrap_or(text);
        if !regex.starts_with('/') {
            return Err("it does not start with `/`");
        }
        return regex::check(regex).map(|()| PathMatch::Regex(regex.into()));
    }
    if !text.starts_with('/') {
        return Err("it does not start with `/`");
    }
    if text.len() > LONGEST_PATH {
        return Err("it is longer than 4096 bytes");
    }
    if text.contains(['?', '#']) {
        return Err("a path has neither query (`?`) nor fragment (`#`)");
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("it contains white space or control characters");
    }
    Ok(match path.path_type {
        PathType::Exact => PathMatch::Exact(text.into()),
        PathType::ImplementationSpecific if kind == PathKind::Exact => PathMatch::Exact(text.into()),
        PathType::Prefix | PathType::ImplementationSpecific => {
            PathMatch::Prefix(text.trim_end_matches('/').into())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::IngressBackend;

    #[test]
    fn hosts() {
        for (text, host) in [("Foo.Bar", "foo.bar"), ("*.foo", "*.foo"), ("a", "a"), ("1.2-3.x", "1.2-3.x")] {
            assert_eq!(parse_host(text).as_deref(), Ok(host));
        }
        let long = format!("{}.de", "a".repeat(64));
        for text in [
            "", "*", "*.", "*.*.a", "a.*", "foo.", ".foo", "-a", "a-", "a_b", "a:80", "[::1]", "a b", "ä.de",
            &long,
        ] {
            assert!(parse_host(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tls_hosts_cover_one_label() {
        let hosts = BTreeSet::from(["*.foo.bar".into(), "x.y".into()]);
        for (host, covered) in [
            ("a.foo.bar", true),
            ("*.foo.bar", true),
            ("a.b.foo.bar", false),
            ("foo.bar", false),
            ("x.y", true),
            ("*.y", false),
            ("*.x.y", false),
        ] {
            assert_eq!(is_covered(host, &hosts), covered, "{host}");
        }
    }

    #[test]
    fn paths() {
        use PathType::{Exact, ImplementationSpecific, Prefix};
        let prefix = |p: &str| Ok(PathMatch::Prefix(p.into()));
        let check = |path: Option<&str>, path_type, expected: Result<PathMatch, ()>| {
            let path =
                IngressPath { path: path.map(Into::into), path_type, backend: IngressBackend::Missing };
            assert_eq!(path_match(&path, PathKind::Prefix).map_err(|_| ()), expected, "{path:?}");
        };
        check(Some("/a/"), Exact, Ok(PathMatch::Exact("/a/".into())));
        check(Some("/a/"), Prefix, prefix("/a"));
        check(Some("/a/"), ImplementationSpecific, prefix("/a"));
        check(Some("/"), Prefix, prefix(""));
        check(Some("//"), Prefix, prefix(""));
        check(None, ImplementationSpecific, prefix(""));
        check(Some(""), ImplementationSpecific, prefix(""));
        check(None, Prefix, Err(()));
        let of_kind = |text: &str, kind| {
            let path_type = ImplementationSpecific;
            path_match(
                &IngressPath { path: Some(text.into()), path_type, backend: IngressBackend::Missing },
                kind,
            )
        };
        assert_eq!(of_kind("/a/", PathKind::Exact), Ok(PathMatch::Exact("/a/".into())));
        assert_eq!(of_kind("^/a/[0-9]+$", PathKind::Regex), Ok(PathMatch::Regex("/a/[0-9]+$".into())));
        for bad in ["a", ".*", "/(", "/a b", "/#", "/a\nb", "^"] {
            assert!(of_kind(bad, PathKind::Regex).is_err(), "{bad}");
        }
        for bad in ["a", "", "/a b", "/a\tb", "/a#b", "/a?b", "/a\u{a0}b", "/a\u{7f}", "/a\nb"] {
            check(Some(bad), Prefix, Err(()));
            check(Some(bad), Exact, Err(()));
        }
    }

    proptest::proptest! {
        /// What passes becomes a key of a map file: one word, and nothing that HAProxy or the master CLI could read as more.
        #[test]
        fn nothing_that_passes_can_end_a_line_or_a_word(text in "\\PC*|[a-zA-Z0-9*./ \\n\\r\\t#?;:_-]*") {
            if let Ok(host) = parse_host(&text) {
                assert!(host.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.*".contains(c)), "{host}");
            }
            for path_type in [PathType::Exact, PathType::Prefix] {
                let path = IngressPath { path: Some(text.as_str().into()), path_type, backend: IngressBackend::Missing };
                if let Ok(PathMatch::Exact(path) | PathMatch::Prefix(path)) = path_match(&path, PathKind::Regex) {
                    assert!(path.is_empty() || path.starts_with('/'));
                    assert!(!path.contains(|c: char| c.is_whitespace() || c.is_control() || c == '#'), "{path:?}");
                }
            }
        }
    }
}
