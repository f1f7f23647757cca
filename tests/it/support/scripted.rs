//! A server that answers as the test says, and remembers what it was asked: an authentication service, or a pod that takes
//! bodies.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) uri: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

impl Asked {
    /// The values of a header, joined by `|`; empty when it was not there.
    pub(crate) fn header(&self, name: &str) -> String {
        let values = self.headers.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
        values.collect::<Vec<_>>().join("|")
    }
}

#[derive(Debug, Default)]
struct State {
    /// Status 0: no answer.
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    asked: Vec<Asked>,
    connections: usize,
}

/// The server; answers 200 at first.
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

impl Scripted {
    /// On 127.0.0.1 and a port of its own.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { status: 200, ..State::default() }));
        let inside = state.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                inside.lock().unwrap().connections += 1;
                let state = inside.clone();
                connections.spawn(async move {
                    let service = service_fn(move |request| answer(request, state.clone()));
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { address, state, task }
    }

    /// From now on it answers so; status 0 never answers.
    pub(crate) fn answers(&self, status: u16, headers: &[(&str, &str)], body: &str) {
        let mut state = self.state.lock().unwrap();
        state.status = status;
        state.headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        body.clone_into(&mut state.body);
    }

    /// How often it was asked.
    pub(crate) fn count(&self) -> usize {
        self.state.lock().unwrap().asked.len()
    }

    /// How many connections were made to it.
    pub(crate) fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }

    /// The last request.
    pub(crate) fn last(&self) -> Asked {
        self.state.lock().unwrap().asked.last().cloned().unwrap()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let headers = head.headers.iter();
    let headers =
        headers.map(|(n, v)| (n.to_string(), String::from_utf8_lossy(v.as_bytes()).into_owned())).collect();
    let asked = Asked { method: head.method.to_string(), uri: head.uri.to_string(), headers, body };
    let (status, headers, body) = {
        let mut state = state.lock().unwrap();
        state.asked.push(asked);
        (state.status, state.headers.clone(), state.body.clone())
    };
    if status == 0 {
        std::future::pending::<()>().await;
    }
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    Ok(response.body(Full::new(Bytes::from(body))).unwrap())
}
