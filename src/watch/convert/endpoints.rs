//! EndpointSlice.

use std::net::IpAddr;
use std::sync::Arc;

use k8s_openapi::api::discovery::v1 as api;

use super::{Convert, is_tcp, name_of, port, text};
use crate::cluster::{Endpoint, EndpointPort, EndpointSlice, Object};

/// The label by which a slice belongs to a Service.
pub(in crate::watch) const SERVICE_LABEL: &str = "kubernetes.io/service-name";

impl Convert for api::EndpointSlice {
    fn convert(mut self) -> Option<Object> {
        // Addresses of type FQDN are names, which the API leaves without a meaning; kube-proxy ignores them too (1.34).
        if self.address_type == "FQDN" {
            return None;
        }
        let service = text(self.metadata.labels.as_mut().and_then(|labels| labels.remove(SERVICE_LABEL)))?;
        Some(Object::EndpointSlice(EndpointSlice {
            name: name_of(&self.metadata),
            service,
            ports: self
                .ports
                .into_iter()
                .flatten()
                .filter(|p| is_tcp(p.protocol.as_deref()))
                .filter_map(|p| Some(EndpointPort { port: port(p.port?)?, name: text(p.name) }))
                .collect(),
            endpoints: self.endpoints.into_iter().filter_map(endpoint).collect(),
        }))
    }
}

/// The defaults are the API's: what is unknown counts as ready, `serving` follows `ready`.
fn endpoint(endpoint: api::Endpoint) -> Option<Endpoint> {
    let address: IpAddr = endpoint.addresses.first()?.parse().ok()?;
    let conditions = endpoint.conditions.unwrap_or_default();
    let ready = conditions.ready.unwrap_or(true);
    Some(Endpoint {
        address,
        ready,
        serving: conditions.serving.unwrap_or(ready),
        terminating: conditions.terminating.unwrap_or(false),
        pod: endpoint.target_ref.and_then(|target| target.name).filter(|pod| !pod.is_empty()).map(Arc::from),
    })
}
