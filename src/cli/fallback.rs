//! The self-signed certificate for when no default certificate is given.
//!
//! It is kept on the state volume, so a restarted controller changes nothing.

use std::path::Path;

use anyhow::Context;
use bytes::Bytes;
use rcgen::{CertificateParams, DnType, KeyPair};

/// The certificate on the volume, or a new one that is then kept there.
pub(super) fn load_or_generate(state: &Path) -> anyhow::Result<Bytes> {
    let path = state.join("self-signed.pem");
    match std::fs::read(&path) {
        Ok(pem) if pem.ends_with(b"-----END PRIVATE KEY-----\n") => return Ok(pem.into()),
        _ => {}
    }
    let pem = generate()?;
    outrigger_init::write_atomic(&path, &pem, 0o640)
        .with_context(|| format!("the self-signed certificate could not be written to {}", path.display()))?;
    tracing::info!("no --default-ssl-certificate: generated a self-signed one");
    Ok(pem)
}

/// A new self-signed certificate and its key as one PEM.
pub(super) fn generate() -> anyhow::Result<Bytes> {
    let mut params = CertificateParams::new(vec!["outrigger.invalid".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "Outrigger self-signed certificate");
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    Ok(Bytes::from(format!(
        "{}{}",
        certificate.pem().replace('\r', ""),
        key.serialize_pem().replace('\r', "")
    )))
}
