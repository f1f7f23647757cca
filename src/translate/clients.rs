//! Certificates of clients: which Ingress says what a host asks for, and what the Secrets hold.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::authority::{authorities, revocations};
use super::facts::Rank;
use super::host::host_match;
use super::index::{Dirty, Index};
use super::notes::Notes;
use crate::cluster::{ObjectName, Origin, Secret, Snapshot};
use crate::model::{Asset, AssetKind, ClientCheck, Need};
use crate::options::tls::{CLIENT_CA, CLIENT_CRL, CLIENT_CRT_OPTIONAL};
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

/// What an Ingress or the ConfigMap says about certificates of clients, and what is wrong with it; `None` when nothing is said.
/// A tenant must not name Secrets of others, so with `own_only` they are in the namespace of the object.
pub(super) fn secrets_of(
    layer: &Layer,
    object: &Origin,
    own_only: bool,
) -> (Option<Option<ClientSecrets>>, Vec<Problem>) {
    let mut problems = Vec::new();
    let namespace = object.object.name.namespace.clone();
    let mut secret = |key: &Key<crate::options::value::ObjectRef>| {
        let name = layer.get(key)?.in_namespace(&namespace);
        let written = layer.written_as(key).map_or(key.entry.name, AsRef::as_ref);
        if own_only && name.namespace != namespace {
            problems.push(Problem {
                origin: object.at(written),
                code: Code::SecretForbidden,
                severity: Severity::Error,
                message: format!(
                    "Secret `{name}` is of another namespace; all requests of the hosts are refused"
                ),
                hint: "put the Secret into the namespace of the Ingress".to_owned(),
            });
            return Some(None);
        }
        Some(Some(name))
    };
    let (ca, crl) = (secret(&CLIENT_CA), secret(&CLIENT_CRL));
    if layer.refuses(&CLIENT_CA) || layer.refuses(&CLIENT_CRL) {
        return (Some(None), problems);
    }
    let secrets = match (ca, crl) {
        (Some(Some(ca)), None) => Some(Some(ClientSecrets { ca, crl: None })),
        (Some(Some(ca)), Some(Some(crl))) => Some(Some(ClientSecrets { ca, crl: Some(crl) })),
        (Some(_), _) => Some(None),
        (None, crl) => {
            let mut needless = |written: Option<&Arc<str>>| {
                problems.extend(written.map(|written| Problem {
                    origin: object.at(written.clone()),
                    code: Code::KeyIneffective,
                    severity: Severity::Warning,
                    message: format!("`{written}` has no effect without `client-ca` on the same object"),
                    hint: "add `client-ca` with the Secret of the authority".to_owned(),
                }));
            };
            if crl.is_some() {
                needless(layer.written_as(&CLIENT_CRL));
            }
            // In the ConfigMap it is the default of all Ingresses.
            if own_only {
                needless(layer.written_as(&CLIENT_CRT_OPTIONAL));
            }
            None
        }
    };
    (secrets, problems)
}

/// What an Ingress says for the hosts of its rules.
pub(super) fn claim_of(
    layer: &Layer,
    object: &Origin,
    rank: Rank,
    hosts: BTreeSet<Arc<str>>,
) -> (Option<ClientClaim>, Vec<Problem>) {
    let (secrets, problems) = secrets_of(layer, object, true);
    let written = layer.written_as(&CLIENT_CA).map_or(CLIENT_CA.entry.name, AsRef::as_ref);
    let claim = secrets.map(|secrets| ClientClaim {
        rank,
        hosts,
        secrets,
        optional: layer.get(&CLIENT_CRT_OPTIONAL),
        origin: object.at(written),
    });
    (claim, problems)
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
    if index.client_rules.get(&key) == rule.as_ref() {
        return;
    }
    match rule {
        Some(rule) => _ = index.client_rules.insert(key.clone(), rule),
        None => _ = index.client_rules.remove(&key),
    }
    dirty
        .certificates
        .extend(index.tls_winners.get(host).into_iter().flat_map(|winners| winners.values().cloned()));
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
