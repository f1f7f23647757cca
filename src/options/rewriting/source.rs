//! `forwarded-for`, `src-ip-header`.

use std::sync::Arc;

use crate::options::value::boolean;
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Whether pods see the address of the client.
pub static FORWARDED_FOR: Key<bool> = Key {
    entry: Entry {
        name: "forwarded-for",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Service, Scope::Ingress, Scope::ConfigMap],
        allowed: "`true` or `false`",
        default: "`true`",
        docs: "Adds the address of the client to the header `X-Forwarded-For`. With `false` nothing is added; what the request \
               brought along stays, unless `trusted-proxies` says otherwise.",
        example: "false",
        effect: Effect::Reload,
    },
    parse: boolean,
};

/// Where the address of the client stands.
pub static SRC_IP_HEADER: Key<Arc<str>> = Key {
    entry: Entry {
        name: "src-ip-header",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "the name of a header: letters, digits, `-`, `_` and `.`",
        default: "not set: the address of the connection",
        docs: "Takes the address of the client from this header (its last value, when there are several) instead of from the \
               connection, before every other rule of the path: allow lists, rate limits, `X-Forwarded-For` and the log see it. \
               A request without the header, or with something else than an address in it, keeps the address of its connection. \
               Whoever reaches HAProxy can send any header, so set `trusted-proxies` with it: then the header counts only when \
               it comes from one of those; without that key everybody is believed, as in other controllers.",
        example: "True-Client-IP",
        effect: Effect::Reload,
    },
    parse: plain_header,
};

/// A name that is an argument of a sample fetch: without the special characters that a header's name may have.
fn plain_header(text: &str) -> Result<Arc<str>, Wrong> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (!text.is_empty() && text.len() <= 128 && text.bytes().all(plain))
        .then(|| text.into())
        .ok_or(Wrong::PLAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!((SRC_IP_HEADER.parse)("True-Client-IP").as_deref(), Ok("True-Client-IP"));
        for text in [
            "",
            "a b",
            "a,1",
            "a)",
            "hdr(a)",
            "a'b",
            "a#",
            "a\"",
            "a\n",
            "a\0",
            "%[src]",
            "\u{e4}",
            &"a".repeat(200),
        ] {
            assert!((SRC_IP_HEADER.parse)(text).is_err(), "{text:?}");
        }
        assert_eq!((FORWARDED_FOR.parse)("OFF"), Ok(false));
        assert!((FORWARDED_FOR.parse)("except 10.0.0.1").is_err());
    }
}
