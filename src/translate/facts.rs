//! What one Ingress says, independent of every other object: its [`Facts`].

use std::collections::BTreeSet;
use std::sync::Arc;

use super::clients::{ClientClaim, claim_of};
use super::host::{host_match, is_covered, parse_host, path_match};
use crate::cluster::{Ingress, IngressBackend, Kind, ObjectName, Origin, PathType};
use crate::model::{HostMatch, PathMatch, RouteKey, Table};
use crate::options::routing::{CANARY, PATH_TYPE, PathKind};
use crate::options::{Finding, FindingKind, Layer, Scope};
use crate::problem::{Code, Problem, Severity, excerpt};

/// Who comes first: the older Ingress, then by namespace and name, then by position inside the Ingress.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) created: i64,
    pub(super) ingress: ObjectName,
    pub(super) position: usize,
}

/// One Ingress wants requests that match a key to go to a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) rank: Rank,
    pub(super) key: RouteKey,
    pub(super) backend: IngressBackend,
    pub(super) origin: Origin,
    /// The host is covered by `spec.tls` of the same Ingress.
    pub(super) covered: bool,
    /// Its Ingress is a canary.
    pub(super) canary: bool,
    /// The keys of the Ingress.
    pub(super) layer: Arc<Layer>,
}

/// One Ingress wants a Secret to be the certificate of hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TlsClaim {
    pub(super) rank: Rank,
    pub(super) secret: ObjectName,
    pub(super) hosts: BTreeSet<Arc<str>>,
    pub(super) origin: Origin,
}

/// Everything that one Ingress adds to the indexes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) claims: Vec<Arc<Claim>>,
    /// The host of every rule that has one: a known host does not fall through to a less specific one.
    pub(super) hosts: Vec<HostMatch>,
    pub(super) tls: Vec<Arc<TlsClaim>>,
    /// What it asks of clients.
    pub(super) clients: Option<Arc<ClientClaim>>,
    pub(super) problems: Vec<Problem>,
}

/// The problem of an entry that is wrong.
pub(super) fn entry_problem(object: &Origin, finding: &Finding) -> Problem {
    let key = &finding.key;
    let (code, severity, hint) = match &finding.kind {
        FindingKind::Invalid(invalid) => {
            let hint = match invalid.example {
                "" => format!("remove `{key}`"),
                example => format!("write for example `{key}: \"{}\"`", example.escape_debug()),
            };
            (Code::ValueInvalid, Severity::Error, hint)
        }
        FindingKind::Unknown(close) => {
            let hint = match close {
                Some(close) => format!("did you mean `{close}`?"),
                None => "`outrigger options list` shows all keys".to_owned(),
            };
            (Code::KeyUnknown, Severity::Warning, hint)
        }
        FindingKind::Misplaced(_) => {
            (Code::KeyMisplaced, Severity::Warning, format!("move `{key}`, or remove it here"))
        }
    };
    Problem { origin: object.at(key.clone()), code, severity, message: finding.to_string(), hint }
}

/// What this Ingress says.
pub(super) fn facts_of(ingress: &Ingress, table: &Table) -> Facts {
    let mut facts = Facts::default();
    let origin = Origin::object(Kind::Ingress, ingress.name.clone());
    let (layer, findings) = Layer::of_annotations(Scope::Ingress, &ingress.annotations);
    let canary = layer.get(&CANARY);
    let invalid = |finding: &Finding| {
        finding.key.ends_with("/canary") && matches!(finding.kind, FindingKind::Invalid(_))
    };
    let may_be_canary = canary.is_none() && findings.iter().any(invalid);
    let canary = canary.unwrap_or(false);
    let path_kind = layer.get(&PATH_TYPE).unwrap_or_default();
    let layer = Arc::new(layer);
    facts.problems.extend(findings.iter().map(|finding| entry_problem(&origin, finding)));

    let rule_hosts: Vec<Result<Option<Arc<str>>, ()>> = (ingress.rules.iter().enumerate())
        .map(|(i, rule)| match rule.host.as_deref().filter(|host| !host.is_empty()) {
            None => Ok(None),
            Some(text) => {
                facts.host(text, origin.at(format!("spec.rules[{i}].host")), "rule").map(Some).ok_or(())
            }
        })
        .collect();
    let tls_hosts = facts.read_tls(ingress, &origin, &rule_hosts);

    let hosts = rule_hosts.iter().flatten().flatten().cloned().collect();
    let rank = Rank { created: ingress.created, ingress: ingress.name.clone(), position: 0 };
    let (clients, problems) = claim_of(&layer, &origin, rank, hosts);
    facts.clients = clients.map(Arc::new);
    facts.problems.extend(problems);
    if may_be_canary {
        // Whatever it is meant to be, it must not take requests from the main Ingress.
        return facts;
    }

    let rank = |position| Rank { created: ingress.created, ingress: ingress.name.clone(), position };
    let mut claim = |key, backend: &IngressBackend, origin, covered| {
        facts.claims.push(Arc::new(Claim {
            rank: rank(facts.claims.len()),
            key,
            backend: backend.clone(),
            origin,
            covered,
            canary,
            layer: layer.clone(),
        }));
    };
    if let Some(backend) = &ingress.default_backend {
        claim(RouteKey::default_of(table.clone()), backend, origin.at("spec.defaultBackend"), false);
    }
    let mut bad_paths = Vec::new();
    let hint = match path_kind {
        PathKind::Regex => {
            "write a path, or a plain regular expression such as `/user/[0-9]+$`, that starts with `/`"
        }
        _ => "write a path that starts with `/`, without white space, `?` and `#`",
    };
    for (i, (rule, host)) in ingress.rules.iter().zip(rule_hosts).enumerate() {
        let Ok(host) = host else { continue };
        let covered = host.as_deref().is_some_and(|host| is_covered(host, &tls_hosts));
        let host = host.map_or(HostMatch::Any, |host| host_match(&host));
        let regexes = path_kind == PathKind::Regex
            && rule.paths.iter().any(|path| path.path_type == PathType::ImplementationSpecific);
        // A canary is about requests that the main Ingress has anyway. A host with regular expressions needs a root.
        if !canary && (host != HostMatch::Any || regexes) {
            facts.hosts.push(host.clone());
        }
        // A rule without paths sends everything for its host to the default backend of its Ingress (IngressRule in the API
        // documentation); without that, the known host has nothing but the default of the table.
        if let (true, Some(backend)) = (rule.paths.is_empty(), &ingress.default_backend) {
            let key =
                RouteKey { table: table.clone(), host: host.clone(), path: PathMatch::Prefix("".into()) };
            claim(key, backend, origin.at(format!("spec.rules[{i}]")), covered);
        }
        for (j, path) in rule.paths.iter().enumerate() {
            let origin = origin.at(format!("spec.rules[{i}].http.paths[{j}]"));
            match path_match(path, path_kind) {
                Ok(path_match) => {
                    let key = RouteKey { table: table.clone(), host: host.clone(), path: path_match };
                    claim(key, &path.backend, origin, covered);
                }
                Err(reason) => bad_paths.push(Problem {
                    origin,
                    code: Code::PathInvalid,
                    severity: Severity::Error,
                    message: format!(
                        "path `{}` has no effect: {reason}",
                        excerpt(path.path.as_deref().unwrap_or_default(), 100)
                    ),
                    hint: hint.to_owned(),
                }),
            }
        }
    }
    facts.problems.extend(bad_paths);
    facts
}

impl Facts {
    /// A valid host in lower case; else a problem.
    fn host(&mut self, text: &str, origin: Origin, ignored: &str) -> Option<Arc<str>> {
        match parse_host(text) {
            Ok(host) => Some(host),
            Err(reason) => {
                self.problems.push(Problem {
                    origin,
                    code: Code::HostInvalid,
                    severity: Severity::Error,
                    message: format!("host `{}` is not valid and its {ignored} is ignored: {reason}", excerpt(text, 100)),
                    hint: "write a name such as `shop.example.org` or `*.example.org`, or leave `host` out for any host"
                        .to_owned(),
                });
                None
            }
        }
    }

    /// Reads `spec.tls` and returns all of its hosts.
    fn read_tls(
        &mut self,
        ingress: &Ingress,
        origin: &Origin,
        rule_hosts: &[Result<Option<Arc<str>>, ()>],
    ) -> BTreeSet<Arc<str>> {
        let mut all = BTreeSet::new();
        for (i, tls) in ingress.tls.iter().enumerate() {
            let hosts: BTreeSet<Arc<str>> = if tls.hosts.is_empty() {
                rule_hosts.iter().flatten().flatten().cloned().collect()
            } else {
                (tls.hosts.iter().enumerate())
                    .filter_map(|(j, host)| {
                        self.host(host, origin.at(format!("spec.tls[{i}].hosts[{j}]")), "certificate")
                    })
                    .collect()
            };
            all.extend(hosts.iter().cloned());
            if let Some(secret) = tls.secret.as_ref().filter(|secret| !secret.is_empty()) {
                self.tls.push(Arc::new(TlsClaim {
                    rank: Rank { created: ingress.created, ingress: ingress.name.clone(), position: i },
                    secret: ObjectName::new(ingress.name.namespace.clone(), secret.clone()),
                    hosts,
                    origin: origin.at(format!("spec.tls[{i}].secretName")),
                }));
            }
        }
        all
    }
}
