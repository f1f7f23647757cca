//! Certificates: what a Secret holds, which one a host gets, and the certificate unit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use super::Settings;
use super::facts::TlsClaim;
use super::host::host_match;
use super::index::{Dirty, Index, SecretUse};
use super::key_pair::Parsed;
use crate::cluster::{Kind, ObjectName, Origin, Snapshot};
use crate::model::{Certificate, CertificateKey, ClientCheck, KeyType};
use crate::options::Layer;
use crate::options::tls::SSL_CERTIFICATE;
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
    if used.users.is_empty() && used.is_default.is_none() {
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
    let default = used.is_default.clone();
    users.chain(default.map(|origin| problem(origin, "a generated certificate takes its place"))).collect()
}

/// The Secret of the default certificate, and where it is named: the flag comes before the ConfigMap.
pub(super) fn default_secret(settings: &Settings, config: &Layer) -> Option<(ObjectName, Origin)> {
    if let Some(secret) = &settings.default_certificate {
        let flag = ObjectName::cluster("--default-ssl-certificate");
        return Some((secret.clone(), Origin::object(Kind::Flag, flag)));
    }
    let config_map = settings.config_map.as_ref()?;
    let secret = config.get(&SSL_CERTIFICATE)?.in_namespace(&config_map.namespace);
    let origin = Origin::object(Kind::ConfigMap, config_map.clone());
    Some((secret, origin.at(config.written_as(&SSL_CERTIFICATE)?.clone())))
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

/// The Secrets of the wildcard above a host.
fn wildcard_of<'a>(host: &str, index: &'a Index) -> Option<&'a BTreeMap<KeyType, ObjectName>> {
    let (label, domain) = host.split_once('.')?;
    if label == "*" { None } else { index.tls_winners.get(format!("*.{domain}").as_str()) }
}

/// The Secrets that HAProxy may show for a host: its own, and those of the wildcard above it.
pub(super) fn shown_for<'a>(host: &str, index: &'a Index) -> impl Iterator<Item = &'a ObjectName> {
    let both = [index.tls_winners.get(host), wildcard_of(host, index)];
    both.into_iter().flatten().flat_map(BTreeMap::values)
}

/// Hosts that check clients and have no certificate of their own: what they are shown gets a line for them.
fn guests(index: &Index) -> impl Iterator<Item = &Arc<str>> {
    index.client_claims.keys().filter(|host| {
        let has_check = index.client_rules.get(&host_match(host)).is_some_and(|rule| rule.check.is_some());
        has_check && !index.tls_winners.contains_key(*host)
    })
}

/// The certificate units of a Secret: one for its open hosts, one for each way in which others check clients.
pub(super) fn compute(name: &ObjectName, index: &Index) -> Vec<Certificate> {
    let Some(used) = index.secrets.get(name) else { return Vec::new() };
    let Some(pair) = used.parsed.key_pair() else { return Vec::new() };
    let guests = guests(index).filter(|host| {
        wildcard_of(host, index).is_some_and(|shown| shown.values().any(|shown| shown == name))
    });
    units(Some(name), Some(pair.key_type), &pair.pem, used.hosts.iter().chain(guests), index)
}

/// The units of the default certificate, for hosts that check clients and are shown no other.
pub(super) fn compute_default(pem: &Bytes, index: &Index) -> Vec<Certificate> {
    let hosts = guests(index).filter(|host| wildcard_of(host, index).is_none());
    units(None, None, pem, hosts, index)
}

fn units<'a>(
    secret: Option<&ObjectName>,
    key_type: Option<KeyType>,
    pem: &Bytes,
    hosts: impl Iterator<Item = &'a Arc<str>>,
    index: &Index,
) -> Vec<Certificate> {
    let mut units: BTreeMap<CertificateKey, Certificate> = BTreeMap::new();
    for host in hosts {
        let rule =
            if index.client_rules.is_empty() { None } else { index.client_rules.get(&host_match(host)) };
        let check = rule.and_then(|rule| rule.check.as_ref());
        let key = CertificateKey { secret: secret.cloned(), check: check.map(ClientCheck::fingerprint) };
        let unit = units.entry(key.clone()).or_insert_with(|| Certificate {
            key,
            key_type,
            pem: pem.clone(),
            hosts: BTreeSet::new(),
            check: check.cloned(),
        });
        unit.hosts.insert(host.clone());
    }
    units.into_values().collect()
}
