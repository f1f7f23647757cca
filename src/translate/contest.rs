//! Who gets the requests of a host and path when several Ingresses claim it: one Service gets them all, others those that pass
//! their tests (`route-acl`), and a canary a part.

use std::sync::Arc;

use super::backends::resolve;
use super::facts::{Claim, entry_problem};
use super::routes::Inputs;
use crate::cluster::{Kind, Origin};
use crate::model::HostMatch;
use crate::options::condition::Expression;
use crate::options::routing::ROUTE_ACL;
use crate::options::{Finding, FindingKind, Layer, Scope};
use crate::problem::{Code, Problem, Severity};

/// The claims on a key in their roles.
#[derive(Default)]
pub(super) struct Contest<'a> {
    /// Gets what nobody else gets.
    pub(super) main: Option<&'a Arc<Claim>>,
    /// Get what passes their tests, by rank.
    pub(super) conditional: Vec<(&'a Arc<Claim>, Expression)>,
    /// Gets a part of what the main one would get.
    pub(super) canary: Option<&'a Arc<Claim>>,
    /// What is wrong with the others.
    pub(super) problems: Vec<Problem>,
}

/// What a Service says about the requests that it gets.
enum Test {
    None,
    Valid(Expression),
    Invalid(Vec<Finding>),
}

impl<'a> Contest<'a> {
    /// Assigns the roles. `claims` come by rank.
    pub(super) fn of(claims: &'a [Arc<Claim>], inputs: &Inputs<'_>) -> Self {
        let mut contest = Self::default();
        let mut canaries = Vec::new();
        for claim in claims {
            if claim.canary {
                canaries.push(claim);
                continue;
            }
            match test_of(claim, inputs) {
                Test::None => match contest.main {
                    None => contest.main = Some(claim),
                    Some(main) => contest.problems.push(conflict(main, claim)),
                },
                Test::Valid(test) => contest.conditional.push((claim, test)),
                Test::Invalid(findings) => {
                    // It gets no requests, so nothing else reads the keys of its Service.
                    let service = super::index::service_of(claim);
                    let origin = service.map(|name| Origin::object(Kind::Service, name));
                    let problems =
                        origin.iter().flat_map(|origin| findings.iter().map(|f| entry_problem(origin, f)));
                    contest.problems.extend(problems);
                }
            }
        }
        contest.keep_to_one_namespace();
        for canary in canaries {
            contest.canary(canary);
        }
        contest
    }

    /// The claim whose Ingress decides what counts for the whole route.
    pub(super) fn leader(&self) -> Option<&'a Arc<Claim>> {
        self.main.or_else(|| self.conditional.first().map(|(claim, _)| *claim))
    }

    /// No namespace takes requests from another one.
    fn keep_to_one_namespace(&mut self) {
        let Some(leader) = self.leader() else { return };
        let namespace = &leader.rank.ingress.namespace;
        let (own, foreign) = std::mem::take(&mut self.conditional)
            .into_iter()
            .partition(|(claim, _)| claim.rank.ingress.namespace == *namespace);
        self.conditional = own;
        let foreign: Vec<(&Arc<Claim>, Expression)> = foreign;
        self.problems.extend(foreign.iter().map(|(claim, _)| conflict(leader, claim)));
        if self.main.is_none() {
            self.problems.push(Problem {
                origin: leader.origin.clone(),
                code: Code::RouteConditionalOnly,
                severity: Severity::Warning,
                message: format!(
                    "`{}` leads to Services with `route-acl` only: requests that pass no test get the default backend",
                    leader.key
                ),
                hint: "add a path with the same host and path for a Service without `route-acl`".to_owned(),
            });
        }
    }

    fn canary(&mut self, claim: &'a Arc<Claim>) {
        let problem = |code, message: String, hint: &str| Problem {
            origin: claim.origin.clone(),
            code,
            severity: Severity::Error,
            message: format!("{message}; the canary gets no requests"),
            hint: hint.to_owned(),
        };
        let found = match (self.main, self.canary) {
            _ if claim.key.host == HostMatch::Default => Err(problem(
                Code::CanaryWithoutMain,
                "a `defaultBackend` has no canary".to_owned(),
                "write a rule with the host and path of the main Ingress",
            )),
            (None, _) => Err(problem(
                Code::CanaryWithoutMain,
                format!("no other Ingress has `{}`", claim.key),
                "write the host and path of the main Ingress, with the same path type",
            )),
            (Some(main), _) if main.rank.ingress.namespace != claim.rank.ingress.namespace => Err(problem(
                Code::CanaryWithoutMain,
                format!("`{}` belongs to Ingress `{}` of another namespace", claim.key, main.rank.ingress),
                "move the canary to the namespace of the main Ingress",
            )),
            (_, Some(first)) => Err(problem(
                Code::RouteConflict,
                format!("`{}` has a canary already: Ingress `{}`", claim.key, first.rank.ingress),
                "remove one of the two",
            )),
            (Some(_), None) => Ok(claim),
        };
        match found {
            Ok(claim) => self.canary = Some(claim),
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// The test of the Service of a claim. The default backend has none.
fn test_of(claim: &Claim, inputs: &Inputs<'_>) -> Test {
    if claim.key.host == HostMatch::Default {
        return Test::None;
    }
    let namespace = &claim.rank.ingress.namespace;
    let Ok((service, _)) = resolve(&claim.backend, namespace, &claim.origin, inputs.snapshot) else {
        return Test::None;
    };
    if service.annotations.is_empty() {
        return Test::None;
    }
    let (layer, findings) = Layer::of_annotations(Scope::Service, &service.annotations);
    if let Some(test) = layer.get(&ROUTE_ACL) {
        return Test::Valid(test);
    }
    let is_ours = |finding: &Finding| finding.key.ends_with("/route-acl");
    let invalid = findings.iter().any(|f| is_ours(f) && matches!(f.kind, FindingKind::Invalid(_)));
    if invalid { Test::Invalid(findings) } else { Test::None }
}

/// What is wrong with a claim that another one keeps from having any effect.
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
