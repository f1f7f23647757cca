//! TLS that is passed through: for which host, and who wins against those that terminate it.

use std::sync::Arc;

use super::backends::resolve;
use super::facts::Claim;
use super::index::Index;
use super::notes::Notes;
use super::routes::Inputs;
use crate::cluster::{Kind, Origin};
use crate::model::{HostMatch, Need, PathMatch, RouteKey};
use crate::options::tls::SSL_PASSTHROUGH;
use crate::options::{Layer, Layers, Scope};
use crate::problem::{Code, Problem, Severity};

/// Whether TLS of a path's host is passed through to the backend of this path; `service` are the keys of its Service.
pub(super) fn is_passed(
    key: &RouteKey,
    claim: &Claim,
    service: &Layer,
    inputs: &Inputs<'_>,
    notes: &mut Notes,
) -> bool {
    let layers = Layers { service, ingress: &claim.layer, config: inputs.config };
    let Some((true, scope, written)) = layers.find(&SSL_PASSTHROUGH) else { return false };
    let refuse = |notes: &mut Notes, claim: &Claim, code, message: String, hint: &str| {
        let origin = match scope {
            Scope::Ingress => Origin::object(Kind::Ingress, claim.rank.ingress.clone()).at(written.clone()),
            Scope::Service | Scope::ConfigMap => claim.origin.clone(),
        };
        let hint = hint.to_owned();
        notes.problems.push(Problem { origin, code, severity: Severity::Error, message, hint });
    };
    let has_host = matches!(key.host, HostMatch::Exact(_) | HostMatch::Wildcard(_));
    if !has_host || key.path != PathMatch::Prefix("".into()) {
        // What the ConfigMap says for all of them is not meant for each.
        if scope != Scope::ConfigMap {
            let (what, hint) = if has_host {
                ("only the root path of a host can be passed through", "use the path `/` with type Prefix")
            } else {
                (
                    "a rule without host cannot be passed through: its server name is not known",
                    "name the host",
                )
            };
            let message = format!("TLS of `{key}` is not passed through: {what}");
            refuse(notes, claim, Code::KeyIneffective, message, hint);
        }
        return false;
    }
    if inputs.settings.listeners.https.is_none() {
        return false;
    }
    let older = claims_of(&key.host, inputs.index).find(|other| {
        other.rank < claim.rank && other.rank.ingress != claim.rank.ingress && !passes(other, inputs)
    });
    if let Some(older) = older {
        let message = format!(
            "TLS of `{key}` is not passed through: Ingress `{}`, which comes first, terminates it",
            older.rank.ingress
        );
        refuse(
            notes,
            claim,
            Code::PassthroughConflict,
            message,
            "let one Ingress have all paths of the host",
        );
        return false;
    }
    for other in claims_of(&key.host, inputs.index).filter(|other| other.key != *key) {
        let message = format!(
            "`{}` cannot be reached over TLS: Ingress `{}` passes TLS of the host through",
            other.key, claim.rank.ingress
        );
        notes.problems.push(Problem {
            origin: other.origin.clone(),
            code: Code::PassthroughConflict,
            severity: Severity::Error,
            message,
            hint: "remove the path, or `ssl-passthrough`".to_owned(),
        });
    }
    notes.needs.insert(Need::Passthrough);
    true
}

fn claims_of<'a>(host: &'a HostMatch, index: &'a Index) -> impl Iterator<Item = &'a Arc<Claim>> {
    index.routes_of(host).filter_map(|key| index.claims.get(key)?.first())
}

/// Whether another claim on the host wants the same.
fn passes(claim: &Claim, inputs: &Inputs<'_>) -> bool {
    let namespace = &claim.rank.ingress.namespace;
    let service = resolve(&claim.backend, namespace, &claim.origin, inputs.snapshot);
    let annotations = service.map(|(service, _)| &service.annotations);
    let service = annotations.map(|annotations| Layer::of_annotations(Scope::Service, annotations).0);
    let service = service.unwrap_or_default();
    let layers = Layers { service: &service, ingress: &claim.layer, config: inputs.config };
    layers.get(&SSL_PASSTHROUGH).unwrap_or(false)
}
