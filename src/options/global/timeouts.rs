//! Timeouts of every proxy. `timeout-server` and `timeout-tunnel` are a path's own (chapter Access).

use super::entry;
use crate::options::value::duration;
use crate::options::{Entry, Key};

/// Inactivity of clients.
pub static TIMEOUT_CLIENT: Key<u32> = Key {
    entry: timeout(
        "timeout-client",
        "`50s`",
        "How long a client may be silent while it is expected to send or to take data.",
    ),
    parse: duration,
};

/// Inactivity of clients that have sent everything.
pub static TIMEOUT_CLIENT_FIN: Key<u32> = Key {
    entry: timeout(
        "timeout-client-fin",
        "as `timeout-client`",
        "The same for connections that one side has closed already. Short values free resources when clients vanish; mostly \
         for TCP services and WebSockets.",
    ),
    parse: duration,
};

/// Connecting to servers.
pub static TIMEOUT_CONNECT: Key<u32> = Key {
    entry: timeout(
        "timeout-connect",
        "`5s`",
        "How long a connection to a pod may take; then another attempt is made, at last the answer is 503.",
    ),
    parse: duration,
};

/// Request headers.
pub static TIMEOUT_HTTP_REQUEST: Key<u32> = Key {
    entry: timeout(
        "timeout-http-request",
        "`5s`",
        "How long a client may take to send the whole header of a request; then the answer is 408. Guards against clients that \
         send a byte at a time.",
    ),
    parse: duration,
};

/// Idle kept connections.
pub static TIMEOUT_HTTP_KEEP_ALIVE: Key<u32> = Key {
    entry: timeout(
        "timeout-http-keep-alive",
        "`1m`",
        "How long a connection is kept while no further request begins; then it is closed.",
    ),
    parse: duration,
};

/// Waiting for a free server.
pub static TIMEOUT_QUEUE: Key<u32> = Key {
    entry: timeout(
        "timeout-queue",
        "`5s`",
        "How long a request may wait for a pod that takes it (`pod-maxconn`); then the answer is 503.",
    ),
    parse: duration,
};

/// Inactivity of servers that have sent everything.
pub static TIMEOUT_SERVER_FIN: Key<u32> = Key {
    entry: timeout(
        "timeout-server-fin",
        "as `timeout-server`",
        "How long a pod may be silent on a connection that one side has closed already.",
    ),
    parse: duration,
};

const fn timeout(name: &'static str, default: &'static str, docs: &'static str) -> Entry {
    entry(name, "a duration such as `30s`, `500ms` or `1m30s`", default, docs, "30s")
}

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn values() {
        let keys = [
            &TIMEOUT_CLIENT,
            &TIMEOUT_CLIENT_FIN,
            &TIMEOUT_CONNECT,
            &TIMEOUT_HTTP_REQUEST,
            &TIMEOUT_HTTP_KEEP_ALIVE,
            &TIMEOUT_QUEUE,
            &TIMEOUT_SERVER_FIN,
        ];
        for key in keys {
            assert_eq!((key.parse)("1m30s"), Ok(90_000));
            for bad in ["30", "0", "0s", "-1s", "25d", "1s client", "infinite"].iter().chain(&HOSTILE) {
                assert!((key.parse)(bad).is_err(), "{}: {bad}", key.entry.name);
            }
        }
    }
}
