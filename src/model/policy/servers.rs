//! Servers and the way to them.

use crate::model::Asset;

/// How requests are spread over servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Balance {
    /// In turn, by weight.
    #[default]
    RoundRobin,
    /// To the server with the fewest connections.
    LeastConn,
}

/// What counts for every server of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ServerPolicy {
    /// The PROXY protocol to the servers.
    pub proxy_protocol: Option<ProxyProtocol>,
}

/// The PROXY protocol to the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProxyProtocol {
    /// Version 1.
    V1,
    /// Version 2.
    V2,
}

impl ServerPolicy {
    /// Adds the files that servers refer to.
    pub(super) fn collect_assets(&self, _assets: &mut Vec<Asset>) {}
}
