//! The controller's own small HTTP endpoints: `/livez`, `/metrics`, profiles, a status page, and the built-in default backend.
//!
//! None decides anything; a port that is taken costs a warning, never traffic.

mod listener;
mod profiles;
mod status;

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::metrics::{self, Metrics};
use listener::{Answer, answer, serve, text};

/// The page for requests that match nothing; HAProxy answers the same by itself.
pub const NOT_FOUND_PAGE: &str = "default backend - 404";

/// What the controller's port shows beside `/livez` and the status page.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// `/metrics`.
    pub metrics: bool,
    /// `/debug/pprof/`.
    pub profiles: bool,
}

/// Serves the controller's port on all addresses.
pub fn serve_controller(
    port: u16,
    shown: Shown,
    metrics: Arc<Metrics>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    serve("controller", port, move |request| controller(request, shown, metrics.clone()), tasks, stop);
}

/// Serves the 404 page, and `/healthz`, on all addresses.
pub fn serve_default_backend(port: u16, tasks: &TaskTracker, stop: &CancellationToken) {
    let handler = |request: Request<Incoming>| std::future::ready(default_backend(request.uri().path()));
    serve("default backend", port, handler, tasks, stop);
}

async fn controller(request: Request<Incoming>, shown: Shown, metrics: Arc<Metrics>) -> Answer {
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/" => text(StatusCode::OK, status::page(&metrics, shown)),
        "/livez" | "/healthz" => text(StatusCode::OK, "ok"),
        "/metrics" if shown.metrics => answer(StatusCode::OK, metrics::CONTENT_TYPE, metrics.text()),
        "/metrics" => text(StatusCode::NOT_FOUND, "--prometheus turns metrics on"),
        _ => match path.strip_prefix("/debug/pprof") {
            Some("" | "/") if shown.profiles => profiles::index(),
            Some(rest) if shown.profiles => match rest.strip_prefix('/') {
                Some(name) => profiles::serve(name, request).await,
                None => not_found(),
            },
            Some(_) => text(StatusCode::NOT_FOUND, "--pprof turns profiles on"),
            None => not_found(),
        },
    }
}

fn not_found() -> Answer {
    text(StatusCode::NOT_FOUND, "not found; / lists what is here")
}

fn default_backend(path: &str) -> Answer {
    match path {
        "/healthz" => text(StatusCode::OK, "ok"),
        _ => text(StatusCode::NOT_FOUND, NOT_FOUND_PAGE),
    }
}
