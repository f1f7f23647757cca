//! The controller's own small HTTP endpoints: `/livez`, `/metrics`, and the built-in default backend.
//!
//! Neither decides anything; a port that is taken costs a warning, never traffic.

use std::convert::Infallible;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::metrics::{self, Metrics};

/// The page for requests that match nothing; HAProxy answers the same by itself.
pub const NOT_FOUND_PAGE: &str = "default backend - 404";

type Answer = Arc<dyn Fn(&Request<Incoming>) -> Response<Full<Bytes>> + Send + Sync>;

/// Serves `/livez` on all addresses: the process runs; and `/metrics` when there are any to be shown.
pub fn serve_controller(
    port: u16,
    metrics: Option<Arc<Metrics>>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let answer = move |request: &Request<Incoming>| controller(request, metrics.as_deref());
    serve("controller", port, Arc::new(answer), tasks, stop);
}

/// Serves the 404 page, and `/healthz`, on all addresses.
pub fn serve_default_backend(port: u16, tasks: &TaskTracker, stop: &CancellationToken) {
    serve("default backend", port, Arc::new(default_backend), tasks, stop);
}

fn controller(request: &Request<Incoming>, metrics: Option<&Metrics>) -> Response<Full<Bytes>> {
    match (request.uri().path(), metrics) {
        ("/livez" | "/healthz", _) => text(StatusCode::OK, "ok"),
        ("/metrics", Some(metrics)) => answer(StatusCode::OK, metrics::CONTENT_TYPE, metrics.text().into()),
        ("/metrics", None) => text(StatusCode::NOT_FOUND, "--prometheus turns metrics on"),
        (_, Some(_)) => text(StatusCode::NOT_FOUND, "not found; try /livez or /metrics"),
        (_, None) => text(StatusCode::NOT_FOUND, "not found; try /livez"),
    }
}

fn default_backend(request: &Request<Incoming>) -> Response<Full<Bytes>> {
    match request.uri().path() {
        "/healthz" => text(StatusCode::OK, "ok"),
        _ => text(StatusCode::NOT_FOUND, NOT_FOUND_PAGE),
    }
}

fn text(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    answer(status, "text/plain; charset=utf-8", Bytes::from_static(body.as_bytes()))
}

fn answer(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(content_type));
    response
}

fn serve(name: &'static str, port: u16, answer: Answer, tasks: &TaskTracker, stop: &CancellationToken) {
    if port == 0 {
        return;
    }
    let (tasks_inside, stop) = (tasks.clone(), stop.clone());
    tasks.spawn(async move {
        match listen(port).await {
            Ok(listener) => accept(listener, answer, tasks_inside, stop).await,
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

async fn accept(listener: TcpListener, answer: Answer, tasks: TaskTracker, stop: CancellationToken) {
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // Out of descriptors: wait for some to come back instead of spinning.
                Err(error) => {
                    tracing::debug!(%error, "accept failed");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (stop, answer) = (stop.clone(), answer.clone());
        tasks.spawn(async move {
            let service =
                service_fn(move |request| std::future::ready(Ok::<_, Infallible>(answer(&request))));
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(std::time::Duration::from_secs(5))
                .max_buf_size(64 * 1024)
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                () = stop.cancelled() => {}
                _ = connection => {}
            }
        });
    }
}
