//! `trusted-proxies`, `proxy-protocol`, `request-id`.

use ipnet::IpNet;

use crate::options::value::{boolean, networks};
use crate::options::{Chapter, Effect, Entry, Key, Scope};

/// Whose forwarding headers are believed.
pub static TRUSTED_PROXIES: Key<Vec<IpNet>> = Key {
    entry: Entry {
        name: "trusted-proxies",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::ConfigMap],
        allowed: "addresses and networks, separated by commas or white space, or `none`",
        default: "not set: `X-Forwarded-For` of everybody is kept and extended; `X-Forwarded-Proto`, `-Host` and `-Port` are \
                  overwritten",
        docs: "Requests whose connection comes from one of these addresses (or, behind `proxy-protocol`, whose PROXY header \
               names one) keep their `X-Forwarded-For`, `X-Forwarded-Proto`, `X-Forwarded-Host`, `X-Forwarded-Port` and \
               `Forwarded`; the address is appended to `X-Forwarded-For` as always. From everybody else the five are removed, \
               and the first four start anew from what HAProxy sees. A trusted `X-Forwarded-Proto: https` also keeps clear-text \
               requests from being redirected to HTTPS, and `src-ip-header` and the header of `request-id` are then believed \
               from these addresses only. `none` trusts nobody. The list changes without a reload; setting the key first, or \
               removing it, needs one.",
        example: "10.0.0.0/8, 2001:db8::/32",
        effect: Effect::Live,
    },
    parse: |text| if text.eq_ignore_ascii_case("none") { Ok(Vec::new()) } else { networks(text) },
};

/// Who sends the PROXY protocol.
pub static PROXY_PROTOCOL: Key<Vec<IpNet>> = Key {
    entry: Entry {
        name: "proxy-protocol",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::ConfigMap],
        allowed: "addresses and networks, separated by commas or white space",
        default: "nobody",
        docs: "Connections to the HTTP and HTTPS listeners from these addresses begin with a PROXY protocol header (version 1 \
               or 2), which names the client; one without it is closed. Connections from other addresses must not have one. \
               `0.0.0.0/0, ::/0` means everybody. The health and statistics ports never expect it. The list changes without \
               a reload; setting the key first, or removing it, needs one.",
        example: "192.168.1.0/24, 192.168.2.100",
        effect: Effect::Live,
    },
    parse: networks,
};

/// An id for each request.
pub static REQUEST_ID: Key<bool> = Key {
    entry: Entry {
        name: "request-id",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::ConfigMap],
        allowed: "`true` or `false`",
        default: "`false`",
        docs: "Gives every request a random id (a UUID) in the header `X-Request-ID` to the pods, and as the last captured value \
               in the log line (`%[var(txn.id)]` in a log format of your own). An id of 1 to 128 characters that a request \
               brings along is kept when it comes from one of `trusted-proxies`, and replaced otherwise.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        for (text, count) in [("10.0.0.1", 1), ("10.0.0.0/8, ::/0\n0.0.0.0/0", 3)] {
            assert_eq!((TRUSTED_PROXIES.parse)(text).map(|list| list.len()), Ok(count), "{text}");
            assert_eq!((PROXY_PROTOCOL.parse)(text).map(|list| list.len()), Ok(count), "{text}");
        }
        assert_eq!((TRUSTED_PROXIES.parse)("None"), Ok(vec![]));
        for text in [
            "",
            " , ",
            "all",
            "true",
            "-f /etc/passwd",
            "10.0.0.1 }",
            "10.0.0.0/8 # x",
            "\"10.0.0.1\"",
            "10.0.0.1\0",
        ] {
            assert!((TRUSTED_PROXIES.parse)(text).is_err(), "{text:?}");
            assert!((PROXY_PROTOCOL.parse)(text).is_err(), "{text:?}");
        }
        assert!((PROXY_PROTOCOL.parse)("none").is_err());
    }

    #[test]
    fn request_id() {
        assert_eq!((REQUEST_ID.parse)("on"), Ok(true));
        assert!((REQUEST_ID.parse)("X-Request-ID").is_err());
    }
}
