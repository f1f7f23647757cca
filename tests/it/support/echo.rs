//! Echo servers: what a pod answers.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// A server that answers every request with its name, the request line and the headers, one per line.
/// `GET /wait` answers only after [`Echo::release`].
pub(crate) struct Echo {
    pub(crate) address: SocketAddr,
    waiting: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
    task: JoinHandle<()>,
}

impl Echo {
    /// On 127.0.0.1 and a port of its own.
    pub(crate) async fn start(name: &str) -> Self {
        Self::start_at(name, Ipv4Addr::LOCALHOST.into(), 0).await
    }

    /// On this address; port 0 takes a free one.
    pub(crate) async fn start_at(name: &str, address: IpAddr, port: u16) -> Self {
        let listener = TcpListener::bind((address, port)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (waiting, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let (waiting_inside, gate_inside, name) = (waiting.clone(), gate.clone(), Arc::<str>::from(name));
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (waiting, gate, name) = (waiting_inside.clone(), gate_inside.clone(), name.clone());
                connections.spawn(async move {
                    let service = service_fn(move |request| {
                        answer(request, name.clone(), waiting.clone(), gate.clone())
                    });
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { address, waiting, gate, task }
    }

    /// How many `/wait` requests are waiting.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Lets that many `/wait` requests go.
    pub(crate) fn release(&self, requests: usize) {
        self.gate.add_permits(requests);
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    name: Arc<str>,
    waiting: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() == "/wait" {
        waiting.fetch_add(1, Ordering::SeqCst);
        gate.acquire().await.unwrap().forget();
        waiting.fetch_sub(1, Ordering::SeqCst);
    }
    let mut body = format!("{name}\n{} {}\n", request.method(), request.uri());
    for (header, value) in request.headers() {
        body.push_str(&format!("{header}: {}\n", value.to_str().unwrap_or("?")));
    }
    Ok(Response::new(Full::new(Bytes::from(body))))
}
