//! How clients reach us: trusted proxies, PROXY protocol, request ids.

use crate::model::ListName;

/// Client-facing settings of the traffic frontends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clients {
    /// Whose forwarding headers are believed; `None` when nothing is said about it.
    pub trusted_proxies: Option<ListName>,
    /// Whose connections begin with a PROXY protocol header.
    pub proxy_protocol: Option<ListName>,
    /// Requests get an id.
    pub request_id: bool,
}
