//! The TLS listener: versions, ciphers, ALPN, client certificates.

use super::Context;
use crate::cluster::{Kind, Origin};
use crate::model::{Asset, AssetKind, Global};
use crate::options::tls::{
    CLIENT_CA, CLIENT_CRT_OPTIONAL, CLIENT_STRICT_SNI, GENERATE_CERTIFICATES_SIGNER, SSL_CIPHER_SUITES,
    SSL_CIPHERS, SSL_MIN_VERSION, TLS_ALPN,
};
use crate::problem::{Code, Problem, Severity};
use crate::translate::clients::{self, Asked};
use crate::translate::key_pair::parse;
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, global: &mut Global, notes: &mut Notes) {
    let tls = &mut global.tls;
    tls.min_version = context.get(&SSL_MIN_VERSION).unwrap_or(tls.min_version);
    tls.ciphers = context.get(&SSL_CIPHERS).map(|list| list.to_string()).unwrap_or_default();
    tls.cipher_suites = context.get(&SSL_CIPHER_SUITES).unwrap_or_default();
    tls.strict_sni = context.get(&CLIENT_STRICT_SNI).unwrap_or(false);
    if let Some(alpn) = context.get(&TLS_ALPN) {
        tls.alpn = alpn;
    }
    tls.signer = signer(context, notes);

    let Some(config_map) = &context.inputs.settings.config_map else { return };
    let config = context.inputs.config;
    let object = Origin::object(Kind::ConfigMap, config_map.clone());
    let (asked, problems) = clients::asked_by(config, &object);
    notes.problems.extend(problems);
    if let Asked::Check(secrets) = asked {
        let required = !config.get(&CLIENT_CRT_OPTIONAL).unwrap_or(false);
        let origin = clients::origin_of(&CLIENT_CA, config, &object);
        tls.check = clients::read(&secrets, required, context.inputs.snapshot, &origin, notes);
    }
}

/// What signs certificates on the fly; without it their clients get the default certificate.
fn signer(context: &Context<'_>, notes: &mut Notes) -> Option<Asset> {
    let config_map = context.inputs.settings.config_map.as_ref()?;
    let name = context.get(&GENERATE_CERTIFICATES_SIGNER)?.in_namespace(&config_map.namespace);
    notes.secrets.insert(name.clone());
    let secret = context.inputs.snapshot.secrets.get(&name);
    let (code, reason) = match secret.map(|secret| parse(secret)) {
        Some(Ok(pair)) => {
            let stem = format!("{}_{}", name.namespace, name.name);
            return Some(Asset::new(AssetKind::KeyPair, &stem, pair.pem));
        }
        Some(Err(reason)) => (Code::AuthorityInvalid, format!("cannot be used: {reason}")),
        None => (Code::SecretNotFound, "does not exist".to_owned()),
    };
    notes.problems.push(Problem {
        origin: context.origin(&GENERATE_CERTIFICATES_SIGNER)?,
        code,
        severity: Severity::Error,
        message: format!("Secret `{name}` {reason}; unknown server names get the default certificate"),
        hint:
            "put the certificate of the authority into `tls.crt` and its private key into `tls.key`, both PEM"
                .to_owned(),
    });
    None
}
