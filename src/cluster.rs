//! What the cluster says, as slim types of our own: the [`Snapshot`] and the objects in it.
//!
//! Pure: no Kubernetes library, no IO. The edge (`watch`) converts API objects or manifests into these types and
//! drops everything the controller never reads, so memory is bounded by what is used.
#![deny(clippy::disallowed_methods)]

mod endpoints;
mod ingress;
mod name;
mod secret;
mod service;
mod snapshot;

pub use endpoints::{Endpoint, EndpointPort, EndpointSlice};
pub use ingress::{
    Ingress, IngressBackend, IngressClass, IngressPath, IngressRule, IngressTls, PathType, PortRef,
};
pub use name::{Kind, ObjectName, ObjectRef, Origin};
pub use secret::{ConfigMap, Secret};
pub use service::{Service, ServicePort};
pub use snapshot::{Change, Map, Object, Snapshot};

/// Annotations or ConfigMap data: key to value, ordered.
pub type Strings = std::collections::BTreeMap<std::sync::Arc<str>, std::sync::Arc<str>>;
