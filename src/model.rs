//! Typed HAProxy configuration: what HAProxy should do, before it is text. Every item carries its `Origin`.
//!
//! The model is not shaped by Ingress. A [`Route`] is a host match and a path match in a table that listeners share, with
//! ordered candidates (conditions, filters, a weighted split over backends). Ingress makes routes with one candidate, no
//! conditions and one backend; Gateway API and other vocabularies are later front doors to the same model.
#![deny(clippy::disallowed_methods)]

mod backend;
mod certificate;
mod global;
mod matching;
mod route;
mod version;

pub use backend::{Backend, BackendName, Balance, Policy, Server, ServerKey, ServerState};
pub use certificate::{Certificate, KeyType};
pub use global::{Global, Listeners};
pub use matching::{Decision, Outcome, Request, normalise_host, resolve};
pub use route::{Candidate, Condition, Filter, HostMatch, PathMatch, Route, RouteKey, Table, Weighted};
pub use version::{Capabilities, Version};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::{Map, ObjectName};

/// Everything HAProxy should do.
#[derive(Clone, PartialEq, Eq)]
pub struct Model {
    /// Listeners and global settings: a change needs a reload.
    pub global: Arc<Global>,
    /// Backends by name.
    pub backends: Map<BackendName, Arc<Backend>>,
    /// Routes by key.
    pub routes: Map<RouteKey, Arc<Route>>,
    /// Certificates by the Secret they come from. The default certificate is not among them.
    pub certificates: Map<ObjectName, Arc<Certificate>>,
    /// PEM (chain and key) of the certificate for clients whose server name matches no other.
    pub default_certificate: bytes::Bytes,
}

impl std::fmt::Debug for Model {
    /// Without the default certificate, which holds a private key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("global", &self.global)
            .field("backends", &self.backends)
            .field("routes", &self.routes)
            .field("certificates", &self.certificates)
            .finish_non_exhaustive()
    }
}

/// Which units of the model may differ from before; everything else is exactly as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// [`Model::global`] or [`Model::default_certificate`].
    pub global: bool,
    /// Backends that were added, changed or removed.
    pub backends: BTreeSet<BackendName>,
    /// Routes that were added, changed or removed.
    pub routes: BTreeSet<RouteKey>,
    /// Certificates that were added, changed or removed, by Secret.
    pub certificates: BTreeSet<ObjectName>,
}

impl Touched {
    /// True when nothing was touched.
    pub fn is_empty(&self) -> bool {
        !self.global && self.backends.is_empty() && self.routes.is_empty() && self.certificates.is_empty()
    }

    /// Adds what another update touched.
    pub fn extend(&mut self, other: Self) {
        self.global |= other.global;
        self.backends.extend(other.backends);
        self.routes.extend(other.routes);
        self.certificates.extend(other.certificates);
    }
}
