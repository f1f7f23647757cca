//! Service (`v1`).

use std::sync::Arc;

use super::{ObjectName, Strings};

/// A Service, as far as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Namespace and name.
    pub name: ObjectName,
    /// Annotations with a known prefix.
    pub annotations: Strings,
    /// `spec.externalName` when the type is `ExternalName`.
    pub external_name: Option<Arc<str>>,
    /// `spec.publishNotReadyAddresses`.
    pub publish_not_ready: bool,
    /// `spec.ports` with protocol TCP.
    pub ports: Vec<ServicePort>,
}

/// `spec.ports[]`. EndpointSlice ports are joined to it by *name*, so target ports may differ per pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServicePort {
    /// Name; `None` only when the Service has a single unnamed port.
    pub name: Option<Arc<str>>,
    /// Service port number.
    pub port: u16,
    /// `appProtocol`.
    pub app_protocol: Option<Arc<str>>,
}
