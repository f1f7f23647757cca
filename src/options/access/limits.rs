//! `max-body-size`, `timeout-server`, `timeout-tunnel`.

use crate::options::value::{duration, size};
use crate::options::{Chapter, Effect, Entry, Key, Scope};

/// How much a request may bring.
pub static MAX_BODY_SIZE: Key<u64> = Key {
    entry: Entry {
        name: "max-body-size",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a size such as `8m` or `512k` (`k` is 1024, `m` 1024 `k`), or `0` for no limit",
        default: "no limit",
        docs: "Requests that announce a larger body (`Content-Length`) get 413 before anything of it is read. HAProxy passes \
               bodies on while they come and does not count them: one without announced length (`Transfer-Encoding: \
               chunked`, or HTTP/2 without `content-length`) is refused only when the part that came together with its \
               headers is larger already; beyond that, the application has to count.",
        example: "8m",
        effect: Effect::Reload,
    },
    parse: size,
};

/// How long a server may be silent.
pub static TIMEOUT_SERVER: Key<u32> = Key {
    entry: Entry {
        name: "timeout-server",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Service, Scope::Ingress, Scope::ConfigMap],
        allowed: "a duration such as `30s` or `5m`",
        default: "`50s`",
        docs: "How long a server may be silent, before its answer (504 then) or in the middle of it (the connection is closed). \
               On a Service or an Ingress it is for their paths.",
        example: "5m",
        effect: Effect::Reload,
    },
    parse: duration,
};

/// How long a tunnel may be silent.
pub static TIMEOUT_TUNNEL: Key<u32> = Key {
    entry: Entry {
        name: "timeout-tunnel",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Service, Scope::Ingress, Scope::ConfigMap],
        allowed: "a duration such as `10m` or `1h`",
        default: "`1h`",
        docs: "How long a connection that became a tunnel (a WebSocket, TLS that is passed through) may be silent in both \
               directions before it is closed. On a Service or an Ingress it is for their paths.",
        example: "10m",
        effect: Effect::Reload,
    },
    parse: duration,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (text, value) in [("8m", Some(8 << 20)), ("1Gi", Some(1 << 30)), ("0", Some(0)), ("1 m", None)] {
            assert_eq!((MAX_BODY_SIZE.parse)(text).ok(), value, "{text}");
        }
        for (text, value) in [("30s", Some(30_000)), ("1h30m", Some(5_400_000)), ("30", None), ("0s", None)] {
            assert_eq!((TIMEOUT_SERVER.parse)(text).ok(), value, "{text}");
            assert_eq!((TIMEOUT_TUNNEL.parse)(text).ok(), value, "{text}");
        }
        for text in
            ["", "8m\nserver x", "8m # x", "\"8m\"", "%[rand]", "8m\0", "999999999999999999999g", "-1"]
        {
            assert!((MAX_BODY_SIZE.parse)(text).is_err(), "{text}");
            assert!((TIMEOUT_SERVER.parse)(text).is_err(), "{text}");
        }
    }
}
