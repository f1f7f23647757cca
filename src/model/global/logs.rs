//! Where logs go, and their format.

use std::sync::Arc;

/// Log settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// Where lines go.
    pub targets: Vec<Target>,
    /// Program name in lines with a syslog header.
    pub tag: Option<Arc<str>>,
    /// Lines of requests; HAProxy's `option httplog` when nothing is said.
    pub http: Option<Line>,
    /// Lines of TCP connections; HAProxy's `option tcplog` when nothing is said.
    pub tcp: Option<Line>,
}

/// A log target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Address as HAProxy reads it.
    pub address: String,
    /// Longest line.
    pub length: Option<u16>,
    /// Format of what stands before a line.
    pub format: Option<&'static str>,
    /// Facility.
    pub facility: &'static str,
    /// Least important level that is sent.
    pub level: Option<&'static str>,
    /// Most important level that is sent as such.
    pub minlevel: Option<&'static str>,
}

/// What a log line looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A JSON object.
    Json,
    /// A log format of HAProxy, cut at each `%HPO` (which 2.2 does not have).
    Format(Vec<Arc<str>>),
}

impl Default for Logs {
    fn default() -> Self {
        let target = Target {
            address: "stdout".to_owned(),
            length: None,
            format: Some("raw"),
            facility: "local0",
            level: None,
            minlevel: None,
        };
        Self { targets: vec![target], tag: None, http: None, tcp: None }
    }
}
