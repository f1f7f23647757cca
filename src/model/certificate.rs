//! A certificate that clients get by server name, and the certificates that they must show themselves.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use outrigger_init::fnv1a;

use super::Asset;
use crate::cluster::ObjectName;

/// The algorithm of the key. One host may have one certificate of each; HAProxy picks by what the client can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyType {
    /// RSA.
    Rsa,
    /// Elliptic curve (ECDSA, EdDSA).
    Ecdsa,
}

/// What the certificate of a client is checked against.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClientCheck {
    /// Who must have signed it.
    pub authority: Asset,
    /// Which ones do not count any more.
    pub revoked: Option<Asset>,
    /// Whether there must be one.
    pub required: bool,
}

impl ClientCheck {
    /// A number that differs for different checks, the same on every replica and over restarts.
    pub fn fingerprint(&self) -> u64 {
        let revoked = self.revoked.as_ref().map_or("", |asset| asset.name());
        fnv1a(format!("{} {revoked} {}", self.authority.name(), self.required).as_bytes())
    }
}

/// Identity of a certificate unit. One Secret may serve hosts that ask clients for certificates and hosts that do not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CertificateKey {
    /// The Secret; `None` for the default certificate, which is a unit only for hosts that check clients.
    pub secret: Option<ObjectName>,
    /// Fingerprint of the check.
    pub check: Option<u64>,
}

impl CertificateKey {
    /// The unit for hosts that check nobody.
    pub fn open(secret: ObjectName) -> Self {
        Self { secret: Some(secret), check: None }
    }
}

/// A certificate and the server names it may be used for.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    /// Identity.
    pub key: CertificateKey,
    /// Algorithm; `None` when it does not matter, as for the default certificate.
    pub key_type: Option<KeyType>,
    /// Chain and key as one PEM without blank lines (a blank line ends a payload of the master CLI).
    pub pem: Bytes,
    /// Server names (SNI filters): the hosts of the Ingresses that bring it, never all names in the certificate, so that a
    /// wildcard certificate cannot take other tenants' hosts. `*.domain` for wildcard hosts.
    pub hosts: BTreeSet<Arc<str>>,
    /// What clients must show for these server names.
    pub check: Option<ClientCheck>,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificate")
            .field("key", &self.key)
            .field("key_type", &self.key_type)
            .field("hosts", &self.hosts)
            .field("check", &self.check)
            .finish_non_exhaustive()
    }
}
