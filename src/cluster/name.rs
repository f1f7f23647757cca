//! Names of objects and the [`Origin`] that every model item carries.

use std::fmt;
use std::sync::Arc;

/// Kinds of objects that Outrigger reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `networking.k8s.io/v1` Ingress.
    Ingress,
    /// `networking.k8s.io/v1` IngressClass (cluster-scoped).
    IngressClass,
    /// `v1` Service.
    Service,
    /// `discovery.k8s.io/v1` EndpointSlice.
    EndpointSlice,
    /// `v1` Secret.
    Secret,
    /// `v1` ConfigMap.
    ConfigMap,
    /// A manifest file (only as the origin of a problem).
    File,
    /// A command-line flag (only as the origin of a problem).
    Flag,
}

impl Kind {
    /// The name as Kubernetes spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ingress => "Ingress",
            Self::IngressClass => "IngressClass",
            Self::Service => "Service",
            Self::EndpointSlice => "EndpointSlice",
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
            Self::File => "file",
            Self::Flag => "flag",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Namespace and name; ordered by namespace, then name. Cluster-scoped objects have an empty namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// Namespace, empty for cluster-scoped objects.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
}

impl ObjectName {
    /// A namespaced name.
    pub fn new(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// The name of a cluster-scoped object.
    pub fn cluster(name: impl Into<Arc<str>>) -> Self {
        Self::new("", name)
    }

    /// Parses `namespace/name`; `None` when a part is missing or there are more than two.
    pub fn parse(text: &str) -> Option<Self> {
        let (namespace, name) = text.split_once('/')?;
        (!namespace.is_empty() && !name.is_empty() && !name.contains('/')).then(|| Self::new(namespace, name))
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}

/// One object: its kind and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// Kind.
    pub kind: Kind,
    /// Namespace and name.
    pub name: ObjectName,
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// Where something comes from: an object and, when known, the key (annotation, field) in it.
///
/// It is the comment in the rendered text, the target of Events and the answer of `explain`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The object.
    pub object: ObjectRef,
    /// Field path (`spec.rules[0].http.paths[1]`) or annotation key inside the object.
    pub key: Option<Arc<str>>,
}

impl Origin {
    /// The object as a whole.
    pub fn object(kind: Kind, name: ObjectName) -> Self {
        Self { object: ObjectRef { kind, name }, key: None }
    }

    /// The same object, at this key.
    #[must_use]
    pub fn at(&self, key: impl Into<Arc<str>>) -> Self {
        Self { object: self.object.clone(), key: Some(key.into()) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "{}, {key}", self.object),
            None => self.object.fmt(f),
        }
    }
}
