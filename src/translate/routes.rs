//! The route unit: who wins a key, and where its requests go.

use std::borrow::Cow;
use std::sync::Arc;

use super::Settings;
use super::backends::{Target, resolve, resolve_or, resolve_service};
use super::canary;
use super::contest::Contest;
use super::facts::Claim;
use super::index::Index;
use super::notes::Notes;
use super::passthrough;
use super::policy::{Context, Path, policy_of};
use crate::cluster::{Kind, ObjectName, Origin, Service, ServicePort, Snapshot};
use crate::model::{
    BackendName, Candidate, Condition, Expression, Filter, HostMatch, Mode, Need, PathMatch, Policy, Route,
    RouteKey, Weighted,
};
use crate::options::condition::{self as expression, Plain};
use crate::options::routing::{DEFAULT_SSL_REDIRECT_CODE, SSL_REDIRECT_CODE, SSL_REDIRECT_PORT};
use crate::options::{Layer, Layers, SSL_REDIRECT, Scope};
use crate::problem::{Code, Problem, Severity};

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
    let mut notes = Notes::default();
    if let Some(claims) = inputs.index.claims.get(key) {
        let mut contest = Contest::of(claims, inputs);
        notes.problems = std::mem::take(&mut contest.problems);
        if let Some(leader) = contest.leader() {
            let (targets, passthrough) = (Vec::new(), None);
            return Computing { key, inputs, leader, targets, passthrough, notes }.route(&contest);
        }
    }
    match key {
        _ if key.host == HostMatch::Default => {
            let mut computed = default_route(key, inputs);
            computed.notes.extend(notes);
            computed
        }
        _ if key.path == PathMatch::Prefix("".into()) && inputs.index.hosts.contains_key(&key.host) => {
            let route = Route { key: key.clone(), candidates: Vec::new() };
            Computed { route: Some(route), notes, ..Computed::default() }
        }
        _ => Computed { notes, ..Computed::default() },
    }
}

/// A route while its candidates are made.
struct Computing<'a> {
    key: &'a RouteKey,
    inputs: &'a Inputs<'a>,
    /// Its Ingress says what counts for the whole route.
    leader: &'a Claim,
    targets: Vec<Target>,
    /// The backend that TLS of the host is passed through to.
    passthrough: Option<BackendName>,
    notes: Notes,
}

impl Computing<'_> {
    fn route(mut self, contest: &Contest<'_>) -> Computed {
        let main = contest.main.map(|claim| (claim, self.backend(claim)));
        let filters = self.filters();
        let mut conditional = Vec::new();
        for (claim, test) in &contest.conditional {
            if self.is_passed_by(claim, "route-acl") {
                continue;
            }
            let backend = self.backend(claim);
            for condition in conditions(test) {
                self.notes.needs.extend(condition.test().map(Need::Test));
                conditional.push(Candidate {
                    conditions: vec![condition],
                    filters: filters.clone(),
                    split: vec![Weighted { weight: 1, backend: backend.clone() }],
                    origin: claim.origin.clone(),
                });
            }
        }
        let mut last = main.map(|(claim, backend)| Candidate {
            conditions: Vec::new(),
            filters,
            split: vec![Weighted { weight: 1, backend }],
            origin: claim.origin.clone(),
        });
        let canary = contest.canary.filter(|canary| !self.is_passed_by(canary, "canary"));
        if let (Some(main), Some(canary)) = (&mut last, canary) {
            let target = self.canary_target(canary);
            let part = canary::part(canary, &mut self.notes);
            if let Some(target) = target {
                conditional.extend(part.candidates(canary, main, &target.name()));
                part.split(main, target.name());
                self.targets.push(target);
            }
        }
        if let PathMatch::Regex(_) = self.key.path {
            self.notes.needs.insert(Need::RegexPaths);
        }
        // In the order in which HAProxy looks; those with the same test by rank.
        conditional.sort_by_key(|candidate: &Candidate| candidate.conditions.first().map(Condition::test));
        let candidates = conditional.into_iter().chain(last).collect();
        let route = Route { key: self.key.clone(), candidates };
        let Self { targets, passthrough, notes, .. } = self;
        Computed { route: Some(route), targets, passthrough, notes }
    }

    /// Whether TLS of the host is passed through, so that nothing can be chosen by what requests say.
    fn is_passed_by(&mut self, claim: &Claim, what: &str) -> bool {
        if self.passthrough.is_some() {
            self.notes.problems.push(Problem {
                origin: claim.origin.clone(),
                code: Code::KeyIneffective,
                severity: Severity::Error,
                message: format!(
                    "`{}` gets no requests by `{what}`: TLS of the host is passed through",
                    claim.key
                ),
                hint: format!("remove `{what}`, or `ssl-passthrough`"),
            });
        }
        self.passthrough.is_some()
    }

    /// The backend of a claim; one that answers 503 when it cannot be had.
    fn backend(&mut self, claim: &Claim) -> BackendName {
        let ingress = &claim.rank.ingress;
        match resolve(&claim.backend, &ingress.namespace, &claim.origin, self.inputs.snapshot) {
            Ok(port) => {
                let by = Some((ingress, claim.layer.as_ref()));
                let target = self.inputs.target(by, Some(self.key), &claim.origin, port, &mut self.notes);
                let name = target.name();
                let is_passed = target.policy.mode == Mode::Tcp;
                self.targets.push(target);
                if is_passed {
                    // What is passed through has nothing to say to requests that are seen.
                    self.passthrough = Some(name);
                    return BackendName::fixed(404);
                }
                name
            }
            Err(problem) => {
                self.notes.problems.push(problem);
                BackendName::fixed(503)
            }
        }
    }

    /// The target of a canary: the keys of the main Ingress count. Without it the main one gets everything.
    fn canary_target(&mut self, canary: &Claim) -> Option<Target> {
        let (ingress, layer) = (&self.leader.rank.ingress, self.leader.layer.as_ref());
        let effect = "the canary gets no requests";
        match resolve_or(&canary.backend, &ingress.namespace, &canary.origin, self.inputs.snapshot, effect) {
            Ok(port) => {
                let by = Some((ingress, layer));
                Some(self.inputs.target(by, Some(self.key), &canary.origin, port, &mut self.notes))
            }
            Err(problem) => {
                self.notes.problems.push(problem);
                None
            }
        }
    }

    /// The redirect to HTTPS.
    fn filters(&mut self) -> Vec<Filter> {
        let Inputs { config, settings, .. } = self.inputs;
        let layer = &self.leader.layer;
        let redirects = layer.get(&SSL_REDIRECT).or_else(|| config.get(&SSL_REDIRECT));
        if settings.listeners.https.is_none()
            || !redirects.unwrap_or_else(|| self.leader.covered || self.passthrough.is_some())
        {
            return Vec::new();
        }
        let status = layer.get(&SSL_REDIRECT_CODE).or_else(|| config.get(&SSL_REDIRECT_CODE));
        let port = layer.get(&SSL_REDIRECT_PORT).or_else(|| config.get(&SSL_REDIRECT_PORT));
        let port = port.filter(|port| *port != 443);
        self.notes.needs.extend(port.map(|_| Need::RedirectPort));
        vec![Filter::RedirectToHttps { status: status.unwrap_or(DEFAULT_SSL_REDIRECT_CODE), port }]
    }
}

/// What a test says, as conditions of which one must hold.
fn conditions(test: &expression::Expression) -> Vec<Condition> {
    match test.plain() {
        Some(Plain::Header(name, values)) => {
            values.iter().map(|value| Condition::Header(name.clone(), value.clone())).collect()
        }
        Some(Plain::Cookie(name, values)) => {
            values.iter().map(|value| Condition::Cookie(name.clone(), value.clone())).collect()
        }
        None => vec![Condition::Expression(Expression(test.words().to_vec()))],
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
            let route = Some(route(key, target.name(), origin));
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
            let route = Some(route(key, BackendName::fixed(404), origin));
            Computed {
                route,
                targets: Vec::new(),
                passthrough: None,
                notes: Notes { problems: vec![problem], ..Notes::default() },
            }
        }
    }
}

fn route(key: &RouteKey, backend: BackendName, origin: Origin) -> Route {
    let split = vec![Weighted { weight: 1, backend }];
    Route {
        key: key.clone(),
        candidates: vec![Candidate { conditions: Vec::new(), filters: Vec::new(), split, origin }],
    }
}
