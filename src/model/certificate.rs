//! A certificate that clients get by server name.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use crate::cluster::ObjectName;

/// The algorithm of the key. One host may have one certificate of each; HAProxy picks by what the client can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyType {
    /// RSA.
    Rsa,
    /// Elliptic curve (ECDSA, EdDSA).
    Ecdsa,
}

/// A certificate and the server names it may be used for.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The Secret.
    pub secret: ObjectName,
    /// Algorithm.
    pub key_type: KeyType,
    /// Chain and key as one PEM without blank lines (a blank line ends a payload of the master CLI).
    pub pem: Bytes,
    /// Server names (SNI filters): the hosts of the Ingresses that bring it, never all names in the certificate, so that a
    /// wildcard certificate cannot take other tenants' hosts. `*.domain` for wildcard hosts.
    pub hosts: BTreeSet<Arc<str>>,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificate")
            .field("secret", &self.secret)
            .field("key_type", &self.key_type)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}
