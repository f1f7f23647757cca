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
pub struct ServerPolicy {}

impl ServerPolicy {
    /// Adds the files that servers refer to.
    pub(super) fn collect_assets(&self, _assets: &mut Vec<Asset>) {}
}
