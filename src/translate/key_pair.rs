//! Certificate and private key of a TLS Secret, checked and in one canonical PEM.

use std::sync::Arc;

use bytes::Bytes;
use rustls::SignatureAlgorithm;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::{Error, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::prelude::FromDer;
use x509_parser::x509::SubjectPublicKeyInfo;

use super::pem::encode;
use crate::cluster::Secret;
use crate::model::KeyType;

/// A usable certificate with its key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct KeyPair {
    pub(super) key_type: KeyType,
    /// Certificates, then the key; no blank line, no text outside the blocks.
    pub(super) pem: Bytes,
}

/// What was read from a Secret.
#[derive(Clone, Default)]
pub(super) enum Parsed {
    /// The Secret does not exist.
    #[default]
    Missing,
    /// The Secret as it was, and what it holds or why it cannot be used.
    Read(Arc<Secret>, Result<KeyPair, String>),
}

impl Parsed {
    /// Reads the Secret again unless it is the same as before.
    pub(super) fn refresh(&mut self, secret: Option<&Arc<Secret>>) {
        match secret {
            None => *self = Self::Missing,
            Some(secret) => {
                if !matches!(self, Self::Read(old, _) if Arc::ptr_eq(old, secret) || old == secret) {
                    *self = Self::Read(secret.clone(), parse(secret));
                }
            }
        }
    }

    /// The certificate and key, when usable.
    pub(super) fn key_pair(&self) -> Option<&KeyPair> {
        match self {
            Self::Read(_, Ok(pair)) => Some(pair),
            Self::Read(_, Err(_)) | Self::Missing => None,
        }
    }

    /// The key type, when usable.
    pub(super) fn key_type(&self) -> Option<KeyType> {
        self.key_pair().map(|pair| pair.key_type)
    }
}

impl std::fmt::Debug for Parsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("Missing"),
            Self::Read(secret, Ok(pair)) => write!(f, "Read({}, {:?})", secret.name, pair.key_type),
            Self::Read(secret, Err(reason)) => write!(f, "Read({}, {reason})", secret.name),
        }
    }
}

/// Reads `tls.crt` and `tls.key`; the reason says what is wrong and never shows what is in them.
pub(super) fn parse(secret: &Secret) -> Result<KeyPair, String> {
    let entry = |key: &str| match secret.data.get(key) {
        Some(bytes) if !bytes.trim_ascii().is_empty() => Ok(bytes),
        Some(_) => Err(format!("`{key}` is empty")),
        None => Err(format!("it has no `{key}`")),
    };
    let (certificates, key) = (entry("tls.crt")?, entry("tls.key")?);

    let mut pem = String::new();
    let mut leaf_key = None;
    for (i, certificate) in CertificateDer::pem_slice_iter(certificates).enumerate() {
        let certificate = certificate.map_err(|e| format!("`tls.crt` {}", pem_reason(&e)))?;
        let (rest, x509) = x509_parser::parse_x509_certificate(&certificate)
            .map_err(|_| format!("certificate {} in `tls.crt` is not a valid X.509 certificate", i + 1))?;
        if !rest.is_empty() {
            return Err(format!("certificate {} in `tls.crt` has extra bytes at its end", i + 1));
        }
        if i == 0 {
            leaf_key = Some(x509.public_key().subject_public_key.data.to_vec());
        }
        encode("CERTIFICATE", &certificate, &mut pem);
    }
    let Some(leaf_key) = leaf_key else { return Err("`tls.crt` holds no PEM certificate".to_owned()) };

    let key = PrivateKeyDer::from_pem_slice(key).map_err(|e| match e {
        Error::NoItemsFound => "`tls.key` holds no PEM private key without passphrase".to_owned(),
        e => format!("`tls.key` {}", pem_reason(&e)),
    })?;
    let signing = any_supported_type(&key).map_err(|_| {
        "`tls.key` is not a private key that can be used (RSA of 2048 to 8192 bits, P-256, P-384, Ed25519)".to_owned()
    })?;
    // The bits of the public key are compared, not its whole description: old tools leave out its NULL parameters.
    let public = signing.public_key();
    let matches = public.as_ref().is_some_and(|spki| {
        SubjectPublicKeyInfo::from_der(spki).is_ok_and(|(_, spki)| *spki.subject_public_key.data == *leaf_key)
    });
    if !matches {
        return Err("`tls.key` does not belong to the first certificate in `tls.crt`".to_owned());
    }
    let key_type = if signing.algorithm() == SignatureAlgorithm::RSA { KeyType::Rsa } else { KeyType::Ecdsa };
    let label = match key {
        PrivateKeyDer::Pkcs1(_) => "RSA PRIVATE KEY",
        PrivateKeyDer::Sec1(_) => "EC PRIVATE KEY",
        _ => "PRIVATE KEY",
    };
    encode(label, key.secret_der(), &mut pem);
    Ok(KeyPair { key_type, pem: pem.into() })
}

/// Our own words: some errors of the parser carry a line of the file, which may hold key material.
pub(super) fn pem_reason(error: &Error) -> &'static str {
    match error {
        Error::MissingSectionEnd { .. } => "has a PEM block without END line (were the line breaks lost?)",
        Error::IllegalSectionStart { .. } => "has a PEM block with a broken BEGIN line",
        Error::Base64Decode(_) => "has a PEM block that is not valid base64",
        _ => "is not valid PEM",
    }
}

#[cfg(test)]
mod tests;
