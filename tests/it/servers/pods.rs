//! Pods that speak TLS, HTTP/2 or the PROXY protocol, and fail on demand.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::support::certificates::Pair;

/// Who signs certificates.
pub(crate) struct Authority {
    pub(crate) certificate: String,
    params: CertificateParams,
    key: KeyPair,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem().replace('\r', "");
        Self { certificate, params, key }
    }

    pub(crate) fn sign(&self, common_name: &str, hosts: &[&str]) -> Pair {
        let hosts: Vec<String> = hosts.iter().map(|h| (*h).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name.push(DnType::CommonName, common_name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &Issuer::from_params(&self.params, &self.key)).unwrap();
        Pair { certificate: certificate.pem().replace('\r', ""), key: key.serialize_pem().replace('\r', "") }
    }
}

/// How a pod is reached.
#[derive(Clone, Default)]
pub(crate) struct Kind {
    /// A header of the PROXY protocol comes first.
    pub(crate) proxy: bool,
    /// Certificate, and the authority of clients' certificates when they are demanded.
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// HTTP/2 without upgrade.
    pub(crate) h2: bool,
}

impl Kind {
    /// TLS with this certificate, offering these protocols; `clients` must have signed the certificate of a client.
    pub(crate) fn tls(pair: &Pair, alpn: &[&str], clients: Option<&Authority>) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let certificate = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = match clients {
            None => config.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(CertificateDer::from_pem_slice(authority.certificate.as_bytes()).unwrap()).unwrap();
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
                config.with_client_cert_verifier(verifier)
            }
        };
        let mut config = config.with_single_cert(vec![certificate], key).unwrap();
        config.alpn_protocols = alpn.iter().map(|p| p.as_bytes().to_vec()).collect();
        Self { tls: Some(Arc::new(config)), ..Self::default() }
    }
}

/// A pod that answers with its name and what it knows of the connection, a line each.
pub(crate) struct Pod {
    pub(crate) address: SocketAddr,
    /// Status of `/healthz`; 0 never answers.
    pub(crate) health: Arc<AtomicU16>,
    /// Status of everything else.
    pub(crate) status: Arc<AtomicU16>,
    /// Checks that came.
    pub(crate) checks: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Pod {
    pub(crate) async fn start(name: &str, kind: Kind) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Shared {
            name: name.into(),
            health: Arc::new(AtomicU16::new(200)),
            status: Arc::new(AtomicU16::new(200)),
            checks: Arc::default(),
        };
        let inside = shared.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, kind.clone(), inside.clone()));
            }
        });
        Self { address, health: shared.health, status: shared.status, checks: shared.checks, task }
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Clone)]
struct Shared {
    name: Arc<str>,
    health: Arc<AtomicU16>,
    status: Arc<AtomicU16>,
    checks: Arc<AtomicUsize>,
}

async fn serve(mut stream: TcpStream, kind: Kind, shared: Shared) {
    let mut facts = String::new();
    if kind.proxy {
        match read_proxy_header(&mut stream).await {
            Ok(fact) => facts.push_str(&fact),
            Err(_) => return,
        }
    }
    let Some(tls) = kind.tls else { return http(stream, kind.h2, facts, shared).await };
    let Ok(stream) = TlsAcceptor::from(tls).accept(stream).await else { return };
    let connection = stream.get_ref().1;
    let h2 = connection.alpn_protocol() == Some(b"h2");
    if let Some([client, ..]) = connection.peer_certificates() {
        let (_, client) = x509_parser::parse_x509_certificate(client).unwrap();
        let name = client.subject().iter_common_name().next().unwrap().as_str().unwrap();
        facts.push_str(&format!("client: {name}\n"));
    }
    facts.push_str(&format!("tls: {}\n", connection.server_name().unwrap_or("no name")));
    http(stream, h2, facts, shared).await;
}

async fn http(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    h2: bool,
    facts: String,
    shared: Shared,
) {
    let facts = Arc::<str>::from(facts);
    let service = service_fn(move |request| answer(request, facts.clone(), shared.clone()));
    let stream = TokioIo::new(stream);
    let _ = if h2 {
        hyper::server::conn::http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service).await
    } else {
        hyper::server::conn::http1::Builder::new().serve_connection(stream, service).await
    };
}

async fn answer(
    request: Request<Incoming>,
    facts: Arc<str>,
    shared: Shared,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let is_check = request.uri().path() == "/healthz";
    if is_check {
        shared.checks.fetch_add(1, Ordering::SeqCst);
    }
    let status = if is_check { &shared.health } else { &shared.status }.load(Ordering::SeqCst);
    if status == 0 {
        std::future::pending::<()>().await;
    }
    let mut body =
        format!("{}\n{facts}{:?}\n{} {}\n", shared.name, request.version(), request.method(), request.uri());
    for (header, value) in request.headers() {
        body.push_str(&format!("{header}: {}\n", value.to_str().unwrap_or("?")));
    }
    Ok(Response::builder().status(status).body(Full::new(Bytes::from(body))).unwrap())
}

/// Reads a header of the PROXY protocol (its specification, versions 1 and 2) and says what is in it.
async fn read_proxy_header(stream: &mut TcpStream) -> std::io::Result<String> {
    const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
    let mut first = [0; 12];
    stream.read_exact(&mut first).await?;
    if first != SIGNATURE {
        let mut line = first.to_vec();
        while !line.ends_with(b"\r\n") {
            line.push(stream.read_u8().await?);
        }
        return Ok(format!("proxy: v1 {}\n", String::from_utf8_lossy(&line).trim_end()));
    }
    let command = stream.read_u8().await?;
    let family = stream.read_u8().await?;
    let mut rest = vec![0; stream.read_u16().await?.into()];
    stream.read_exact(&mut rest).await?;
    if command == 0x20 {
        return Ok("proxy: v2 LOCAL\n".to_owned());
    }
    let mut text =
        format!("proxy: v2 family {family:#x} from {}.{}.{}.{}", rest[0], rest[1], rest[2], rest[3]);
    // Type, length, value; inside that of TLS (0x20) there are more behind its flags and verdict.
    let mut values = &rest[12..];
    while let [kind, high, low, after @ ..] = values {
        let (value, next) = after.split_at(usize::from(u16::from_be_bytes([*high, *low])));
        if *kind == 0x20 {
            text.push_str(&format!(" ssl {:#x}", value[0]));
            let mut inner = &value[5..];
            while let [kind, high, low, after @ ..] = inner {
                let (value, next) = after.split_at(usize::from(u16::from_be_bytes([*high, *low])));
                text.push_str(&format!(" {kind:#x}={}", String::from_utf8_lossy(value)));
                inner = next;
            }
        }
        values = next;
    }
    text.push('\n');
    Ok(text)
}
