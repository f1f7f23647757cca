//! User mistakes as data: a [`Problem`] says what is wrong where, and what to do about it.
#![deny(clippy::disallowed_methods)]

mod docs;
mod page;

use std::fmt;

pub use docs::CodeDocs;
pub use page::page;

use crate::cluster::Origin;

/// Text of a user, fit for a one-line message: control characters and quotes escaped, at most `longest` characters of it.
pub fn excerpt(text: &str, longest: usize) -> String {
    let mut short: String = text.chars().take(longest).flat_map(char::escape_debug).collect();
    if text.chars().nth(longest).is_some() {
        short.push('…');
    }
    short
}

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
    /// A canary of a host and path that no other Ingress of its namespace has: it gets no requests.
    CanaryWithoutMain,
    /// A path whose Services all have `route-acl`: what passes no test gets the default backend.
    RouteConditionalOnly,
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
    /// A custom resource of another controller: it has no effect.
    CustomResourceIgnored,
    /// A port that HAProxy could not bind.
    PortUnavailable,
    /// HAProxy refused the configuration; the last good one runs.
    ConfigurationRefused,
    /// A kind that the API server does not let us read; what was known of it stays.
    WatchRefused,
    /// External authentication that cannot be used: requests to its paths are answered with 503.
    AuthUnusable,
    /// Something that guards a path is missing or not valid: the path answers 503.
    AccessClosed,
    /// A key that changes nothing, because of what other keys say.
    KeyIneffective,
    /// A Secret of another namespace, which only the ConfigMap may name.
    SecretForbidden,
    /// A user or a password hash that HAProxy cannot check.
    CredentialsInvalid,
    /// A pattern file that does not exist.
    PatternFileNotFound,
    /// A pattern file with a name or a line that cannot be used.
    PatternFileInvalid,
    /// A Secret without usable authority, revocation list or signing certificate: whom it would check is refused.
    AuthorityInvalid,
    /// An older Ingress already says what clients of this host must show.
    ClientCheckConflict,
    /// One Ingress passes TLS of a host through, another terminates it: the older one counts.
    PassthroughConflict,
    /// A port that another listener has already.
    PortConflict,
    /// A port below 1024, which HAProxy may not be allowed to bind.
    PortPrivileged,
    /// An entry of the ConfigMap of error pages that cannot be used: HAProxy's own page stays.
    ErrorPageInvalid,
    /// An entry of the ConfigMap of TCP services that cannot be used: the port is closed.
    TcpServiceInvalid,
    /// An entry of a Secret with users that cannot be used: the user is not let in.
    UserInvalid,
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
            Self::CanaryWithoutMain => "canary-without-main",
            Self::RouteConditionalOnly => "route-conditional-only",
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
            Self::CustomResourceIgnored => "custom-resource-ignored",
            Self::PortUnavailable => "port-unavailable",
            Self::ConfigurationRefused => "configuration-refused",
            Self::WatchRefused => "watch-refused",
            Self::AuthUnusable => "auth-unusable",
            Self::AccessClosed => "access-closed",
            Self::KeyIneffective => "key-ineffective",
            Self::SecretForbidden => "secret-forbidden",
            Self::CredentialsInvalid => "credentials-invalid",
            Self::PatternFileNotFound => "pattern-file-not-found",
            Self::PatternFileInvalid => "pattern-file-invalid",
            Self::AuthorityInvalid => "authority-invalid",
            Self::ClientCheckConflict => "client-check-conflict",
            Self::PassthroughConflict => "passthrough-conflict",
            Self::PortConflict => "port-conflict",
            Self::PortPrivileged => "port-privileged",
            Self::ErrorPageInvalid => "error-page-invalid",
            Self::TcpServiceInvalid => "tcp-service-invalid",
            Self::UserInvalid => "user-invalid",
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
