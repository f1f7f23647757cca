//! The authorities in a Secret, checked and in one canonical PEM.

use bytes::Bytes;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::cluster::Secret;
use crate::translate::pem::encode;

/// The certificates in `ca.crt`, else in `tls.crt`; the reason says what is wrong.
pub(super) fn authorities(secret: &Secret) -> Result<Bytes, String> {
    let entry = |key| Some((key, secret.data.get(key).filter(|bytes| !bytes.trim_ascii().is_empty())?));
    let (key, bytes) =
        entry("ca.crt").or_else(|| entry("tls.crt")).ok_or("it has neither `ca.crt` nor `tls.crt`")?;
    let mut pem = String::new();
    for (i, certificate) in CertificateDer::pem_slice_iter(bytes).enumerate() {
        let certificate = certificate.map_err(|_| format!("`{key}` is not valid PEM"))?;
        let invalid = || format!("certificate {} in `{key}` is not a valid X.509 certificate", i + 1);
        match x509_parser::parse_x509_certificate(&certificate) {
            Ok(([], _)) => {}
            _ => return Err(invalid()),
        }
        encode("CERTIFICATE", &certificate, &mut pem);
    }
    if pem.is_empty() { Err(format!("`{key}` holds no PEM certificate")) } else { Ok(pem.into()) }
}
