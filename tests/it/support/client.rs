//! HTTP clients as users have them: HTTP/1.1 in clear and over TLS, showing the certificate that was presented.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// The first line of the body: the name of the echo server.
    pub(crate) fn name(&self) -> &str {
        self.body.lines().next().unwrap_or("")
    }
}

/// `GET path` with this Host header on a connection of its own.
pub(crate) async fn get(address: SocketAddr, host: &str, path: &str) -> Result<Answer, String> {
    let stream = TcpStream::connect(address).await.map_err(|e| format!("connect: {e}"))?;
    exchange(stream, &request(host, path)).await
}

fn request(host: &str, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
}

/// Sends the bytes and reads the answer to the end of the connection.
pub(crate) async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
) -> Result<Answer, String> {
    stream.write_all(request.as_bytes()).await.map_err(|e| format!("write: {e}"))?;
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(std::time::Duration::from_secs(20), stream.read_to_end(&mut bytes)).await;
    match read {
        Err(_) => return Err("no answer in 20 s".to_owned()),
        // A missing close_notify after a whole answer is of no interest here.
        Ok(Err(error)) if bytes.is_empty() => return Err(format!("read: {error}")),
        Ok(_) => {}
    }
    parse(&String::from_utf8_lossy(&bytes))
}

fn parse(text: &str) -> Result<Answer, String> {
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| format!("no whole answer: {text:?}"))?;
    let mut lines = head.lines();
    let status_line = lines.next().unwrap_or("");
    let status = status_line
        .split(' ')
        .nth(1)
        .and_then(|s| s.parse().ok())
        .ok_or_else(|| format!("no status: {status_line:?}"))?;
    let headers: Vec<(String, String)> =
        lines.filter_map(|l| l.split_once(": ").map(|(n, v)| (n.to_owned(), v.to_owned()))).collect();
    let chunked = headers.iter().any(|(n, v)| n.eq_ignore_ascii_case("transfer-encoding") && v == "chunked");
    let body = if chunked { dechunk(body) } else { body.to_owned() };
    Ok(Answer { status, headers, body })
}

fn dechunk(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, tail)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 || tail.len() < size {
            break;
        }
        body.push_str(&tail[..size]);
        rest = tail[size..].trim_start_matches("\r\n");
    }
    body
}

/// What a TLS handshake showed.
#[derive(Debug, Clone)]
pub(crate) struct Handshake {
    /// Common name of the certificate.
    pub(crate) common_name: String,
    /// Public key algorithm: `rsa` or `ecdsa`.
    pub(crate) key: &'static str,
    /// ALPN protocol.
    pub(crate) alpn: Option<String>,
    /// Version and cipher, as rustls calls them.
    pub(crate) parameters: String,
}

/// How to shake hands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hello {
    /// Offered ALPN protocols.
    pub(crate) alpn: Vec<&'static str>,
    /// Offer RSA signatures only.
    pub(crate) rsa_only: bool,
    /// Offer this version only.
    pub(crate) version: Option<&'static SupportedProtocolVersion>,
    /// Certificate and key to show when asked, as PEM.
    pub(crate) client: Option<(String, String)>,
    /// Connect from this address.
    pub(crate) source: Option<std::net::Ipv4Addr>,
}

/// Shakes hands with this server name (`None`: no server name) and gives the open stream.
pub(crate) async fn connect_tls(
    address: SocketAddr,
    name: Option<&str>,
    hello: &Hello,
) -> Result<(TlsStream<TcpStream>, Handshake), String> {
    let seen = Arc::new(Mutex::new(None));
    let verifier = Arc::new(Witness { seen: seen.clone(), rsa_only: hello.rsa_only });
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = match hello.version {
        Some(version) => builder.with_protocol_versions(&[version]).unwrap(),
        None => builder.with_safe_default_protocol_versions().unwrap(),
    };
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = match &hello.client {
        Some((certificate, key)) => {
            let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(vec![certificate], key).unwrap()
        }
        None => builder.with_no_client_auth(),
    };
    config.enable_sni = name.is_some();
    config.alpn_protocols = hello.alpn.iter().map(|p| p.as_bytes().to_vec()).collect();
    let socket = tokio::net::TcpSocket::new_v4().map_err(|e| format!("socket: {e}"))?;
    if let Some(source) = hello.source {
        socket.bind((source, 0).into()).map_err(|e| format!("bind {source}: {e}"))?;
    }
    let stream = socket.connect(address).await.map_err(|e| format!("connect: {e}"))?;
    let server_name = ServerName::try_from(name.unwrap_or("no-name.invalid").to_owned()).unwrap();
    let stream = TlsConnector::from(Arc::new(config))
        .connect(server_name, stream)
        .await
        .map_err(|e| format!("handshake: {e}"))?;
    let (common_name, key) = seen.lock().unwrap().clone().ok_or("no certificate was presented")?;
    let alpn = stream.get_ref().1.alpn_protocol().map(|p| String::from_utf8_lossy(p).into_owned());
    let session = stream.get_ref().1;
    let suite = session.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
    let parameters = format!("{:?} {}", session.protocol_version().unwrap(), suite.unwrap_or_default());
    Ok((stream, Handshake { common_name, key, alpn, parameters }))
}

/// `GET path` over TLS on a connection of its own.
pub(crate) async fn get_tls(
    address: SocketAddr,
    host: &str,
    path: &str,
) -> Result<(Answer, Handshake), String> {
    let (stream, handshake) = connect_tls(address, Some(host), &Hello::default()).await?;
    Ok((exchange(stream, &request(host, path)).await?, handshake))
}

/// A request of any kind, from any loopback address.
#[derive(Debug, Clone)]
pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    /// Header lines, each with its `\r\n`.
    pub(crate) headers: &'a str,
    pub(crate) body: &'a str,
    /// The client's address.
    pub(crate) source: std::net::Ipv4Addr,
}

impl Default for Call<'_> {
    fn default() -> Self {
        let source = std::net::Ipv4Addr::LOCALHOST;
        Self { method: "GET", host: "", path: "/", headers: "", body: "", source }
    }
}

impl Call<'_> {
    /// Sends it on a connection of its own.
    pub(crate) async fn send(&self, address: SocketAddr) -> Result<Answer, String> {
        let Call { method, host, path, headers, body, source } = self;
        let socket = tokio::net::TcpSocket::new_v4().map_err(|e| format!("socket: {e}"))?;
        socket.bind((*source, 0).into()).map_err(|e| format!("bind {source}: {e}"))?;
        let stream = socket.connect(address).await.map_err(|e| format!("connect: {e}"))?;
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n{body}");
        exchange(stream, &head).await
    }
}

/// `GET path` over TLS with this server name, Host header, further header lines (each with its line break), and hello.
pub(crate) async fn get_tls_as(
    address: SocketAddr,
    (name, host): (&str, &str),
    path: &str,
    headers: &str,
    hello: &Hello,
) -> Result<(Answer, Handshake), String> {
    let (stream, handshake) = connect_tls(address, Some(name), hello).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n");
    Ok((exchange(stream, &request).await?, handshake))
}

/// Accepts every certificate and remembers it.
#[derive(Debug)]
struct Witness {
    seen: Arc<Mutex<Option<(String, &'static str)>>>,
    rsa_only: bool,
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let (_, parsed) = x509_parser::parse_x509_certificate(certificate).unwrap();
        let name =
            parsed.subject().iter_common_name().last().and_then(|n| n.as_str().ok()).unwrap_or("").to_owned();
        let key = match parsed.public_key().parsed().unwrap() {
            x509_parser::public_key::PublicKey::RSA(_) => "rsa",
            _ => "ecdsa",
        };
        *self.seen.lock().unwrap() = Some((name, key));
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        if self.rsa_only {
            return vec![SignatureScheme::RSA_PSS_SHA256, SignatureScheme::RSA_PKCS1_SHA256];
        }
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
