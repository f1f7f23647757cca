//! External authentication: a sub-request decides.

use std::net::IpAddr;
use std::sync::Arc;

use crate::model::BackendName;

/// External authentication of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Auth {
    /// Nobody is asked.
    #[default]
    Open,
    /// A service is asked before a request passes.
    Ask(Box<Ask>),
    /// A service should be asked, and that is not possible: nothing passes.
    Closed,
    /// It is the backend of the service that is asked.
    Service,
}

/// How a service is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ask {
    /// Who is asked.
    pub who: AuthBackend,
    /// The Host header that it sees.
    pub host: Arc<str>,
    /// Path and query that it sees.
    pub path: Arc<str>,
    /// Method of the sub-request.
    pub method: &'static str,
    /// How long it may take to answer, in milliseconds.
    pub timeout: u32,
    /// Request headers that it gets (lower case); `None`: all of them.
    pub sends: Option<Vec<Arc<str>>>,
    /// Headers of its answer that the pod gets, lower case.
    pub copies: Vec<Arc<str>>,
    /// Where a client without valid credentials is sent: a URL with placeholders in braces, as the script knows them.
    pub sign_in: Option<Arc<str>>,
}

/// The backend of who is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AuthBackend {
    /// A Service.
    Service(BackendName),
    /// A host outside of the cluster.
    Host(AuthHost),
}

impl AuthBackend {
    /// Name in HAProxy.
    pub fn name(&self) -> BackendName {
        match self {
            Self::Service(name) => name.clone(),
            Self::Host(host) => host.backend(),
        }
    }
}

/// A host outside of the cluster that authenticates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AuthHost {
    /// Where.
    pub host: Host,
    /// Port.
    pub port: u16,
    /// Over TLS, with a certificate that the authorities of the system vouch for.
    pub tls: bool,
}

/// A name or an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// DNS name, lower case.
    Name(Arc<str>),
    /// Address.
    Address(IpAddr),
}

impl AuthHost {
    /// Name of its backend: two parts, so no backend of a Service can have it; each host has its own.
    pub fn backend(&self) -> BackendName {
        let scheme = if self.tls { "https" } else { "http" };
        let host: &dyn std::fmt::Display = match &self.host {
            Host::Name(name) => name,
            Host::Address(address) => address,
        };
        BackendName::parsed(&format!("external-auth_{scheme}:{host}:{}", self.port))
    }
}
