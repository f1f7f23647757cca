//! Canaries: an Ingress that takes a part of the requests of another one.

use std::sync::Arc;

use crate::options::value::{boolean, header_name, number};
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// What weights are a part of when the key is not written.
pub const DEFAULT_CANARY_WEIGHT_TOTAL: u32 = 100;

/// Largest total: weights are brought down to at most 1,000 shares.
const MOST: u32 = 1_000_000;

const fn entry(
    name: &'static str,
    allowed: &'static str,
    default: &'static str,
    docs: &'static str,
    example: &'static str,
) -> Entry {
    Entry {
        name,
        aliases: &[],
        chapter: Chapter::Routing,
        scopes: &[Scope::Ingress],
        allowed,
        default,
        docs,
        example,
        effect: Effect::Live,
    }
}

/// The Ingress is a canary.
pub static CANARY: Key<bool> = Key {
    entry: entry(
        "canary",
        "`true` or `false`",
        "`false`",
        "The Ingress takes a part of the requests of another Ingress in its namespace, the main one, that has the same host \
         and path. Which part say, in this order, `canary-by-header`, `canary-by-cookie` and `canary-weight`. Everything \
         else is as the main Ingress says: other keys of the canary have no effect, those of its Service have. A path has \
         one canary, the oldest; a canary of a path without main Ingress, and of a `defaultBackend`, gets no requests. A \
         canary whose Service does not exist, or whose value here is not valid, gets none either. The first canary of all \
         is a reload; then weights and values change while HAProxy runs.",
        "true",
    ),
    parse: boolean,
};

/// Weight of a canary.
pub static CANARY_WEIGHT: Key<u32> = Key {
    entry: entry(
        "canary-weight",
        "a number from 0 to `canary-weight-total`",
        "`0`",
        "How many of `canary-weight-total` requests (100, if that is not written) go to the canary, at random. The split \
         belongs to the route, so the numbers of endpoints of the two Services do not matter.",
        "10",
    ),
    parse: |text| number(text, 0..=MOST),
};

/// What the weight of a canary is a part of.
pub static CANARY_WEIGHT_TOTAL: Key<u32> = Key {
    entry: entry(
        "canary-weight-total",
        "a number from 1 to 1000000",
        "`100`",
        "What `canary-weight` is a part of. The two are brought down to at most 1,000 shares: parts finer than that are \
         rounded, but never to nothing or to everything.",
        "1000",
    ),
    parse: |text| number(text, 1..=MOST),
};

/// Header that decides about a canary.
pub static CANARY_BY_HEADER: Key<Arc<str>> = Key {
    entry: entry(
        "canary-by-header",
        "the name of a header: letters, digits, `-`, `_` and `.`",
        "none",
        "Requests with this header go to the canary when its value is `always`, and never when it is `never`; others go on \
         to the cookie and the weight. Of several such headers in a request the first counts. The first use of a header \
         name is a reload.",
        "X-Canary",
    ),
    parse: |text| name(text).map(|name| name.to_ascii_lowercase().into()),
};

/// Value of the header that leads to a canary.
pub static CANARY_BY_HEADER_VALUE: Key<Arc<str>> = Key {
    entry: entry(
        "canary-by-header-value",
        "a word of at most 200 visible ASCII characters",
        "`always` and `never` decide",
        "Only requests whose header `canary-by-header` has exactly this value go to the canary; with any other value, \
         `always` and `never` too, they go on to the cookie and the weight.",
        "beta",
    ),
    parse: word,
};

/// Cookie that decides about a canary.
pub static CANARY_BY_COOKIE: Key<Arc<str>> = Key {
    entry: entry(
        "canary-by-cookie",
        "the name of a cookie: letters, digits, `-`, `_` and `.`",
        "none",
        "Requests with this cookie go to the canary when its value is `always`, and never when it is `never`; others go on \
         to the weight. The first use of a cookie name is a reload.",
        "canary",
    ),
    parse: |text| name(text).map(Into::into),
};

/// A name that is the argument of a sample: characters that mean nothing to HAProxy's parser.
fn name(text: &str) -> Result<&str, Wrong> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    header_name(text)?;
    if text.len() <= 100 && text.bytes().all(plain) { Ok(text) } else { Err(Wrong::PLAIN) }
}

/// A value that is a part of a map key, which has no white space.
fn word(text: &str) -> Result<Arc<str>, Wrong> {
    let valid = !text.is_empty() && text.len() <= 200 && text.bytes().all(|b| b.is_ascii_graphic());
    if valid { Ok(text.into()) } else { Err(Wrong::PLAIN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights() {
        for (text, weight) in [("0", 0), ("100", 100), ("1000000", 1_000_000), ("007", 7)] {
            assert_eq!((CANARY_WEIGHT.parse)(text), Ok(weight));
        }
        for text in ["", "-1", "1.5", "10%", "1000001", "99999999999999999999", "1\n2", "ten", "0x10", "\0"] {
            assert!((CANARY_WEIGHT.parse)(text).is_err(), "{text:?}");
        }
        assert!((CANARY_WEIGHT_TOTAL.parse)("0").is_err());
        assert_eq!((CANARY_WEIGHT_TOTAL.parse)("1000"), Ok(1000));
    }

    #[test]
    fn names_and_values() {
        assert_eq!((CANARY_BY_HEADER.parse)("X-Canary_1.a").as_deref(), Ok("x-canary_1.a"));
        assert_eq!((CANARY_BY_COOKIE.parse)("Canary").as_deref(), Ok("Canary"));
        let long = "x".repeat(300);
        for text in
            ["", "a b", "a,b", "a)", "a'b", "a\"b", "a#b", "a\nb", "%[path]", "a|b", "a$b", "\0", "é", &long]
        {
            assert!((CANARY_BY_HEADER.parse)(text).is_err(), "{text:?}");
            assert!((CANARY_BY_COOKIE.parse)(text).is_err(), "{text:?}");
        }
        for text in ["beta", "a|b", "%[path]", "#1", "\"q\"", "a\\b", "-m"] {
            assert_eq!((CANARY_BY_HEADER_VALUE.parse)(text).as_deref(), Ok(text));
        }
        for text in ["", "a b", "a\nb", "a\tb", "\0", "é", &long] {
            assert!((CANARY_BY_HEADER_VALUE.parse)(text).is_err(), "{text:?}");
        }
    }
}
