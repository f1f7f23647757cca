//! The route unit: who wins a key, and where its requests go.

use std::sync::Arc;

use super::backends::{Target, resolve, resolve_service};
use super::facts::Claim;
use super::index::Index;
use super::{ConfigOptions, Settings};
use crate::cluster::{Kind, ObjectName, Origin, Snapshot};
use crate::model::{BackendName, Candidate, Filter, HostMatch, PathMatch, Route, RouteKey, Weighted};
use crate::problem::{Code, Problem, Severity};

/// Status of the redirect to HTTPS.
const REDIRECT_STATUS: u16 = 302;

/// A route as it should be.
#[derive(Debug, Default)]
pub(super) struct Computed {
    pub(super) route: Option<Route>,
    /// The backend that it needs, unless that is a fixed one.
    pub(super) target: Option<Target>,
    pub(super) problems: Vec<Problem>,
}

/// The route of this key.
pub(super) fn compute(
    key: &RouteKey,
    index: &Index,
    snapshot: &Snapshot,
    settings: &Settings,
    options: &ConfigOptions,
) -> Computed {
    match index.claims.get(key).map(Vec::as_slice) {
        Some([winner, losers @ ..]) => {
            let mut problems: Vec<Problem> = losers.iter().map(|loser| conflict(winner, loser)).collect();
            let resolved = resolve(&winner.backend, &winner.rank.ingress.namespace, &winner.origin, snapshot);
            let target = resolved.map_err(|problem| problems.push(problem)).ok();
            let backend = target.as_ref().map_or_else(|| BackendName::fixed(503), Target::name);
            let filters = if redirects(winner, settings, options) {
                vec![Filter::RedirectToHttps(REDIRECT_STATUS)]
            } else {
                Vec::new()
            };
            let route = route(key, backend, filters, winner.origin.clone());
            Computed { route: Some(route), target, problems }
        }
        _ if key.host == HostMatch::Default => default_route(key, snapshot, settings),
        _ if key.path == PathMatch::Prefix("".into()) && index.hosts.contains_key(&key.host) => {
            let route = Route { key: key.clone(), candidates: Vec::new() };
            Computed { route: Some(route), ..Computed::default() }
        }
        _ => Computed::default(),
    }
}

/// `--default-backend-service`, when no Ingress has a `defaultBackend`.
fn default_route(key: &RouteKey, snapshot: &Snapshot, settings: &Settings) -> Computed {
    let Some((service, port)) = &settings.default_backend else { return Computed::default() };
    let origin = Origin::object(Kind::Flag, ObjectName::cluster("--default-backend-service"));
    match resolve_service(service, port.as_ref(), snapshot) {
        Ok(target) => {
            let route = Some(route(key, target.name(), Vec::new(), origin));
            Computed { route, target: Some(target), problems: Vec::new() }
        }
        Err((code, message, hint)) => {
            let problem = Problem {
                origin: origin.clone(),
                code,
                severity: Severity::Error,
                message: format!("{message}; requests that match no rule are answered with 404"),
                hint,
            };
            let route = Some(route(key, BackendName::fixed(404), Vec::new(), origin));
            Computed { route, target: None, problems: vec![problem] }
        }
    }
}

fn route(key: &RouteKey, backend: BackendName, filters: Vec<Filter>, origin: Origin) -> Route {
    let split = vec![Weighted { weight: 1, backend }];
    Route { key: key.clone(), candidates: vec![Candidate { conditions: Vec::new(), filters, split, origin }] }
}

fn redirects(claim: &Claim, settings: &Settings, options: &ConfigOptions) -> bool {
    settings.listeners.https.is_some() && claim.ssl_redirect.or(options.ssl_redirect).unwrap_or(claim.covered)
}

fn conflict(winner: &Arc<Claim>, loser: &Arc<Claim>) -> Problem {
    let key = &loser.key;
    let by = &winner.rank.ingress;
    let problem = |code, severity, message, hint: &str| Problem {
        origin: loser.origin.clone(),
        code,
        severity,
        message,
        hint: hint.to_owned(),
    };
    if *by == loser.rank.ingress {
        let place = winner.origin.key.as_deref().unwrap_or_default();
        let severity = if winner.backend == loser.backend { Severity::Warning } else { Severity::Error };
        return problem(
            Code::RouteConflict,
            severity,
            format!("`{key}` has no effect here: `{place}` of the same Ingress already claims it"),
            "remove one of the two paths; `/a` and `/a/` are the same prefix",
        );
    }
    let why = if winner.rank.created < loser.rank.created {
        "is older"
    } else {
        "is as old and comes first by name"
    };
    if key.host == HostMatch::Default {
        return problem(
            Code::DefaultBackendConflict,
            Severity::Error,
            format!("`defaultBackend` has no effect here: Ingress `{by}`, which {why}, already has one"),
            "remove `spec.defaultBackend` from one of the two Ingresses",
        );
    }
    problem(
        Code::RouteConflict,
        Severity::Error,
        format!("`{key}` has no effect here: Ingress `{by}`, which {why}, already claims it"),
        "remove the path from one of the two Ingresses",
    )
}
