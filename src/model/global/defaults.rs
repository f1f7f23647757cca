//! What counts for every proxy: timeouts, connection mode, compression.

/// Defaults of every proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {}
