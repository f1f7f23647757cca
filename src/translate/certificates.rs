//! Certificates: what a Secret holds, which one a host gets, and the certificate unit.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::facts::TlsClaim;
use super::index::{Dirty, Index, SecretUse};
use super::key_pair::Parsed;
use crate::cluster::{Kind, ObjectName, Origin, Snapshot};
use crate::model::{Certificate, KeyType};
use crate::problem::{Code, Problem, Severity};

/// Reads a Secret again if it changed, and says what is wrong with it at every place that refers to it. Forgets it when
/// nothing does.
pub(super) fn refresh_secret(
    name: &ObjectName,
    index: &mut Index,
    snapshot: &Snapshot,
    dirty: &mut Dirty,
) -> Vec<Problem> {
    let Some(used) = index.secrets.get_mut(name) else { return Vec::new() };
    // Its hosts are asked again too, and its unit goes with the last of them.
    if used.users.is_empty() && !used.is_default {
        dirty.tls_hosts.extend(used.hosts.iter().cloned());
        used.parsed = Parsed::Missing;
        return Vec::new();
    }
    let old_type = used.parsed.key_type();
    used.parsed.refresh(snapshot.secrets.get(name));
    if used.parsed.key_type() != old_type {
        dirty.tls_hosts.extend(used.users.values().flat_map(|claim| claim.hosts.iter().cloned()));
    }
    dirty.certificates.insert(name.clone());
    problems_of(name, used)
}

fn problems_of(name: &ObjectName, used: &SecretUse) -> Vec<Problem> {
    let (code, message, hint) = match &used.parsed {
        Parsed::Read(_, Ok(_)) => return Vec::new(),
        Parsed::Missing => (
            Code::SecretNotFound,
            format!("Secret `{name}` does not exist"),
            "create the Secret (type `kubernetes.io/tls`) in the namespace of the Ingress",
        ),
        Parsed::Read(_, Err(reason)) => (
            Code::CertificateInvalid,
            format!("Secret `{name}` cannot be used: {reason}"),
            "put the certificate chain into `tls.crt` and its private key into `tls.key`, both PEM",
        ),
    };
    let problem = |origin, effect| Problem {
        origin,
        code,
        severity: Severity::Error,
        message: format!("{message}; {effect}"),
        hint: hint.to_owned(),
    };
    let users = used
        .users
        .values()
        .map(|claim| problem(claim.origin.clone(), "its hosts get the default certificate"));
    let flag = used.is_default.then(|| {
        let origin = Origin::object(Kind::Flag, ObjectName::cluster("--default-ssl-certificate"));
        problem(origin, "a generated certificate takes its place")
    });
    users.chain(flag).collect()
}

/// Decides which Secrets are the certificates of a host: of each key type the first usable one.
pub(super) fn elect(host: &Arc<str>, index: &mut Index, dirty: &mut Dirty) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut winners: BTreeMap<KeyType, &Arc<TlsClaim>> = BTreeMap::new();
    for claim in index.tls_claims.get(host).into_iter().flatten() {
        let Some(key_type) = index.secrets.get(&claim.secret).and_then(|used| used.parsed.key_type()) else {
            continue;
        };
        let winner = *winners.entry(key_type).or_insert(claim);
        if winner.secret != claim.secret {
            problems.push(conflict(host, key_type, winner, claim));
        }
    }
    let winners: BTreeMap<KeyType, ObjectName> =
        winners.into_iter().map(|(key_type, claim)| (key_type, claim.secret.clone())).collect();
    let old = index.tls_winners.get(host).cloned().unwrap_or_default();
    if winners == old {
        return problems;
    }
    for secret in old.values() {
        if let Some(used) = index.secrets.get_mut(secret) {
            used.hosts.remove(host);
        }
        dirty.certificates.insert(secret.clone());
    }
    for secret in winners.values() {
        if let Some(used) = index.secrets.get_mut(secret) {
            used.hosts.insert(host.clone());
        }
        dirty.certificates.insert(secret.clone());
    }
    if winners.is_empty() {
        index.tls_winners.remove(host);
    } else {
        index.tls_winners.insert(host.clone(), winners);
    }
    problems
}

fn conflict(host: &str, key_type: KeyType, winner: &TlsClaim, loser: &TlsClaim) -> Problem {
    let kind = match key_type {
        KeyType::Rsa => "RSA",
        KeyType::Ecdsa => "ECDSA",
    };
    Problem {
        origin: loser.origin.clone(),
        code: Code::CertificateConflict,
        severity: Severity::Error,
        message: format!(
            "Secret `{}` is not used for `{host}`: Ingress `{}` already brings a certificate with {kind} key in Secret `{}`",
            loser.secret, winner.rank.ingress, winner.secret
        ),
        hint: "name the host in `spec.tls` of one Ingress only, or use the same Secret".to_owned(),
    }
}

/// The certificate unit of a Secret; `None` when it is not the certificate of any host.
pub(super) fn compute(name: &ObjectName, index: &Index) -> Option<Certificate> {
    let used = index.secrets.get(name)?;
    let pair = used.parsed.key_pair()?;
    (!used.hosts.is_empty()).then(|| Certificate {
        secret: name.clone(),
        key_type: pair.key_type,
        pem: pair.pem.clone(),
        hosts: used.hosts.clone(),
    })
}
