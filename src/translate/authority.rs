//! Authorities and revocation lists from Secrets, checked and in one canonical PEM.

use bytes::Bytes;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};
use x509_parser::parse_x509_crl;

use super::key_pair::pem_reason;
use super::pem::encode;
use crate::cluster::Secret;

/// The certificates in `ca.crt`, else in `tls.crt`; the reason says what is wrong and never shows what is in them.
pub(super) fn authorities(secret: &Secret) -> Result<Bytes, String> {
    let key = if secret.data.contains_key("ca.crt") { "ca.crt" } else { "tls.crt" };
    let Some(bytes) = secret.data.get(key) else {
        return Err("it has neither `ca.crt` nor `tls.crt`".to_owned());
    };
    let mut pem = String::new();
    for (i, certificate) in CertificateDer::pem_slice_iter(bytes).enumerate() {
        let certificate = certificate.map_err(|e| format!("`{key}` {}", pem_reason(&e)))?;
        match x509_parser::parse_x509_certificate(&certificate) {
            Ok(([], _)) => encode("CERTIFICATE", &certificate, &mut pem),
            _ => return Err(format!("certificate {} in `{key}` is not a valid X.509 certificate", i + 1)),
        }
    }
    if pem.is_empty() { Err(format!("`{key}` holds no PEM certificate")) } else { Ok(pem.into()) }
}

/// The lists in `ca.crl`.
pub(super) fn revocations(secret: &Secret) -> Result<Bytes, String> {
    let Some(bytes) = secret.data.get("ca.crl") else { return Err("it has no `ca.crl`".to_owned()) };
    let mut pem = String::new();
    for (i, list) in CertificateRevocationListDer::pem_slice_iter(bytes).enumerate() {
        let list = list.map_err(|e| format!("`ca.crl` {}", pem_reason(&e)))?;
        match parse_x509_crl(&list) {
            Ok(([], _)) => encode("X509 CRL", &list, &mut pem),
            _ => return Err(format!("list {} in `ca.crl` is not a valid X.509 revocation list", i + 1)),
        }
    }
    if pem.is_empty() { Err("`ca.crl` holds no PEM revocation list".to_owned()) } else { Ok(pem.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::tests::{EC, EC2, secret_with};

    #[test]
    fn authorities_are_one_or_many_certificates() {
        let both = format!("# a comment\n{}\n\n{}", EC.0, EC2.0);
        let found = authorities(&secret_with("a/b", &[("ca.crt", &both), ("tls.crt", "x")])).unwrap();
        let found = String::from_utf8(found.to_vec()).unwrap();
        assert_eq!(found.matches("BEGIN CERTIFICATE").count(), 2);
        assert!(!found.contains('#') && !found.contains("\n\n"));
        assert!(authorities(&secret_with("a/b", &[("tls.crt", &EC.0)])).is_ok());
        for (data, reason) in [
            (&[("tls.key", "x")][..], "it has neither `ca.crt` nor `tls.crt`"),
            (&[("ca.crt", "")], "`ca.crt` holds no PEM certificate"),
            (&[("ca.crt", EC.1.as_str())], "`ca.crt` holds no PEM certificate"),
            (
                &[("ca.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")],
                "certificate 1 in `ca.crt` is not a valid X.509 certificate",
            ),
            (
                &[("ca.crt", "-----BEGIN CERTIFICATE-----\nAAAA")],
                "`ca.crt` has a PEM block without END line (were the line breaks lost?)",
            ),
        ] {
            assert_eq!(authorities(&secret_with("a/b", data)), Err(reason.to_owned()));
        }
    }

    #[test]
    fn revocations_are_lists() {
        for (data, reason) in [
            (&[("ca.crt", "x")][..], "it has no `ca.crl`"),
            (&[("ca.crl", EC.0.as_str())], "`ca.crl` holds no PEM revocation list"),
            (
                &[("ca.crl", "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n")],
                "list 1 in `ca.crl` is not a valid X.509 revocation list",
            ),
        ] {
            assert_eq!(revocations(&secret_with("a/b", data)), Err(reason.to_owned()));
        }
    }
}
