//! What goes over the connection to a server: TLS, HTTP version, PROXY protocol.

use crate::model::Asset;

/// TLS to the servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ServerTls {
    /// Who must have signed the certificate of a server; `None`: it is not verified.
    pub authority: Option<Asset>,
    /// Certificate and key that are shown to a server.
    pub certificate: Option<Asset>,
}

impl ServerTls {
    /// The files.
    pub fn files(&self) -> impl Iterator<Item = &Asset> {
        self.authority.iter().chain(&self.certificate)
    }
}

/// HTTP version to the servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// HTTP/1.1 in clear text; over TLS what ALPN finds.
    #[default]
    Any,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2, in clear text without upgrade.
    Http2,
}

/// The PROXY protocol to the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProxyProtocol {
    /// Version 1.
    V1,
    /// Version 2.
    V2,
    /// Version 2 with what is known of the client's TLS.
    V2Ssl,
    /// The same with the common name of the client's certificate.
    V2SslCn,
}

impl ProxyProtocol {
    /// The server keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::V1 => "send-proxy",
            Self::V2 => "send-proxy-v2",
            Self::V2Ssl => "send-proxy-v2-ssl",
            Self::V2SslCn => "send-proxy-v2-ssl-cn",
        }
    }
}
