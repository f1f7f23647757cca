//! The route unit: who wins a key, and where its requests go.

use std::borrow::Cow;
use std::sync::Arc;

use super::Settings;
use super::backends::{Target, resolve, resolve_service};
use super::facts::Claim;
use super::index::Index;
use super::notes::Notes;
use super::passthrough;
use super::policy::{Context, Path, policy_of};
use crate::cluster::{Kind, ObjectName, Origin, Service, ServicePort, Snapshot};
use crate::model::{
    BackendName, Candidate, Filter, HostMatch, Mode, PathMatch, Policy, Route, RouteKey, Weighted,
};
use crate::options::{Layer, Layers, SSL_REDIRECT, Scope};
use crate::problem::{Code, Problem, Severity};

/// Status of the redirect to HTTPS.
const REDIRECT_STATUS: u16 = 302;

/// A route as it should be.
#[derive(Debug, Default)]
pub(super) struct Computed {
    pub(super) route: Option<Route>,
    /// The backends that it needs, without fixed ones.
    pub(super) targets: Vec<Target>,
    /// Where TLS of the host is passed through to.
    pub(super) passthrough: Option<BackendName>,
    pub(super) notes: Notes,
}

/// What routes are computed from.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    pub(super) index: &'a Index,
    pub(super) snapshot: &'a Snapshot,
    pub(super) settings: &'a Settings,
    /// The ConfigMap.
    pub(super) config: &'a Layer,
    /// The policy of paths without keys of their own.
    pub(super) plain: &'a Arc<Policy>,
    /// How many controllers share the traffic.
    pub(super) replicas: u32,
}

impl Inputs<'_> {
    /// The target of a path: a Service port with the policy that the keys of its objects make. `ingress` is the Ingress and its
    /// keys, `None` when a flag or a TCP service leads here.
    pub(super) fn target(
        &self,
        ingress: Option<(&ObjectName, &Layer)>,
        key: Option<&RouteKey>,
        origin: &Origin,
        (service, port): (&Service, Cow<'_, ServicePort>),
        notes: &mut Notes,
    ) -> Target {
        let (service_layer, _) = Layer::of_annotations(Scope::Service, &service.annotations);
        let none = Layer::default();
        let layers = Layers {
            service: &service_layer,
            ingress: ingress.map_or(&none, |(_, layer)| layer),
            config: self.config,
        };
        let claim = ingress.and(key).and_then(|key| Some((key, self.index.claims.get(key)?.first()?)));
        let passthrough =
            claim.is_some_and(|(key, claim)| passthrough::is_passed(key, claim, &service_layer, self, notes));
        let clients = key.and_then(|key| self.index.client_rules.get(&key.host));
        let is_plain = layers.are_plain()
            && port.app_protocol.is_none()
            && service.external_name.is_none()
            && clients.is_none()
            && !passthrough;
        let policy = if is_plain {
            self.plain.clone()
        } else {
            let ingress = ingress.map(|(name, _)| name);
            let path = Path { ingress, key, origin, service, port: &port, clients, passthrough };
            policy_of(&self.context(layers, Some(path)), notes)
        };
        let is_plain = is_plain || policy == *self.plain;
        Target { service: service.name.clone(), port: port.port, policy, is_plain }
    }

    /// The same for a policy.
    pub(super) fn context<'b>(&'b self, layers: Layers<'b>, path: Option<Path<'b>>) -> Context<'b> {
        let Self { snapshot, settings, plain, replicas, .. } = *self;
        Context { layers, snapshot, settings, replicas, plain, path }
    }
}

/// The route of this key.
pub(super) fn compute(key: &RouteKey, inputs: &Inputs<'_>) -> Computed {
    match inputs.index.claims.get(key).map(Vec::as_slice) {
        Some([winner, losers @ ..]) => {
            let mut notes = Notes::default();
            notes.problems.extend(losers.iter().map(|loser| conflict(winner, loser)));
            let ingress = &winner.rank.ingress;
            let target = match resolve(&winner.backend, &ingress.namespace, &winner.origin, inputs.snapshot) {
                Ok(port) => {
                    let ingress = Some((ingress, winner.layer.as_ref()));
                    Some(inputs.target(ingress, Some(key), &winner.origin, port, &mut notes))
                }
                Err(problem) => {
                    notes.problems.push(problem);
                    None
                }
            };
            // What is passed through has nothing to say to requests that are seen.
            let passed = target.as_ref().is_some_and(|target| target.policy.mode == Mode::Tcp);
            let backend = match &target {
                Some(_) if passed => BackendName::fixed(404),
                Some(target) => target.name(),
                None => BackendName::fixed(503),
            };
            let filters = if redirects(winner, passed, inputs) {
                vec![Filter::RedirectToHttps(REDIRECT_STATUS)]
            } else {
                Vec::new()
            };
            let route = route(key, backend, filters, winner.origin.clone());
            let passthrough = target.as_ref().filter(|_| passed).map(Target::name);
            Computed { route: Some(route), targets: target.into_iter().collect(), passthrough, notes }
        }
        _ if key.host == HostMatch::Default => default_route(key, inputs),
        _ if key.path == PathMatch::Prefix("".into()) && inputs.index.hosts.contains_key(&key.host) => {
            let route = Route { key: key.clone(), candidates: Vec::new() };
            Computed { route: Some(route), ..Computed::default() }
        }
        _ => Computed::default(),
    }
}

/// `--default-backend-service`, when no Ingress has a `defaultBackend`.
fn default_route(key: &RouteKey, inputs: &Inputs<'_>) -> Computed {
    let Some((service, port)) = &inputs.settings.default_backend else { return Computed::default() };
    let origin = Origin::object(Kind::Flag, ObjectName::cluster("--default-backend-service"));
    match resolve_service(service, port.as_ref(), inputs.snapshot) {
        Ok(port) => {
            let mut notes = Notes::default();
            let target = inputs.target(None, Some(key), &origin, port, &mut notes);
            let route = Some(route(key, target.name(), Vec::new(), origin));
            Computed { route, targets: vec![target], passthrough: None, notes }
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
            Computed {
                route,
                targets: Vec::new(),
                passthrough: None,
                notes: Notes { problems: vec![problem], ..Notes::default() },
            }
        }
    }
}

fn route(key: &RouteKey, backend: BackendName, filters: Vec<Filter>, origin: Origin) -> Route {
    let split = vec![Weighted { weight: 1, backend }];
    Route { key: key.clone(), candidates: vec![Candidate { conditions: Vec::new(), filters, split, origin }] }
}

fn redirects(claim: &Claim, passed: bool, inputs: &Inputs<'_>) -> bool {
    let said = || claim.layer.get(&SSL_REDIRECT).or_else(|| inputs.config.get(&SSL_REDIRECT));
    inputs.settings.listeners.https.is_some() && said().unwrap_or(claim.covered || passed)
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
