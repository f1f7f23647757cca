//! `check`, `check-http`, `check-interval`, `timeout-check`.

use super::ALL;
use crate::model::policy::servers::{HttpCheck, HttpVersion, Method};
use crate::options::{Chapter, Effect, Entry, Key, Wrong, value};

/// Health checks by HAProxy.
pub static CHECK: Key<bool> = Key {
    entry: Entry {
        name: "check",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "`true` or `false`",
        default: "`false`, or `true` where `check-http` is written",
        docs: "HAProxy itself connects to every pod again and again, and gives a pod that fails three times no traffic until it \
               answers twice. Off by default, unlike in haproxytech's controller: Kubernetes' readiness probes decide which pods \
               get traffic, and a request that finds a dead pod is tried on another one. Every replica of the controller checks \
               every pod, so leave it off for large clusters. `false` also switches `check-http` off.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: value::boolean,
};

/// The request of a health check.
pub static CHECK_HTTP: Key<HttpCheck> = Key {
    entry: Entry {
        name: "check-http",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "`<uri>`, `<method> <uri>` or `<method> <uri> <version>`; methods are `OPTIONS`, `GET`, `HEAD` and `POST`, \
                  versions `HTTP/1.0` and `HTTP/1.1`",
        default: "a connection is enough",
        docs: "The health check is a request, and a status of 200 to 399 is a good answer. Switches `check` on. Without method \
               it is `OPTIONS`, without version `HTTP/1.0`; with `HTTP/1.1` the header `Host: localhost` is sent.",
        example: "GET /healthz HTTP/1.1",
        effect: Effect::Reload,
    },
    parse: http,
};

/// Time between two checks.
pub static CHECK_INTERVAL: Key<u32> = Key {
    entry: Entry {
        name: "check-interval",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "a duration such as `500ms` or `10s`",
        default: "`2s`",
        docs: "Time between two health checks of a pod, where `check` is on.",
        example: "10s",
        effect: Effect::Reload,
    },
    parse: value::duration,
};

/// How long a check may take.
pub static TIMEOUT_CHECK: Key<u32> = Key {
    entry: Entry {
        name: "timeout-check",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "a duration such as `500ms` or `10s`",
        default: "`check-interval`",
        docs: "How long a pod may take to answer a health check after the connection stands, where `check` is on.",
        example: "5s",
        effect: Effect::Reload,
    },
    parse: value::duration,
};

fn http(text: &str) -> Result<HttpCheck, Wrong> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (method, uri, version) = match words.as_slice() {
        [uri] => (None, uri, None),
        [method, uri] => (Some(method), uri, None),
        [method, uri, version] => (Some(method), uri, Some(version)),
        _ => return Err(Wrong::PLAIN),
    };
    let method = match method {
        Some(method) => {
            value::word(method, &Method::ALL).map_err(|_| Wrong::because("the method is none of these"))?
        }
        None => Method::default(),
    };
    let versions = [("HTTP/1.0", HttpVersion::Http10), ("HTTP/1.1", HttpVersion::Http11)];
    let version = match version {
        Some(version) => {
            value::word(version, &versions).map_err(|_| Wrong::because("the version is none of these"))?
        }
        None => HttpVersion::default(),
    };
    // One word of visible ASCII; quotes and backslashes have no place in a URI.
    let allowed = |b: u8| b.is_ascii_graphic() && !b"\"'\\`<>{}#".contains(&b);
    if !uri.starts_with('/') || uri.len() > 1024 || !uri.bytes().all(allowed) {
        return Err(Wrong::because(
            "the URI must begin with `/`, and have no characters that must be encoded",
        ));
    }
    Ok(HttpCheck { method, uri: (*uri).into(), version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let check = |method, uri: &str, version| Ok(HttpCheck { method, uri: uri.into(), version });
        for (text, expected) in [
            ("/health", check(Method::Options, "/health", HttpVersion::Http10)),
            ("HEAD /", check(Method::Head, "/", HttpVersion::Http10)),
            ("get /a?b=c&d=%20 http/1.1", check(Method::Get, "/a?b=c&d=%20", HttpVersion::Http11)),
        ] {
            assert_eq!(http(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_request() {
        for text in [
            "health",
            "GET",
            "GET health",
            "DELETE /",
            "GET / HTTP/2",
            "GET / HTTP/1.1\\r\\nHost:\\ a",
            "GET / HTTP/1.1 hdr",
            "/a\"b",
            "/a'",
            "/a#b",
            "/a\\",
            "/\u{e4}",
        ] {
            assert!(http(text).is_err(), "{text}");
        }
    }
}
