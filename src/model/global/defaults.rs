//! What counts for every proxy: timeouts, connection mode, compression.

use std::sync::Arc;

/// Defaults of every proxy. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defaults {
    /// The option that says how HTTP connections are kept.
    pub connection_mode: &'static str,
    /// Connections without a byte are not logged.
    pub dontlognull: bool,
    /// Requests are logged at their beginning.
    pub logasap: bool,
    /// Inactivity of clients.
    pub client: u32,
    /// The same for connections that one side has closed.
    pub client_fin: Option<u32>,
    /// Connecting to servers.
    pub connect: u32,
    /// Request headers.
    pub http_request: u32,
    /// Idle kept connections.
    pub http_keep_alive: u32,
    /// Waiting for a free server.
    pub queue: u32,
    /// Inactivity of servers on connections that one side has closed.
    pub server_fin: Option<u32>,
    /// Compression of responses.
    pub compression: Option<Compression>,
}

/// Compression of responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compression {
    /// Algorithms, in order of preference.
    pub algorithms: Vec<&'static str>,
    /// Content types.
    pub types: Vec<Arc<str>>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            connection_mode: "http-keep-alive",
            dontlognull: true,
            logasap: false,
            client: 50_000,
            client_fin: None,
            connect: 5_000,
            http_request: 5_000,
            http_keep_alive: 60_000,
            queue: 5_000,
            server_fin: None,
            compression: None,
        }
    }
}
