//! `set-host`, `request-redirect`, `request-redirect-code`.

use std::net::Ipv6Addr;
use std::sync::Arc;

use crate::options::value::word;
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Status of the redirect when the key is not written.
pub const DEFAULT_REDIRECT_CODE: u16 = 302;

/// The Host header to the pods.
pub static SET_HOST: Key<Arc<str>> = Key {
    entry: Entry {
        name: "set-host",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a host, with a port if need be",
        default: "the host of the request",
        docs: "Sets the `Host` header of requests to the pods. `X-Forwarded-Host` still has the one that the client sent, and the \
               route is chosen by that one.",
        example: "example.local",
        effect: Effect::Reload,
    },
    parse: authority,
};

/// Redirect to another host.
pub static REQUEST_REDIRECT: Key<Arc<str>> = Key {
    entry: Entry {
        name: "request-redirect",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a host, with a port if need be",
        default: "no redirect",
        docs: "Answers requests with a redirect to this host, with the same scheme (as `X-Forwarded-Proto` says, see \
               `trusted-proxies`), path and query. Requests that name this very host already are served, so it never goes in a \
               circle. On clear text `ssl-redirect` comes first, where it is in effect. The status is `request-redirect-code`.",
        example: "www.example.org",
        effect: Effect::Reload,
    },
    parse: authority,
};

/// Status of that redirect.
pub static REQUEST_REDIRECT_CODE: Key<u16> = Key {
    entry: Entry {
        name: "request-redirect-code",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`301`, `302`, `303`, `307` or `308`",
        default: "`302`",
        docs: "Status of the redirect that `request-redirect` makes.",
        example: "308",
        effect: Effect::Reload,
    },
    parse: |text| word(text, &[("301", 301), ("302", 302), ("303", 303), ("307", 307), ("308", 308)]),
};

/// `host` or `host:port`; an IPv6 literal has brackets.
fn authority(text: &str) -> Result<Arc<str>, Wrong> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => {
            address.parse::<Ipv6Addr>().map_err(|_| Wrong::PLAIN)?;
            (None, if rest.is_empty() { Some("80") } else { rest.strip_prefix(':') })
        }
        None => match text.split_once(':') {
            Some((host, port)) => (Some(host), Some(port)),
            None => (Some(text), Some("80")),
        },
    };
    let label = |label: &str| {
        let inside = label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        !label.is_empty() && label.len() <= 63 && inside && !label.starts_with('-') && !label.ends_with('-')
    };
    let valid_host = host.is_none_or(|host| host.len() <= 253 && host.split('.').all(label));
    let digits =
        |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.parse().is_ok_and(|port: u16| port > 0);
    if valid_host && port.is_some_and(digits) { Ok(text.into()) } else { Err(Wrong::PLAIN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for text in
            ["example.com", "example.com:8888", "a", "A_b.C-d", "10.0.0.1", "[2001:db8::1]", "[::1]:80"]
        {
            assert_eq!((REQUEST_REDIRECT.parse)(text).as_deref(), Ok(text));
            assert_eq!((SET_HOST.parse)(text).as_deref(), Ok(text));
        }
        let long = format!("{}.x", "a".repeat(64));
        for text in [
            "",
            ":80",
            "a:",
            "a:0",
            "a:65536",
            "a:+1",
            "a:b",
            "a:1:2",
            "http://a",
            "a/b",
            "a b",
            "a\nb",
            "a#",
            "\"a\"",
            "a%20",
            "%[src]",
            "*.a",
            "a..b",
            ".a",
            "-a",
            "[a]",
            "[::1",
            "[::1]x",
            "\u{e4}.de",
            "a\0",
            "a code 301",
            "$HOST",
            &long,
        ] {
            assert!((REQUEST_REDIRECT.parse)(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn codes() {
        for (text, value) in
            [("301", Some(301)), ("308", Some(308)), ("300", None), ("", None), ("302 if", None)]
        {
            assert_eq!((REQUEST_REDIRECT_CODE.parse)(text).ok(), value, "{text}");
        }
        assert_eq!((REQUEST_REDIRECT_CODE.parse)("302"), Ok(DEFAULT_REDIRECT_CODE));
    }
}
