//! How connections are kept, and when they are logged.

use super::entry;
use crate::options::value::{boolean, word};
use crate::options::{Entry, Key};

/// The connection modes, named by HAProxy's options.
const MODES: [(&str, &str); 3] = [
    ("http-keep-alive", "http-keep-alive"),
    ("http-server-close", "http-server-close"),
    ("httpclose", "httpclose"),
];

/// How HTTP connections are kept; the value is the name of HAProxy's option.
pub static HTTP_CONNECTION_MODE: Key<&'static str> = Key {
    entry: entry(
        "http-connection-mode",
        "`http-keep-alive`, `http-server-close` or `httpclose`",
        "`http-keep-alive`",
        "Whether connections are kept for the next request: on both sides (`http-keep-alive`), with clients only \
         (`http-server-close`: each request gets a new connection to the pod) or not at all (`httpclose`). HTTP/2 connections are \
         kept in any case.",
        "http-server-close",
    ),
    parse: |text| word(text, &MODES),
};

/// The old spelling of `httpclose`.
pub static HTTP_KEEP_ALIVE: Key<bool> = Key {
    entry: switch(
        "http-keep-alive",
        "`true`",
        "Older spelling, used when `http-connection-mode` is not set: `false` means `http-connection-mode: httpclose`.",
    ),
    parse: boolean,
};

/// The old spelling of `http-server-close`.
pub static HTTP_SERVER_CLOSE: Key<bool> = Key {
    entry: switch(
        "http-server-close",
        "`false`",
        "Older spelling, used when `http-connection-mode` is not set: `true` means `http-connection-mode: http-server-close`.",
    ),
    parse: boolean,
};

/// Whether connections without a byte are left out of the log.
pub static DONTLOGNULL: Key<bool> = Key {
    entry: switch(
        "dontlognull",
        "`true`",
        "Leaves connections on which nothing was sent (probes, port scans) out of the log.",
    ),
    parse: boolean,
};

/// Whether requests are logged at their beginning.
pub static LOGASAP: Key<bool> = Key {
    entry: switch(
        "logasap",
        "`false`",
        "Logs a request when the response headers are there instead of at its end; a `+` before sizes and times says that they \
         still grow. For long downloads.",
    ),
    parse: boolean,
};

const fn switch(name: &'static str, default: &'static str, docs: &'static str) -> Entry {
    entry(name, "`true` or `false`", default, docs, "true")
}

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn values() {
        assert_eq!((HTTP_CONNECTION_MODE.parse)("HTTP-Server-Close"), Ok("http-server-close"));
        for bad in ["http-tunnel", "forceclose", "true", "httpclose\nhttpclose"].iter().chain(&HOSTILE) {
            assert!((HTTP_CONNECTION_MODE.parse)(bad).is_err(), "{bad}");
        }
        for key in [&HTTP_KEEP_ALIVE, &HTTP_SERVER_CLOSE, &DONTLOGNULL, &LOGASAP] {
            assert_eq!((key.parse)("ON"), Ok(true));
            for bad in ["2", "maybe"].iter().chain(&HOSTILE) {
                assert!((key.parse)(bad).is_err(), "{bad}");
            }
        }
    }
}
