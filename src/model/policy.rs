//! What a backend does besides its target. Two paths with an equal target and an equal policy share one backend.

pub mod access;
pub mod auth;
pub mod raw;
pub mod rewriting;
pub mod servers;
pub mod tls;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use outrigger_init::fnv1a;

use super::Asset;

pub use servers::Balance;

/// Whether HAProxy looks into the traffic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// HTTP.
    #[default]
    Http,
    /// Bytes.
    Tcp,
}

/// What a backend does besides its target, family by family as in `options`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Mode.
    pub mode: Mode,
    /// Load balancing algorithm.
    pub balance: Balance,
    /// Servers and the way to them.
    pub servers: servers::ServerPolicy,
    /// Who may, and how often.
    pub access: access::Access,
    /// A sub-request that decides.
    pub auth: auth::Auth,
    /// Headers, paths, redirects, captures.
    pub rewriting: rewriting::Rewriting,
    /// What is said about TLS to clients.
    pub tls: tls::TlsPolicy,
    /// Raw configuration.
    pub raw: raw::Raw,
    /// Whose backend it is alone (`standalone-backend`).
    pub owner: Option<Arc<str>>,
}

impl Policy {
    /// A number that differs for different policies, the same on every replica and over restarts.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = Fnv(fnv1a(b""));
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// Files that the backend refers to.
    pub fn assets(&self) -> Vec<Asset> {
        let mut assets = Vec::new();
        self.servers.collect_assets(&mut assets);
        assets
    }
}

/// FNV-1a as a hasher: the standard library's may change with its version.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
