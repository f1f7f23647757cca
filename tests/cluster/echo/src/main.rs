//! The application of the tests: one static program, which answers every request with the name of its pod.
//!
//! It ends as applications should behind a Service. Endpoints are withdrawn while a pod already ends, and a proxy hears of
//! it a moment later: after SIGTERM it goes on for `ECHO_LINGER_MS`, asks clients to leave their connections, and only then
//! stops to accept. As process 1 of a container it would otherwise not even see the signal.
//!
//! `echo pause` is the program of a pod's sandbox: it waits for the end.

mod settings;

use std::convert::Infallible;
use std::future::ready;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use settings::Settings;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How far the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not at all.
    Serving,
    /// SIGTERM was seen: serve, but ask clients to leave.
    Leaving,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let settings = Settings::of_process();
    let ended = if settings.pause { pause().await } else { serve(settings).await };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

async fn pause() -> std::io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

async fn serve(settings: Settings) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, settings.port)).await?;
    let settings = Arc::new(settings);
    let (phase, watched) = watch::channel(Phase::Serving);
    let mut connections = JoinSet::new();
    let leave = async {
        terminate.recv().await;
        phase.send_replace(Phase::Leaving);
        tokio::time::sleep(settings.linger).await;
    };
    tokio::pin!(leave);
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => {
                connections.spawn(connection(stream, settings.clone(), watched.clone()));
            }
            Some(_) = connections.join_next() => {}
            () = &mut leave => break,
        }
    }
    drop(listener);
    // What was asked is answered; the grace period of the pod is the end of the patience.
    while connections.join_next().await.is_some() {}
    Ok(())
}

async fn connection(stream: TcpStream, settings: Arc<Settings>, mut phase: watch::Receiver<Phase>) {
    let answers = phase.clone();
    let service =
        service_fn(move |request| ready(Ok::<_, Infallible>(answer(&request, &settings, *answers.borrow()))));
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        _ = &mut connection => return,
        _ = phase.wait_for(|phase| *phase == Phase::Leaving) => {}
    }
    // Finishes the request that it has and then closes.
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

fn answer(request: &Request<Incoming>, settings: &Settings, phase: Phase) -> Response<Full<Bytes>> {
    let status = match (request.uri().path(), phase) {
        // A pod that ends is not ready.
        ("/health" | "/healthz", Phase::Leaving) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    };
    let body = match &settings.text {
        Some(text) => format!("{text}\n"),
        None => settings.name.clone() + "\n" + &describe(request),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
}

/// The request line and the headers, one per line.
fn describe(request: &Request<Incoming>) -> String {
    let mut lines = format!("{} {}\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        lines.push_str(name.as_str());
        lines.push_str(": ");
        lines.push_str(value.to_str().unwrap_or("?"));
        lines.push('\n');
    }
    lines
}
