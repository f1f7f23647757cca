//! Certificates of clients: which Ingress says what a host asks for, and what the Secrets hold.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::authority::{authorities, revocations};
use super::certificates::shown_for;
use super::facts::Rank;
use super::host::host_match;
use super::index::{Dirty, Index};
use super::notes::Notes;
use crate::cluster::{Kind, ObjectName, Origin, Secret, Snapshot};
use crate::model::{Asset, AssetKind, ClientCheck, Need};
use crate::options::tls::{CLIENT_CA, CLIENT_CRL, CLIENT_CRT_OPTIONAL};
use crate::options::value::ObjectRef;
use crate::options::{Key, Layer};
use crate::problem::{Code, Problem, Severity};

/// The Secrets that say whom to let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientSecrets {
    ca: ObjectName,
    crl: Option<ObjectName>,
}

/// One Ingress wants clients of its hosts to show certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientClaim {
    pub(super) rank: Rank,
    pub(super) hosts: BTreeSet<Arc<str>>,
    /// `None` when it cannot be told whom to let in: nobody then.
    secrets: Option<ClientSecrets>,
    /// What it says about clients without certificate.
    optional: Option<bool>,
    origin: Origin,
}

/// What a host asks of clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientRule {
    /// `None`: nobody gets in.
    pub(super) check: Option<ClientCheck>,
}

/// What an Ingress or the ConfigMap says about certificates of clients.
pub(super) enum Asked {
    /// Nothing.
    Nothing,
    /// Something that cannot be told: nobody gets in.
    Unclear,
    /// To check them with these Secrets.
    Check(ClientSecrets),
}

/// What an Ingress or the ConfigMap says about certificates of clients, and what is wrong with it. A tenant must not name
/// Secrets of others, so on an Ingress they are in its namespace.
pub(super) fn asked_by(layer: &Layer, object: &Origin) -> (Asked, Vec<Problem>) {
    let is_tenant = object.object.kind == Kind::Ingress;
    let namespace = &object.object.name.namespace;
    let mut problems = Vec::new();
    let mut secret = |key: &Key<ObjectRef>| {
        let name = layer.get(key)?.in_namespace(namespace);
        let is_allowed = !is_tenant || name.namespace == *namespace;
        if !is_allowed {
            problems.push(Problem {
                origin: origin_of(key, layer, object),
                code: Code::SecretForbidden,
                severity: Severity::Error,
                message: format!(
                    "Secret `{name}` is of another namespace; all requests of the hosts are refused"
                ),
                hint: "put the Secret into the namespace of the Ingress".to_owned(),
            });
        }
        Some(is_allowed.then_some(name))
    };
    let (ca, crl) = (secret(&CLIENT_CA), secret(&CLIENT_CRL));
    if layer.refuses(&CLIENT_CA) || layer.refuses(&CLIENT_CRL) {
        return (Asked::Unclear, problems);
    }
    let asked = match (ca, crl) {
        (None, crl) => {
            // Whether clients may do without is, in the ConfigMap, the default of all Ingresses.
            let is_optional = is_tenant && layer.get(&CLIENT_CRT_OPTIONAL).is_some();
            let needless = [
                crl.map(|_| origin_of(&CLIENT_CRL, layer, object)),
                is_optional.then(|| origin_of(&CLIENT_CRT_OPTIONAL, layer, object)),
            ];
            problems.extend(needless.into_iter().flatten().map(|origin| Problem {
                origin,
                code: Code::KeyIneffective,
                severity: Severity::Warning,
                message: "it has no effect without `client-ca` on the same object".to_owned(),
                hint: "add `client-ca` with the Secret of the authority".to_owned(),
            }));
            Asked::Nothing
        }
        (Some(Some(ca)), None) => Asked::Check(ClientSecrets { ca, crl: None }),
        (Some(Some(ca)), Some(Some(crl))) => Asked::Check(ClientSecrets { ca, crl: Some(crl) }),
        (Some(_), _) => Asked::Unclear,
    };
    (asked, problems)
}

/// Where a key is written.
pub(super) fn origin_of<T>(key: &Key<T>, layer: &Layer, object: &Origin) -> Origin {
    object.at(layer.written_as(key).map_or(key.entry.name, AsRef::as_ref))
}

/// What an Ingress says for the hosts of its rules.
pub(super) fn claim_of(
    layer: &Layer,
    object: &Origin,
    rank: Rank,
    hosts: BTreeSet<Arc<str>>,
) -> (Option<ClientClaim>, Vec<Problem>) {
    let (asked, problems) = asked_by(layer, object);
    let secrets = match asked {
        Asked::Nothing => return (None, problems),
        Asked::Unclear => None,
        Asked::Check(secrets) => Some(secrets),
    };
    let optional = layer.get(&CLIENT_CRT_OPTIONAL);
    let origin = origin_of(&CLIENT_CA, layer, object);
    (Some(ClientClaim { rank, hosts, secrets, optional, origin }), problems)
}

/// Decides what a host asks of clients: the first claim does. A change touches its certificates and its routes.
pub(super) fn elect(
    host: &Arc<str>,
    index: &mut Index,
    (snapshot, config): (&Snapshot, &Layer),
    notes: &mut Notes,
    dirty: &mut Dirty,
) {
    let key = host_match(host);
    let claims = index.client_claims.get(host).map(Vec::as_slice).unwrap_or_default();
    let rule = claims.first().map(|winner| {
        let differs = |loser: &&Arc<ClientClaim>| {
            (&loser.secrets, loser.optional) != (&winner.secrets, winner.optional)
        };
        notes.problems.extend(claims.iter().filter(differs).map(|loser| conflict(host, winner, loser)));
        let optional = winner.optional.or_else(|| config.get(&CLIENT_CRT_OPTIONAL));
        let read = |secrets| read(secrets, !optional.unwrap_or(false), snapshot, &winner.origin, notes);
        ClientRule { check: winner.secrets.as_ref().and_then(read) }
    });
    if rule.as_ref().is_some_and(|rule| rule.check.is_some()) {
        notes.needs.insert(Need::ClientChecks);
    }
    // Who has no certificate of its own is shown that of a wildcard, with a line of its own, as long as it checks clients.
    if !index.client_claims.is_empty() || !index.client_rules.is_empty() {
        dirty.certificates.extend(shown_for(host, index).cloned());
    }
    if index.client_rules.get(&key) == rule.as_ref() {
        return;
    }
    match rule {
        Some(rule) => _ = index.client_rules.insert(key.clone(), rule),
        None => _ = index.client_rules.remove(&key),
    }
    dirty.routes.extend(index.routes_of(&key).cloned());
}

/// Reads the Secrets; `None`, with a Problem, when one cannot be used.
pub(super) fn read(
    secrets: &ClientSecrets,
    required: bool,
    snapshot: &Snapshot,
    origin: &Origin,
    notes: &mut Notes,
) -> Option<ClientCheck> {
    let mut asset = |name: &ObjectName, kind, parse: fn(&Secret) -> Result<_, String>| {
        notes.secrets.insert(name.clone());
        let secret = snapshot.secrets.get(name);
        let (code, reason) = match secret.map(|secret| parse(secret)) {
            Some(Ok(pem)) => {
                return Some(Asset::new(kind, &format!("{}_{}", name.namespace, name.name), pem));
            }
            Some(Err(reason)) => (Code::AuthorityInvalid, format!("cannot be used: {reason}")),
            None => (Code::SecretNotFound, "does not exist".to_owned()),
        };
        notes.problems.push(Problem {
            origin: origin.clone(),
            code,
            severity: Severity::Error,
            message: format!("Secret `{name}` {reason}; requests that it should check are refused"),
            hint: "put the certificates of the authorities into `ca.crt`, revocation lists into `ca.crl`, both PEM"
                .to_owned(),
        });
        None
    };
    let authority = asset(&secrets.ca, AssetKind::Authority, authorities);
    let revoked = secrets.crl.as_ref().map(|crl| asset(crl, AssetKind::Revocation, revocations));
    let authority = authority?;
    match revoked {
        None => Some(ClientCheck { authority, revoked: None, required }),
        Some(revoked) => Some(ClientCheck { authority, revoked: Some(revoked?), required }),
    }
}

fn conflict(host: &str, winner: &ClientClaim, loser: &ClientClaim) -> Problem {
    Problem {
        origin: loser.origin.clone(),
        code: Code::ClientCheckConflict,
        severity: Severity::Error,
        message: format!(
            "it has no effect for `{host}`: Ingress `{}` already says what clients must show",
            winner.rank.ingress
        ),
        hint: "write the same `client-ca`, `client-crl` and `client-crt-optional` on both Ingresses, or on one only"
            .to_owned(),
    }
}
