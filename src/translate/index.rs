//! The indexes that say which units a changed object touches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::backends::Target;
use super::clients::{ClientClaim, ClientRule};
use super::facts::{Claim, Facts, Rank, TlsClaim};
use super::key_pair::Parsed;
use super::problem_book::Unit;
use crate::cluster::{Ingress, IngressBackend, ObjectName, Origin};
use crate::model::{BackendName, HostMatch, KeyType, PathMatch, RouteKey, Table};

/// Units that must be computed again.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    pub(super) routes: BTreeSet<RouteKey>,
    pub(super) backends: BTreeSet<BackendName>,
    pub(super) secrets: BTreeSet<ObjectName>,
    pub(super) tls_hosts: BTreeSet<Arc<str>>,
    pub(super) certificates: BTreeSet<ObjectName>,
    /// Other Ingresses are served than before.
    pub(super) served: bool,
}

impl Dirty {
    /// Adds the routes among these units; tells whether others, which depend on the ConfigMap, are among them.
    pub(super) fn units<'a>(&mut self, units: impl Iterator<Item = &'a Unit>) -> bool {
        let mut others = false;
        for unit in units {
            match unit {
                Unit::Route(key) => _ = self.routes.insert(key.clone()),
                Unit::TlsHost(host) => _ = self.tls_hosts.insert(host.clone()),
                _ => others = true,
            }
        }
        others
    }
}

/// An Ingress of the snapshot.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) ingress: Arc<Ingress>,
    pub(super) class: Option<Arc<str>>,
    /// What it says; `None` when it is not ours.
    pub(super) facts: Option<Facts>,
}

/// A Secret that something refers to, whether it exists or not.
#[derive(Debug, Default)]
pub(super) struct SecretUse {
    /// Entries of `spec.tls` that name it.
    pub(super) users: BTreeMap<Rank, Arc<TlsClaim>>,
    /// Where it is named as the default certificate.
    pub(super) is_default: Option<Origin>,
    /// What was last read from it.
    pub(super) parsed: Parsed,
    /// Hosts for which it is the certificate now.
    pub(super) hosts: BTreeSet<Arc<str>>,
}

/// A backend and how many routes send requests to it.
#[derive(Debug)]
pub(super) struct BackendUse {
    pub(super) target: Target,
    pub(super) routes: usize,
}

/// All indexes.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) ingresses: BTreeMap<ObjectName, Listed>,
    /// All Ingresses by the class that they name.
    pub(super) by_class: BTreeMap<Option<Arc<str>>, BTreeSet<ObjectName>>,
    /// Claims by key; the first one wins.
    pub(super) claims: BTreeMap<RouteKey, Vec<Arc<Claim>>>,
    /// Known hosts, with the number of rules that name them.
    pub(super) hosts: BTreeMap<HostMatch, usize>,
    /// The keys of the claims on a Service (existing or not), once for each claim. A list, since most have one entry: a map
    /// of one takes ten times the memory.
    pub(super) service_claims: BTreeMap<ObjectName, Vec<RouteKey>>,
    pub(super) backends: BTreeMap<BackendName, BackendUse>,
    pub(super) backends_of: BTreeMap<ObjectName, BTreeSet<BackendName>>,
    pub(super) secrets: BTreeMap<ObjectName, SecretUse>,
    /// Claims on the certificate of a host; per key type the first usable one wins.
    pub(super) tls_claims: BTreeMap<Arc<str>, Vec<Arc<TlsClaim>>>,
    /// The Secrets that won.
    pub(super) tls_winners: BTreeMap<Arc<str>, BTreeMap<KeyType, ObjectName>>,
    /// Claims on what clients of a host must show; the first one wins.
    pub(super) client_claims: BTreeMap<Arc<str>, Vec<Arc<ClientClaim>>>,
    /// What won.
    pub(super) client_rules: BTreeMap<HostMatch, ClientRule>,
    /// Secrets whose use changed in this update, and whether they were used before it.
    pub(super) secrets_before: BTreeMap<ObjectName, bool>,
}

impl Index {
    /// Adds what an Ingress says.
    pub(super) fn add(&mut self, facts: &Facts, table: &Table, dirty: &mut Dirty) {
        for claim in &facts.claims {
            let claims = self.claims.entry(claim.key.clone()).or_default();
            let place = claims.partition_point(|other| other.rank < claim.rank);
            claims.insert(place, claim.clone());
            if let Some(service) = service_of(claim) {
                let keys = self.service_claims.entry(service).or_insert_with(|| Vec::with_capacity(1));
                keys.push(claim.key.clone());
            }
            dirty.routes.insert(claim.key.clone());
        }
        for host in &facts.hosts {
            *self.hosts.entry(host.clone()).or_insert(0) += 1;
            dirty.routes.insert(root_of(host, table));
        }
        for claim in &facts.tls {
            self.secret_use(&claim.secret).users.insert(claim.rank.clone(), claim.clone());
            dirty.secrets.insert(claim.secret.clone());
            for host in &claim.hosts {
                let claims = self.tls_claims.entry(host.clone()).or_default();
                let place = claims.partition_point(|other| other.rank < claim.rank);
                claims.insert(place, claim.clone());
                dirty.tls_hosts.insert(host.clone());
            }
        }
        if let Some(claim) = &facts.clients {
            for host in &claim.hosts {
                let claims = self.client_claims.entry(host.clone()).or_default();
                let place = claims.partition_point(|other| other.rank < claim.rank);
                claims.insert(place, claim.clone());
                dirty.tls_hosts.insert(host.clone());
            }
        }
    }

    /// Removes what an Ingress said.
    pub(super) fn remove(&mut self, facts: &Facts, table: &Table, dirty: &mut Dirty) {
        for claim in &facts.claims {
            if let Some(claims) = self.claims.get_mut(&claim.key) {
                claims.retain(|other| other.rank != claim.rank);
                if claims.is_empty() {
                    self.claims.remove(&claim.key);
                }
            }
            if let Some(service) = service_of(claim)
                && let Some(keys) = self.service_claims.get_mut(&service)
            {
                if let Some(place) = keys.iter().position(|key| *key == claim.key) {
                    keys.swap_remove(place);
                }
                if keys.is_empty() {
                    self.service_claims.remove(&service);
                }
            }
            dirty.routes.insert(claim.key.clone());
        }
        for host in &facts.hosts {
            decrement(&mut self.hosts, host);
            dirty.routes.insert(root_of(host, table));
        }
        for claim in &facts.tls {
            self.secret_use(&claim.secret).users.remove(&claim.rank);
            dirty.secrets.insert(claim.secret.clone());
            for host in &claim.hosts {
                if let Some(claims) = self.tls_claims.get_mut(host) {
                    claims.retain(|other| other.rank != claim.rank);
                    if claims.is_empty() {
                        self.tls_claims.remove(host);
                    }
                }
                dirty.tls_hosts.insert(host.clone());
            }
        }
        if let Some(claim) = &facts.clients {
            for host in &claim.hosts {
                if let Some(claims) = self.client_claims.get_mut(host) {
                    claims.retain(|other| other.rank != claim.rank);
                    if claims.is_empty() {
                        self.client_claims.remove(host);
                    }
                }
                dirty.tls_hosts.insert(host.clone());
            }
        }
    }

    /// The keys of a host that Ingresses claim.
    pub(super) fn routes_of(&self, host: &HostMatch) -> impl Iterator<Item = &RouteKey> {
        let path = PathMatch::Exact("".into());
        let first = RouteKey { table: Table::ingress(), host: host.clone(), path };
        self.claims.range(first..).map(|(key, _)| key).take_while(move |key| key.host == *host)
    }

    /// The use of a Secret, to be changed.
    pub(super) fn secret_use(&mut self, secret: &ObjectName) -> &mut SecretUse {
        let known = self.secrets.contains_key(secret);
        self.secrets_before.entry(secret.clone()).or_insert(known);
        self.secrets.entry(secret.clone()).or_default()
    }

    /// One more route sends requests to this backend.
    pub(super) fn acquire(&mut self, target: &Target, dirty: &mut Dirty) {
        let name = target.name();
        if let Some(backend) = self.backends.get_mut(&name) {
            backend.routes += 1;
            // The plain policy changed: its backends keep their names.
            if backend.target != *target {
                backend.target = target.clone();
                dirty.backends.insert(name);
            }
            return;
        }
        self.backends_of.entry(target.service.clone()).or_default().insert(name.clone());
        self.backends.insert(name.clone(), BackendUse { target: target.clone(), routes: 1 });
        dirty.backends.insert(name);
    }

    /// One route less sends requests to this backend.
    pub(super) fn release(&mut self, name: &BackendName, dirty: &mut Dirty) {
        let Some(backend) = self.backends.get_mut(name) else { return };
        backend.routes -= 1;
        if backend.routes > 0 {
            return;
        }
        if let Some(names) = self.backends_of.get_mut(&backend.target.service) {
            names.remove(name);
            if names.is_empty() {
                self.backends_of.remove(&backend.target.service);
            }
        }
        self.backends.remove(name);
        dirty.backends.insert(name.clone());
    }
}

/// The root of a host: a known host always has it, so that a miss ends there.
fn root_of(host: &HostMatch, table: &Table) -> RouteKey {
    RouteKey { table: table.clone(), host: host.clone(), path: PathMatch::Prefix("".into()) }
}

/// The Service that a claim names.
pub(super) fn service_of(claim: &Claim) -> Option<ObjectName> {
    match &claim.backend {
        IngressBackend::Service { name, .. } => {
            Some(ObjectName::new(claim.rank.ingress.namespace.clone(), name.clone()))
        }
        IngressBackend::Resource(_) | IngressBackend::Missing => None,
    }
}

fn decrement<K: Ord>(counts: &mut BTreeMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
