//! Ingress and IngressClass (`networking.k8s.io/v1`).

use std::sync::Arc;

use super::{ObjectName, Strings};

/// An Ingress, as far as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ingress {
    /// Namespace and name.
    pub name: ObjectName,
    /// `metadata.creationTimestamp`, seconds since the epoch; 0 when absent. Decides who is older.
    pub created: i64,
    /// `spec.ingressClassName`.
    pub class: Option<Arc<str>>,
    /// Annotations that Outrigger may read (known prefixes and `kubernetes.io/ingress.class`).
    pub annotations: Strings,
    /// `spec.defaultBackend`.
    pub default_backend: Option<IngressBackend>,
    /// `spec.rules`.
    pub rules: Vec<IngressRule>,
    /// `spec.tls`.
    pub tls: Vec<IngressTls>,
}

/// `spec.rules[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngressRule {
    /// Host, `*.domain`, or `None`.
    pub host: Option<Arc<str>>,
    /// `http.paths`; empty when the rule has no `http`.
    pub paths: Vec<IngressPath>,
}

/// `spec.rules[].http.paths[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngressPath {
    /// Path; `None` means all paths.
    pub path: Option<Arc<str>>,
    /// How the path matches.
    pub path_type: PathType,
    /// Where it goes.
    pub backend: IngressBackend,
}

/// `pathType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathType {
    /// The whole path, case-sensitive.
    Exact,
    /// Prefix by path element.
    Prefix,
    /// Up to the controller; here like `Prefix`.
    ImplementationSpecific,
}

/// A backend reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IngressBackend {
    /// A Service of the same namespace.
    Service {
        /// Service name.
        name: Arc<str>,
        /// Port; `None` when the object has neither number nor name (invalid).
        port: Option<PortRef>,
    },
    /// A resource reference, which Outrigger does not support: `Kind name` for the message.
    Resource(Arc<str>),
    /// Neither service nor resource.
    Missing,
}

/// A Service port by number or name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PortRef {
    /// By number.
    Number(u16),
    /// By name.
    Name(Arc<str>),
}

/// `spec.tls[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngressTls {
    /// Hosts; empty means the hosts of the rules.
    pub hosts: Vec<Arc<str>>,
    /// Secret of the same namespace; `None` means the default certificate.
    pub secret: Option<Arc<str>>,
}

/// An IngressClass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngressClass {
    /// Name (cluster-scoped).
    pub name: Arc<str>,
    /// `metadata.creationTimestamp`, seconds since the epoch; 0 when absent.
    pub created: i64,
    /// `spec.controller`.
    pub controller: Arc<str>,
    /// Annotation `ingressclass.kubernetes.io/is-default-class: "true"`.
    pub is_default: bool,
}
