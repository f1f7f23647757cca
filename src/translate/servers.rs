//! The servers of a backend, from the EndpointSlices of its Service.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use outrigger_init::fnv1a;

use crate::cluster::{Endpoint, EndpointSlice, Service, ServicePort};
use crate::model::{Server, ServerKey, ServerState};

/// Servers, and the addresses that were refused with the reason.
#[derive(Debug, Default)]
pub(super) struct Servers {
    pub(super) servers: BTreeMap<ServerKey, Server>,
    pub(super) refused: BTreeMap<IpAddr, &'static str>,
}

/// The servers behind a port of a Service. Slices are joined by the *name* of the port: the number may differ per pod.
pub(super) fn servers_of<'a>(
    service: &Service,
    port: &ServicePort,
    slices: impl Iterator<Item = &'a EndpointSlice>,
    loopback: bool,
) -> Servers {
    let mut found = Servers::default();
    let mut candidates: BTreeMap<ServerKey, (ServerState, Option<Arc<str>>)> = BTreeMap::new();
    for slice in slices {
        for number in slice.ports.iter().filter(|p| p.name == port.name && p.port != 0).map(|p| p.port) {
            for endpoint in &slice.endpoints {
                let Some(state) = state_of(endpoint, service.publish_not_ready) else { continue };
                let address = endpoint.address.to_canonical();
                if let Some(reason) = refusal(address, loopback) {
                    found.refused.insert(address, reason);
                    continue;
                }
                let candidate = (state, endpoint.pod.clone());
                candidates
                    .entry(ServerKey { address, port: number })
                    // While a pod moves between slices it is in both for a moment; the better state is the newer one.
                    .and_modify(|known| *known = known.clone().min(candidate.clone()))
                    .or_insert(candidate);
            }
        }
    }
    // KEP-1669: when nothing is ready, endpoints that terminate but still serve are better than none.
    let any_active = candidates.values().any(|(state, _)| *state == ServerState::Active);
    let mut ids = BTreeSet::new();
    for (key, (state, pod)) in candidates {
        let state = if any_active { state } else { ServerState::Active };
        let id = id_of(key, &mut ids);
        found.servers.insert(key, Server { key, id, state, pod });
    }
    found
}

fn state_of(endpoint: &Endpoint, publish_not_ready: bool) -> Option<ServerState> {
    if endpoint.terminating {
        return endpoint.serving.then_some(ServerState::Draining);
    }
    (endpoint.ready || publish_not_ready).then_some(ServerState::Active)
}

/// Addresses that no pod has, but that would lead HAProxy to itself, to the node, or to a metadata service.
pub(super) fn refusal(address: IpAddr, loopback: bool) -> Option<&'static str> {
    let link_local = match address {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    if address.is_loopback() {
        (!loopback).then_some("loopback")
    } else if address.is_unspecified() {
        Some("unspecified")
    } else if address.is_multicast() {
        Some("multicast")
    } else if link_local {
        Some("link-local or broadcast")
    } else {
        None
    }
}

/// A stable id, unique among `taken`: a hash of address and port, hashed again with a salt when that is taken. The keys come
/// in order, so the same set gives the same ids.
fn id_of(key: ServerKey, taken: &mut BTreeSet<u32>) -> u32 {
    // HAProxy takes ids from 1 to 2^31 - 1 (2.2 to 3.4).
    const IDS: u64 = (1 << 31) - 1;
    let mut text = format!("{}:{}", key.address, key.port);
    loop {
        let id = u32::try_from(fnv1a(text.as_bytes()) % IDS).unwrap_or_default() + 1;
        if taken.insert(id) {
            return id;
        }
        text.push('#');
    }
}

#[cfg(test)]
mod tests;
