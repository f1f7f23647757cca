//! What `cors-allow-origin` takes.

use std::sync::Arc;

use super::regex::whole;
use crate::options::Wrong;

/// Which origins may.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origins {
    /// All of them.
    Any,
    /// Those.
    Only {
        /// As browsers write them: lower case, no path.
        exact: Vec<Arc<str>>,
        /// Regular expressions with `^` and `$`.
        matching: Vec<Arc<str>>,
    },
}

/// Origins, sorted, each once.
pub(super) fn origins(text: &str) -> Result<Origins, Wrong> {
    if text == "*" {
        return Ok(Origins::Any);
    }
    let words: Vec<&str> = text.split([',', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()).collect();
    let (mut exact, mut matching) = (Vec::new(), Vec::new());
    let mut unknown = None;
    for word in &words {
        match origin(&word.to_ascii_lowercase()) {
            Some(Origin::Exact(origin)) => exact.push(origin),
            Some(Origin::Subdomains(regex)) => matching.push(regex),
            None => unknown = Some(*word),
        }
    }
    if let Some(word) = unknown {
        let is_regex =
            text.contains(['(', '\\', '^', '{', '?', '|', '$']) || text.contains(".*") || text.contains(".+");
        if !is_regex {
            return Err(Wrong::because(format!("`{}` is no origin", word.escape_debug())));
        }
        return Ok(Origins::Only { exact: Vec::new(), matching: vec![whole(text)?] });
    }
    if words.len() > 200 {
        return Err(Wrong::because("it names more than 200 origins"));
    }
    for list in [&mut exact, &mut matching] {
        list.sort_unstable();
        list.dedup();
    }
    if words.is_empty() { Err(Wrong::PLAIN) } else { Ok(Origins::Only { exact, matching }) }
}

enum Origin {
    Exact(Arc<str>),
    /// As a regular expression.
    Subdomains(Arc<str>),
}

/// `null`, or scheme, host and perhaps port.
fn origin(text: &str) -> Option<Origin> {
    if text == "null" {
        return Some(Origin::Exact(text.into()));
    }
    let (scheme, rest) = text.split_once("://")?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let plain = |text: &str, more: &[u8]| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || more.contains(&b))
    };
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (rest, None),
    };
    let is_port = |port: &str| plain(port, b"") && port.parse::<u16>().is_ok_and(|port| port > 0);
    if !plain(scheme, b"+-.") || port.is_some_and(|port| !is_port(port)) || text.len() > 300 {
        return None;
    }
    if let Some(domain) = host.strip_prefix("*.") {
        let escape = |text: &str| text.replace('.', r"\.").replace('+', r"\+");
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let regex = || format!(r"^{}://[a-z0-9._-]+\.{}{port}$", escape(scheme), escape(domain));
        return plain(domain, b"-._").then(|| Origin::Subdomains(regex().into()));
    }
    let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let valid =
        literal.map_or_else(|| plain(host, b"-._"), |address| address.parse::<std::net::Ipv6Addr>().is_ok());
    valid.then(|| Origin::Exact(text.strip_suffix('/').unwrap_or(text).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(exact: &[&str], matching: &[&str]) -> Origins {
        let all = |texts: &[&str]| texts.iter().map(|text| Arc::from(*text)).collect();
        Origins::Only { exact: all(exact), matching: all(matching) }
    }

    #[test]
    fn values() {
        for (text, value) in [
            ("*", Origins::Any),
            ("https://Example.org", only(&["https://example.org"], &[])),
            (
                "https://b.test/, http://a.test:3000\nnull",
                only(&["http://a.test:3000", "https://b.test", "null"], &[]),
            ),
            ("http://[::1]:8080", only(&["http://[::1]:8080"], &[])),
            ("https://*.example.org", only(&[], &[r"^https://[a-z0-9._-]+\.example\.org$"])),
            (
                "https://*.a.test:1 https://a.test",
                only(&["https://a.test"], &[r"^https://[a-z0-9._-]+\.a\.test:1$"]),
            ),
            (
                r"^https://(.+\.)?(foo\.com|bar\.com)(:\d{1,5})?$",
                only(&[], &[r"^(https://(.+\.)?(foo\.com|bar\.com)(:\d{1,5})?)$"]),
            ),
            (r"https://(a|b)\.test", only(&[], &[r"^(https://(a|b)\.test)$"])),
            (r"^https://a$|b", only(&[], &["x"])),
        ] {
            if value == only(&[], &["x"]) {
                assert!(origins(text).is_err(), "{text}");
                continue;
            }
            assert_eq!(origins(text), Ok(value), "{text}");
        }
        let long = format!("https://{}", "a".repeat(3_000));
        for text in [
            "",
            ",",
            "https://a b!",
            "https://a\0",
            "https://a\" #",
            "https://a:99999",
            "https://a, https://[",
            "%[src]",
            "https://(a",
            "(a+)+",
            "gr\u{fc}n",
            &long,
        ] {
            assert!(origins(text).is_err(), "{text}");
        }
    }
}
