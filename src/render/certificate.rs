//! Certificates: a file each, and a line in the list of the HTTPS listener.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::{Paths, escape};
use crate::model::{Asset, Certificate, CertificateKey, ClientCheck};
use crate::plan::CertificateText;

/// File name of a certificate: names cannot contain `_`, so no two Secrets share one, and none is `default.pem`.
pub(super) fn file(key: &CertificateKey) -> Arc<str> {
    let mut name = match &key.secret {
        Some(secret) => format!("{}_{}", secret.namespace, secret.name),
        None => "_default".to_owned(),
    };
    if let Some(check) = key.check {
        let _ = write!(name, "_{:010x}", check >> 24);
    }
    escape::file_name(&format!("{name}.pem")).into()
}

/// The texts of a certificate; `None` when it is for no server name (without filters HAProxy would use it for all the names
/// in it).
pub(super) fn render(certificate: &Certificate, paths: &Paths<'_>) -> Option<CertificateText> {
    let filters: Vec<&str> = certificate.hosts.iter().filter_map(|host| escape::sni_filter(host)).collect();
    if filters.is_empty() {
        return None;
    }
    let mut text = text(&certificate.pem, filters.join(" ").into());
    if let Some(check) = &certificate.check {
        text.options = options(check, paths).into();
        text.assets = assets(check).cloned().collect();
    }
    Some(text)
}

/// The default certificate: a dedicated first line of the list. Its filter is a name that no client asks for, so its own
/// names never shadow another certificate's.
pub(super) fn default(pem: &Bytes) -> CertificateText {
    text(pem, CertificateText::DEFAULT_FILTER.into())
}

fn text(pem: &Bytes, filters: Arc<str>) -> CertificateText {
    let digest = Sha256::digest(pem).into();
    CertificateText { digest, pem: Some(pem.clone()), options: "".into(), filters, assets: Vec::new() }
}

/// How clients are checked, as keywords of a `bind` line and of a line of the list.
pub(super) fn options(check: &ClientCheck, paths: &Paths<'_>) -> String {
    let mut text = format!("ca-file {}", paths.asset(&check.authority));
    if let Some(revoked) = &check.revoked {
        let _ = write!(text, " crl-file {}", paths.asset(revoked));
    }
    text.push_str(if check.required { " verify required" } else { " verify optional" });
    text
}

fn assets(check: &ClientCheck) -> impl Iterator<Item = &Asset> {
    std::iter::once(&check.authority).chain(&check.revoked)
}
