//! EndpointSlice (`discovery.k8s.io/v1`).

use std::net::IpAddr;
use std::sync::Arc;

use super::ObjectName;

/// An EndpointSlice, as far as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSlice {
    /// Namespace and name of the slice.
    pub name: ObjectName,
    /// Label `kubernetes.io/service-name`; slices without it are not kept.
    pub service: Arc<str>,
    /// Ports of all endpoints of this slice.
    pub ports: Vec<EndpointPort>,
    /// Endpoints; those of address type FQDN are dropped.
    pub endpoints: Vec<Endpoint>,
}

/// `ports[]` of a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointPort {
    /// Name; `None` or empty in the object is `None` here. Joined with the Service port of the same name.
    pub name: Option<Arc<str>>,
    /// Port; slices without a number are not kept.
    pub port: u16,
}

/// `endpoints[]` of a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The first address (the others name the same pod, per the API's documentation).
    pub address: IpAddr,
    /// `conditions.ready`, absent means true.
    pub ready: bool,
    /// `conditions.serving`, absent means the value of `ready`.
    pub serving: bool,
    /// `conditions.terminating`, absent means false.
    pub terminating: bool,
    /// `targetRef.name`, the pod.
    pub pod: Option<Arc<str>>,
}
