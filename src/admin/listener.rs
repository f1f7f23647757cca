//! A listener with its connections, for endpoints that answer a handful of requests.

use std::convert::Infallible;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(super) type Answer = Response<Full<Bytes>>;
/// hyper drops the answer in the making when the client goes away.
pub(super) type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;
type Handler = Arc<dyn Fn(Request<Incoming>) -> Pending + Send + Sync>;

/// What every answer says about itself.
pub(super) fn answer(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

pub(super) fn text(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    answer(status, "text/plain; charset=utf-8", body)
}

/// Listens on all addresses until `stop`; a port of 0 is off, and one that is taken costs a warning.
pub(super) fn serve<F>(
    name: &'static str,
    port: u16,
    handler: impl Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) where
    F: Future<Output = Answer> + Send + 'static,
{
    if port == 0 {
        return;
    }
    let handler: Handler = Arc::new(move |request| Box::pin(handler(request)));
    let (tasks_inside, stop) = (tasks.clone(), stop.clone());
    tasks.spawn(async move {
        match listen(port).await {
            Ok(listener) => accept(listener, handler, tasks_inside, stop).await,
            Err(error) => {
                tracing::warn!(%error, port, "the {name} endpoint is off: its port cannot be bound");
            }
        }
    });
}

/// Both families where the machine has IPv6 (a dual-stack socket), IPv4 otherwise.
async fn listen(port: u16) -> std::io::Result<TcpListener> {
    match TcpListener::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))).await {
        Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => {
            TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))).await
        }
        result => result,
    }
}

async fn accept(listener: TcpListener, handler: Handler, tasks: TaskTracker, stop: CancellationToken) {
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // Out of descriptors: wait for some to come back instead of spinning.
                Err(error) => {
                    tracing::debug!(%error, "accept failed");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (stop, handler) = (stop.clone(), handler.clone());
        tasks.spawn(async move {
            let service = service_fn(move |request| {
                let pending = handler(request);
                async move { Ok::<_, Infallible>(pending.await) }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(Duration::from_secs(5))
                .max_buf_size(64 * 1024)
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                () = stop.cancelled() => {}
                _ = connection => {}
            }
        });
    }
}
