//! TCP services: a port each.

use std::collections::BTreeMap;

use super::logs::Line;
use crate::cluster::Origin;
use crate::model::{Asset, BackendName};

/// TCP services by port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TcpServices {
    /// By port.
    pub services: BTreeMap<u16, TcpService>,
}

/// What a port leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpService {
    /// Where it is written.
    pub origin: Origin,
    /// Where connections go.
    pub backend: BackendName,
    /// TLS with clients.
    pub tls: Tls,
    /// Clients must begin with a PROXY protocol header.
    pub accept_proxy: bool,
    /// Log lines, when they differ from those of the other TCP services.
    pub log: Option<Line>,
}

/// TLS of a TCP service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// None: bytes go through as they are.
    Off,
    /// With the certificates of the HTTPS listener, by server name.
    Listed,
    /// With a certificate of its own.
    Own(Asset),
}

impl TcpServices {
    /// Files that the frontends refer to.
    pub(super) fn assets(&self) -> impl Iterator<Item = Asset> {
        self.services.values().filter_map(|service| match &service.tls {
            Tls::Own(certificate) => Some(certificate.clone()),
            Tls::Off | Tls::Listed => None,
        })
    }
}
