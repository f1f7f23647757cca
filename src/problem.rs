//! User mistakes as data: a [`Problem`] says what is wrong where, and what to do about it.
#![deny(clippy::disallowed_methods)]

mod docs;
mod page;

use std::fmt;

pub use docs::CodeDocs;
pub use page::page;

use crate::cluster::Origin;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Part of the object has no effect, or answers an error.
    Error,
    /// The object works, but not as its author may think.
    Warning,
}

/// Stable identity of a kind of problem; the text form is kebab-case and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A backend names a Service that does not exist: the path answers 503.
    ServiceNotFound,
    /// A backend names a port that the Service does not have: the path answers 503.
    ServicePortNotFound,
    /// A backend without Service (resource backend, or nothing): the path answers 503.
    BackendNotSupported,
    /// An older Ingress already claims this host and path.
    RouteConflict,
    /// An older Ingress already has a `defaultBackend`.
    DefaultBackendConflict,
    /// A host that no request can carry.
    HostInvalid,
    /// A path that does not start with `/`, or cannot be looked up.
    PathInvalid,
    /// A TLS Secret that does not exist: its hosts get the default certificate.
    SecretNotFound,
    /// A TLS Secret without usable certificate and key: its hosts get the default certificate.
    CertificateInvalid,
    /// An older Ingress already brings a certificate for this host.
    CertificateConflict,
    /// An endpoint whose address no pod can have (loopback, link-local, multicast, …): it gets no traffic.
    EndpointRefused,
    /// A value that its key does not allow.
    ValueInvalid,
    /// An annotation with one of our prefixes, or an entry of the ConfigMap, that is no key of ours: it has no effect.
    KeyUnknown,
    /// A key on an object where it has no effect.
    KeyMisplaced,
    /// A manifest object that another manifest replaces.
    ManifestConflict,
    /// A manifest file that cannot be read or parsed; its last good objects stay.
    ManifestInvalid,
    /// An API version that Kubernetes has removed.
    ApiVersionRemoved,
    /// A port that HAProxy could not bind.
    PortUnavailable,
    /// HAProxy refused the configuration; the last good one runs.
    ConfigurationRefused,
    /// A kind that the API server does not let us read; what was known of it stays.
    WatchRefused,
    /// A snippet that flags switch off: it has no effect.
    SnippetDisabled,
    /// A snippet of a Service or an Ingress with a line that reaches beyond its backend: it has no effect.
    SnippetRefused,
    /// A part that HAProxy refuses: it is left out until it changes.
    Quarantined,
}

impl Code {
    /// Kebab-case text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ServiceNotFound => "service-not-found",
            Self::ServicePortNotFound => "service-port-not-found",
            Self::BackendNotSupported => "backend-not-supported",
            Self::RouteConflict => "route-conflict",
            Self::DefaultBackendConflict => "default-backend-conflict",
            Self::HostInvalid => "host-invalid",
            Self::PathInvalid => "path-invalid",
            Self::SecretNotFound => "secret-not-found",
            Self::CertificateInvalid => "certificate-invalid",
            Self::CertificateConflict => "certificate-conflict",
            Self::EndpointRefused => "endpoint-refused",
            Self::ValueInvalid => "value-invalid",
            Self::KeyUnknown => "key-unknown",
            Self::KeyMisplaced => "key-misplaced",
            Self::ManifestConflict => "manifest-conflict",
            Self::ManifestInvalid => "manifest-invalid",
            Self::ApiVersionRemoved => "api-version-removed",
            Self::PortUnavailable => "port-unavailable",
            Self::ConfigurationRefused => "configuration-refused",
            Self::WatchRefused => "watch-refused",
            Self::SnippetDisabled => "snippet-disabled",
            Self::SnippetRefused => "snippet-refused",
            Self::Quarantined => "quarantined",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One mistake in one object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Problem {
    /// Where.
    pub origin: Origin,
    /// Which kind of mistake.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// What is wrong: lower-case start, no full stop, literals in backticks.
    pub message: String,
    /// One action that mends it.
    pub hint: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]; hint: {}", self.origin, self.message, self.code, self.hint)
    }
}
