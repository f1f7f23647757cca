//! Certificates: a file each, and a line in the list of the HTTPS listener.

use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::escape;
use crate::cluster::ObjectName;
use crate::model::Certificate;
use crate::plan::CertificateText;

/// File name of a Secret's certificate: names cannot contain `_`, so no two Secrets share one, and none is `default.pem`.
pub(super) fn file(secret: &ObjectName) -> Arc<str> {
    escape::file_name(&format!("{}_{}.pem", secret.namespace, secret.name)).into()
}

/// The texts of a certificate; `None` when it is for no server name (without filters HAProxy would use it for all the names
/// in it).
pub(super) fn render(certificate: &Certificate) -> Option<CertificateText> {
    let filters: Vec<&str> = certificate.hosts.iter().filter_map(|host| escape::sni_filter(host)).collect();
    (!filters.is_empty()).then(|| text(&certificate.pem, filters.join(" ").into()))
}

/// The default certificate: a dedicated first line of the list. Its filter is a name that no client asks for, so its own
/// names never shadow another certificate's.
pub(super) fn default(pem: &Bytes) -> CertificateText {
    text(pem, CertificateText::DEFAULT_FILTER.into())
}

fn text(pem: &Bytes, filters: Arc<str>) -> CertificateText {
    CertificateText { digest: Sha256::digest(pem).into(), pem: Some(pem.clone()), filters }
}
