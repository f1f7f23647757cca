//! Typed HAProxy configuration: what HAProxy should do, before it is text. Every item carries its `Origin`.
//!
//! The model is not shaped by Ingress. A [`Route`] is a host match and a path match in a table that listeners share, with
//! ordered candidates (conditions, filters, a weighted split over backends). Ingress makes routes with one candidate, no
//! conditions and one backend; Gateway API and other vocabularies are later front doors to the same model.
#![deny(clippy::disallowed_methods)]

mod asset;
mod backend;
mod certificate;
pub mod global;
mod list;
mod matching;
mod need;
pub mod policy;
mod route;
mod snippet;
mod version;

pub use asset::{Asset, AssetKind};
pub use backend::{Backend, BackendName, Server, ServerKey, ServerState};
pub use certificate::{Certificate, CertificateKey, ClientCheck, KeyType};
pub use global::{Global, Listeners};
pub use list::{List, ListName};
pub use matching::{Decision, Outcome, Request, normalise_host, resolve};
pub use need::{Need, Users};
pub use policy::{Balance, Mode, Policy};
pub use route::{
    Candidate, Condition, Expression, Filter, HostMatch, PathMatch, Route, RouteKey, Table, Test, Weighted,
};
pub use snippet::Snippet;
pub use version::{Capabilities, Version};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::Map;

/// Everything HAProxy should do.
#[derive(Clone, PartialEq, Eq)]
pub struct Model {
    /// Listeners and global settings: a change needs a reload.
    pub global: Arc<Global>,
    /// Backends by name.
    pub backends: Map<BackendName, Arc<Backend>>,
    /// Routes by key.
    pub routes: Map<RouteKey, Arc<Route>>,
    /// Lists of patterns.
    pub lists: Map<ListName, List>,
    /// Values that rules look up while HAProxy runs, by key.
    pub values: Map<Arc<str>, Arc<str>>,
    /// Certificates. The default certificate is among them only where hosts check clients with it.
    pub certificates: Map<CertificateKey, Arc<Certificate>>,
    /// Hosts whose TLS is passed through, and to which backend.
    pub passthroughs: Map<HostMatch, Arc<BackendName>>,
    /// PEM (chain and key) of the certificate for clients whose server name matches no other.
    pub default_certificate: bytes::Bytes,
}

impl Model {
    /// A model without anything but global settings.
    pub fn new(global: Global, default_certificate: bytes::Bytes) -> Self {
        Self {
            global: Arc::new(global),
            backends: Map::default(),
            routes: Map::default(),
            lists: Map::default(),
            values: Map::default(),
            certificates: Map::default(),
            passthroughs: Map::default(),
            default_certificate,
        }
    }
}

impl std::fmt::Debug for Model {
    /// Without the default certificate, which holds a private key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("global", &self.global)
            .field("backends", &self.backends)
            .field("routes", &self.routes)
            .field("lists", &self.lists)
            .field("values", &self.values)
            .field("certificates", &self.certificates)
            .field("passthroughs", &self.passthroughs)
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
    /// Certificates that were added, changed or removed.
    pub certificates: BTreeSet<CertificateKey>,
    /// Hosts whose TLS is passed through since, or not any more, or elsewhere.
    pub passthroughs: BTreeSet<HostMatch>,
    /// Lists that were added, changed or removed.
    pub lists: BTreeSet<ListName>,
    /// Values that were added, changed or removed, by key.
    pub values: BTreeSet<Arc<str>>,
}

impl Touched {
    /// True when nothing was touched.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What differs between two models, found by comparing all of them.
    #[cfg(test)]
    pub(crate) fn between(a: &Model, b: &Model) -> Self {
        fn keys<K: Ord + Clone, V: PartialEq>(a: &Map<K, V>, b: &Map<K, V>) -> BTreeSet<K> {
            a.keys().chain(b.keys()).filter(|key| a.get(*key) != b.get(*key)).cloned().collect()
        }
        Self {
            global: a.global != b.global || a.default_certificate != b.default_certificate,
            backends: keys(&a.backends, &b.backends),
            routes: keys(&a.routes, &b.routes),
            certificates: keys(&a.certificates, &b.certificates),
            passthroughs: keys(&a.passthroughs, &b.passthroughs),
            lists: keys(&a.lists, &b.lists),
            values: keys(&a.values, &b.values),
        }
    }

    /// Adds what another update touched.
    pub fn extend(&mut self, other: Self) {
        self.global |= other.global;
        self.backends.extend(other.backends);
        self.routes.extend(other.routes);
        self.certificates.extend(other.certificates);
        self.passthroughs.extend(other.passthroughs);
        self.lists.extend(other.lists);
        self.values.extend(other.values);
    }
}
