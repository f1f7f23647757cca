//! What a backend says about TLS to clients: HSTS.

/// TLS policy of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct TlsPolicy {}
