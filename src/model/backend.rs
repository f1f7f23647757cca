//! A backend: one target (a Service port) and one policy.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use super::Policy;
use crate::cluster::{ObjectName, Origin};

/// Name of a backend in HAProxy: `<namespace>_<service>_<port>` for the plain policy, with a short hash behind it otherwise.
///
/// Kubernetes names cannot contain `_`, so two different targets never get one name; the fixed backends of the
/// configuration (`fixed_404`, …) and the spare ones (`spare-00`, …) have fewer parts and cannot collide either.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackendName(Arc<str>);

impl BackendName {
    /// The plain policy of a Service port.
    pub fn service(service: &ObjectName, port: u16) -> Self {
        Self(format!("{}_{}_{port}", service.namespace, service.name).into())
    }

    /// Another policy of a Service port, by its fingerprint.
    pub fn with_policy(service: &ObjectName, port: u16, fingerprint: u64) -> Self {
        Self(format!("{}_{}_{port}_{:010x}", service.namespace, service.name, fingerprint >> 24).into())
    }

    /// A backend of the configuration itself that answers with this status: 404, 500 or 503.
    pub fn fixed(status: u16) -> Self {
        Self(format!("fixed_{status}").into())
    }

    /// Spare backends, which new Services take while HAProxy runs, lowest name first.
    pub fn spares() -> impl Iterator<Item = Self> {
        (0..64).map(|number| Self(format!("spare-{number:02}").into()))
    }

    /// Whether it is the name of a spare backend: it has one part only.
    pub fn is_spare(&self) -> bool {
        self.0.starts_with("spare-") && !self.0.contains('_')
    }

    /// A name read back from our own files.
    pub fn parsed(name: &str) -> Self {
        Self(name.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Address and port: the identity of a server, the same on every replica and over reloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerKey {
    /// Pod address.
    pub address: IpAddr,
    /// Pod port.
    pub port: u16,
}

/// Whether a server takes new requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServerState {
    /// Takes traffic.
    Active,
    /// Finishes what it has; only persistent clients still reach it (weight 0).
    Draining,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Address and port.
    pub key: ServerKey,
    /// Stable id, a hash of the key, unique in its backend, 1 ..= 2^31 - 1: consistent hashing places servers by it.
    pub id: u32,
    /// State.
    pub state: ServerState,
    /// The pod, for `explain`; not rendered.
    pub pod: Option<Arc<str>>,
}

/// One backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// Name in HAProxy.
    pub name: BackendName,
    /// The Service, with the port as key.
    pub origin: Origin,
    /// Policy.
    pub policy: Arc<Policy>,
    /// Servers by address and port.
    pub servers: BTreeMap<ServerKey, Server>,
}
