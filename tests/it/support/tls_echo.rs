//! A pod that speaks TLS itself: an echo server behind its own certificate.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::certificates::Pair;

/// Answers every request with its name and the server name of the connection.
pub(crate) struct TlsEcho {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl TlsEcho {
    /// On 127.0.0.1 and a port of its own, with this certificate.
    pub(crate) async fn start(name: &str, pair: &Pair) -> Self {
        let certificate = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let name = name.to_owned();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, name) = (acceptor.clone(), name.clone());
                connections.spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut request = vec![0; 16_384];
                    let Ok(read) = stream.read(&mut request).await else { return };
                    let server_name = stream.get_ref().1.server_name().unwrap_or("none").to_owned();
                    let head = String::from_utf8_lossy(&request[..read]).into_owned();
                    let body = format!("{name}\nsni: {server_name}\n{head}");
                    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                    let _ = stream.write_all(answer.as_bytes()).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { address, task }
    }
}

impl Drop for TlsEcho {
    fn drop(&mut self) {
        self.task.abort();
    }
}
