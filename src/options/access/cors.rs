//! `cors-enable` and what belongs to it.

use std::sync::Arc;

use super::origins::{Origins, origins};
use crate::options::value::{boolean, duration};
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Age when none is written, in milliseconds.
pub const DEFAULT_MAX_AGE: u32 = 5_000;

/// Switches CORS on.
pub static CORS_ENABLE: Key<bool> = Key {
    entry: Entry {
        name: "cors-enable",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`true` or `false`",
        default: "`false`",
        docs: "Adds the headers of cross-origin resource sharing (`Access-Control-…`) to all answers of the path, those that \
               HAProxy itself gives too, when the request has an `Origin` that `cors-allow-origin` allows.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

/// Whose pages may.
pub static CORS_ALLOW_ORIGIN: Key<Origins> = Key {
    entry: Entry {
        name: "cors-allow-origin",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`*`, or origins (`https://example.org`, `https://*.example.org`, `http://localhost:3000`, `null`) separated by commas \
                  or white space, or one regular expression for a whole origin",
        default: "`*`",
        docs: "Whose pages may read the answers. `*` is said as it is. Otherwise an origin that matches is said back, alone, \
               together with `Vary: Origin`, so that caches keep the answers apart; `*.` stands for one or more labels. A \
               regular expression has to match the whole origin: haproxytech's controller is content with a part \
               of it, which lets `https://example.org.evil.test` in where `https://example.org` is meant.",
        example: "https://example.org, https://*.example.org",
        effect: Effect::Reload,
    },
    parse: origins,
};

/// With which methods.
pub static CORS_ALLOW_METHODS: Key<Arc<str>> = Key {
    entry: Entry {
        name: "cors-allow-methods",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`*`, or methods separated by commas or white space",
        default: "`*`",
        docs: "The methods that pages of other origins may use.",
        example: "GET, POST, OPTIONS",
        effect: Effect::Reload,
    },
    parse: |text| Ok(names(text)?.to_ascii_uppercase().into()),
};

/// With which headers.
pub static CORS_ALLOW_HEADERS: Key<Arc<str>> = Key {
    entry: Entry {
        name: "cors-allow-headers",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`*`, or header names separated by commas or white space",
        default: "`*`",
        docs: "The request headers that pages of other origins may send. `*` does not include `Authorization`: browsers want it \
               named.",
        example: "Content-Type, Authorization",
        effect: Effect::Reload,
    },
    parse: |text| names(text).map(Into::into),
};

/// With cookies.
pub static CORS_ALLOW_CREDENTIALS: Key<bool> = Key {
    entry: Entry {
        name: "cors-allow-credentials",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`true` or `false`",
        default: "`false`",
        docs: "Whether pages of other origins may send cookies and passwords along. Browsers accept no `*` then: name origins, \
               methods and headers.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

/// How long browsers remember.
pub static CORS_MAX_AGE: Key<u32> = Key {
    entry: Entry {
        name: "cors-max-age",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a duration such as `10m`",
        default: "`5s`",
        docs: "How long browsers may remember the answer to a preflight request, in whole seconds.",
        example: "10m",
        effect: Effect::Reload,
    },
    parse: duration,
};

/// Preflight requests.
pub static CORS_RESPOND_TO_OPTIONS: Key<bool> = Key {
    entry: Entry {
        name: "cors-respond-to-options",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`true` or `false`",
        default: "`true` where `auth-type` asks for a password, else `false`",
        docs: "Answers `OPTIONS` requests that have an `Origin` (preflight requests) with 204 and the headers of `cors-enable`; the \
               application does not see them. Browsers send no password with them, so where one is needed nothing else \
               makes sense.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

/// Names of methods or headers, separated by commas or white space: letters, digits, `-_`, or `*`.
fn names(text: &str) -> Result<String, Wrong> {
    let names: Vec<&str> = text.split([',', ' ', '\t', '\n', '\r']).filter(|name| !name.is_empty()).collect();
    let valid = |name: &str| {
        name == "*" || name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    if names.is_empty() || text.len() > 1_000 {
        return Err(Wrong::PLAIN);
    }
    match names.iter().find(|name| !valid(name)) {
        Some(name) => Err(Wrong::because(format!("`{}` is no name", name.escape_debug()))),
        None => Ok(names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lists_of_tokens() {
        assert_eq!((CORS_ALLOW_METHODS.parse)("get,POST  put").as_deref(), Ok("GET, POST, PUT"));
        assert_eq!((CORS_ALLOW_HEADERS.parse)("X-A,\nAuthorization").as_deref(), Ok("X-A, Authorization"));
        assert_eq!((CORS_ALLOW_HEADERS.parse)("*").as_deref(), Ok("*"));
        let long = "x".repeat(1_001);
        for text in ["", " , ", "a:b", "a\"b", "GET;x", "%[src]", "a\0", "a#b", "$HOME", "\u{e4}", &long] {
            assert!((CORS_ALLOW_METHODS.parse)(text).is_err(), "{text}");
            assert!((CORS_ALLOW_HEADERS.parse)(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ages_need_a_unit() {
        assert_eq!((CORS_MAX_AGE.parse)("10m"), Ok(600_000));
        assert!((CORS_MAX_AGE.parse)("600").is_err());
    }
}
