//! What a source counts, as plain atomics: metrics read them whenever they are asked for.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::cluster::Kind;

/// Counters of one kind.
#[derive(Debug, Default)]
pub struct KindCounters {
    /// Objects that changed or vanished, outside relists.
    pub events: AtomicU64,
    /// Complete lists, the first one included.
    pub relists: AtomicU64,
    /// Failed requests and broken watches; for manifests, files that could not be used.
    pub errors: AtomicU64,
}

/// Counters per kind.
#[derive(Debug, Default)]
pub struct Counters {
    kinds: [KindCounters; 8],
}

impl Counters {
    /// The counters of a kind.
    pub fn of(&self, kind: Kind) -> &KindCounters {
        let [ingress, class, service, slice, secret, config_map, file, flag] = &self.kinds;
        match kind {
            Kind::Ingress => ingress,
            Kind::IngressClass => class,
            Kind::Service => service,
            Kind::EndpointSlice => slice,
            Kind::Secret => secret,
            Kind::ConfigMap => config_map,
            Kind::File => file,
            Kind::Flag => flag,
        }
    }
}

/// Adds to a counter; nobody orders anything by it.
pub(super) fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}
