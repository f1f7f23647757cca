//! Servers and the way to them.

mod balance;
mod check;
mod retries;
mod transport;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::model::Asset;

pub use balance::{Balance, Case, Fetch, HashKey, UriPart};
pub use check::{Check, HttpCheck, HttpVersion, Method};
pub use retries::{Retries, RetryOn};
pub use transport::{Protocol, ProxyProtocol, ServerTls};

/// What counts for every server of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ServerPolicy {
    /// Servers come in multiples of this number, when Service or Ingress say so (HAProxy before 2.6 only).
    pub slots: Option<u16>,
    /// Most requests that one server has at a time.
    pub max_connections: Option<MaxConnections>,
    /// Health checks; `None`: the readiness of pods decides alone.
    pub check: Option<Check>,
    /// A client stays with its server.
    pub persistence: Option<Persistence>,
    /// TLS to the servers.
    pub tls: Option<ServerTls>,
    /// HTTP version to the servers.
    pub protocol: Protocol,
    /// The PROXY protocol to the servers.
    pub proxy_protocol: Option<ProxyProtocol>,
    /// Whether requests whose client has gone are given up; `None` is HAProxy's default.
    pub abort_on_close: Option<bool>,
    /// What happens when a server cannot be reached.
    pub retries: Retries,
    /// The Service is a name that HAProxy resolves.
    pub external: Option<External>,
    /// Something that guards the way to the servers is missing: every request is answered with 503.
    pub refused: bool,
}

impl ServerPolicy {
    /// Adds the files that servers refer to.
    pub(super) fn collect_assets(&self, assets: &mut Vec<Asset>) {
        if let Some(tls) = &self.tls {
            assets.extend(tls.files().cloned());
        }
    }
}

/// Most requests that one server has at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxConnections {
    /// From all controllers together.
    pub total: u32,
    /// From each of them.
    pub share: u32,
}

impl MaxConnections {
    /// Shared by so many controllers.
    pub fn shared(total: u32, controllers: u32) -> Self {
        Self { total, share: (total / controllers.max(1)).max(1) }
    }
}

impl Hash for MaxConnections {
    /// Without the share: a backend keeps its name when controllers come and go, and the share changes live.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.total.hash(state);
    }
}

/// A client stays with its server by a cookie that HAProxy inserts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Persistence {
    /// Name of the cookie.
    pub cookie: Arc<str>,
    /// The value is the name of the server, else a hash of its address.
    pub by_name: bool,
}

/// A server outside of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct External {
    /// A DNS name or an address.
    pub host: ExternalHost,
    /// Port.
    pub port: u16,
}

/// Where an [`External`] server is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ExternalHost {
    /// A DNS name: lower case, no trailing dot.
    Name(Arc<str>),
    /// An address.
    Address(std::net::IpAddr),
}
