//! What to say when the API server refuses a watch.

use super::scope::{Extent, Scope};
use crate::cluster::Kind;
use crate::problem::{Code, Problem, Severity};

/// The problem of a refused watch; `words` are the API server's, which name the user and the verb.
pub(super) fn problem(scope: &Scope, words: &str) -> Problem {
    let place = match (&scope.extent, scope.namespace()) {
        (Extent::Object(name), _) => format!(" for `{name}`"),
        (_, Some(namespace)) => format!(" in namespace `{namespace}`"),
        (_, None) => " in the whole cluster".to_owned(),
    };
    let resource = resource(scope.kind);
    Problem {
        origin: scope.origin(),
        code: Code::WatchRefused,
        severity: Severity::Error,
        message: format!(
            "the API server refuses to show `{resource}`{place}, what is known of it stays: {words}"
        ),
        hint: format!(
            "allow the verbs `get`, `list`, `watch` on `{resource}`{place}, as the role of the Helm chart does"
        ),
    }
}

/// The resource as a role names it, with its API group.
fn resource(kind: Kind) -> &'static str {
    match kind {
        Kind::Ingress => "ingresses.networking.k8s.io",
        Kind::IngressClass => "ingressclasses.networking.k8s.io",
        Kind::Service => "services",
        Kind::EndpointSlice => "endpointslices.discovery.k8s.io",
        Kind::Secret => "secrets",
        Kind::ConfigMap => "configmaps",
        Kind::File | Kind::Flag => "nothing",
    }
}
