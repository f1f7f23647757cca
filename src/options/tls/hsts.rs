//! HTTP Strict Transport Security (RFC 6797): `hsts` and its details.

use crate::options::value::{boolean, duration};
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

const SCOPES: &[Scope] = &[Scope::Ingress, Scope::ConfigMap];

/// Whether the header is sent.
pub static HSTS: Key<bool> = Key {
    entry: Entry {
        name: "hsts",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: SCOPES,
        allowed: "`true` or `false`",
        default: "`false`",
        docs: "Sends the header `Strict-Transport-Security` with every answer over TLS, in place of the pod's own: browsers then \
               use HTTPS only for this host. Never sent over clear text, where it has no meaning.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

/// For how long browsers remember it, in seconds.
pub static HSTS_MAX_AGE: Key<u32> = Key {
    entry: Entry {
        name: "hsts-max-age",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: SCOPES,
        allowed: "a number of seconds, or a duration with unit; `0` makes browsers forget",
        default: "`15768000` (half a year)",
        docs: "How long browsers remember `hsts`. Seconds are the header's own unit, so here a number needs none.",
        example: "31536000",
        effect: Effect::Reload,
    },
    parse: seconds,
};

/// When `hsts-max-age` is not written.
pub const DEFAULT_MAX_AGE: u32 = 15_768_000;

fn seconds(text: &str) -> Result<u32, Wrong> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return duration(text).map(|millis| millis / 1_000);
    }
    let seconds = text.parse().ok().filter(|seconds| i32::try_from(*seconds).is_ok());
    seconds.ok_or_else(|| Wrong::because("it is too long"))
}

/// Whether it counts for all domains below.
pub static HSTS_INCLUDE_SUBDOMAINS: Key<bool> = Key {
    entry: Entry {
        name: "hsts-include-subdomains",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: SCOPES,
        allowed: "`true` or `false`",
        default: "`false`",
        docs: "Makes `hsts` count for all domains below the host, too.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

/// Whether browsers may ship with it.
pub static HSTS_PRELOAD: Key<bool> = Key {
    entry: Entry {
        name: "hsts-preload",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: SCOPES,
        allowed: "`true` or `false`",
        default: "`false`",
        docs: "Adds `preload` to the header of `hsts`: the consent to be put on the list that browsers ship with. That list also \
               asks for `hsts-include-subdomains` and a `hsts-max-age` of a year.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        for (text, age) in [("0", 0), ("31536000", 31_536_000), ("24h", 86_400), ("1500ms", 1)] {
            assert_eq!((HSTS_MAX_AGE.parse)(text), Ok(age), "{text}");
        }
        for bad in
            ["", "-1", "1.5", "1y", "4294967295", "99999999999999", "1;", "1\n", "1\"", "#1", "%[src]", "1\0"]
        {
            assert!((HSTS_MAX_AGE.parse)(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn switches() {
        for key in [&HSTS, &HSTS_INCLUDE_SUBDOMAINS, &HSTS_PRELOAD] {
            assert_eq!((key.parse)("true"), Ok(true));
            assert!((key.parse)("max-age=1").is_err());
        }
    }
}
