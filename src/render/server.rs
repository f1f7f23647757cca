//! A server's name and the text behind it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use crate::model::policy::servers::{ProxyProtocol, ServerPolicy};
use crate::model::{Server, ServerKey, ServerState};

/// `<address>:<port>`; the last colon ends an IPv6 address (names cannot hold brackets).
pub(super) fn name(key: ServerKey) -> Arc<str> {
    format!("{}:{}", key.address, key.port).into()
}

/// Address and keywords, exactly as `add server` takes them.
pub(super) fn line(server: &Server, policy: &ServerPolicy) -> Arc<str> {
    let (socket, id) = (socket(server.key), server.id);
    let proxy = match policy.proxy_protocol {
        None => "",
        Some(ProxyProtocol::V1) => " send-proxy",
        Some(ProxyProtocol::V2) => " send-proxy-v2",
    };
    match server.state {
        ServerState::Active => format!("{socket} id {id}{proxy}").into(),
        ServerState::Draining => format!("{socket} id {id}{proxy} weight 0").into(),
    }
}

/// Address and port as HAProxy reads them, IPv6 in brackets.
pub(super) fn socket(key: ServerKey) -> String {
    match key.address {
        IpAddr::V4(address) => format!("{address}:{}", key.port),
        IpAddr::V6(address) => format!("[{address}]:{}", key.port),
    }
}

/// Servers by name.
pub(super) type Servers = BTreeMap<Arc<str>, Arc<str>>;
