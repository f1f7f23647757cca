//! TCP services: a port each.

/// TCP services by port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TcpServices {}
