//! The TLS listener: versions, ciphers, ALPN, client certificates.

use crate::model::{Asset, ClientCheck};

/// TLS settings of the HTTPS listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsListener {
    /// The lowest version, as HAProxy writes it.
    pub min_version: &'static str,
    /// Ciphers up to TLS 1.2, in OpenSSL's language (checked); empty for the library's own.
    pub ciphers: String,
    /// Cipher suites of TLS 1.3; none for the library's own.
    pub cipher_suites: Vec<&'static str>,
    /// Protocols, the preferred one first.
    pub alpn: Vec<&'static str>,
    /// Refuse server names without certificate.
    pub strict_sni: bool,
    /// What certificates of clients are checked against, for hosts that do not say so themselves.
    pub check: Option<ClientCheck>,
    /// Signs certificates for server names without one.
    pub signer: Option<Asset>,
}

impl Default for TlsListener {
    fn default() -> Self {
        Self {
            min_version: "TLSv1.2",
            ciphers: String::new(),
            cipher_suites: Vec::new(),
            alpn: vec!["h2", "http/1.1"],
            strict_sni: false,
            check: None,
            signer: None,
        }
    }
}

impl TlsListener {
    /// Adds the files that the listener refers to.
    pub(super) fn collect_assets(&self, assets: &mut Vec<Asset>) {
        let check = self.check.iter().flat_map(|check| [Some(&check.authority), check.revoked.as_ref()]);
        assets.extend(check.flatten().chain(&self.signer).cloned());
    }
}
