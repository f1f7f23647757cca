//! The TLS listener: versions, ciphers, ALPN, client certificates.

/// TLS settings of the HTTPS listener.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsListener {}
