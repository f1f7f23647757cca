//! How clients reach us: trusted proxies, PROXY protocol.

/// Client-facing settings of the traffic frontends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clients {}
