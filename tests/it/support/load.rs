//! Constant load on loopback: keep-alive and new connections, HTTP/1.1 and HTTP/2. Every failure is kept.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::client::{Hello, connect_tls};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Running load.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    clients: JoinSet<Vec<String>>,
}

impl Load {
    /// Two clients of each kind: a new HTTP/1.1 connection per request, keep-alive HTTP/1.1, HTTP/2 over TLS.
    pub(crate) fn start(http: SocketAddr, https: SocketAddr, host: &'static str) -> Self {
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let mut clients = JoinSet::new();
        for _ in 0..2 {
            clients.spawn(new_connections(http, host, stop.clone(), done.clone()));
            clients.spawn(keep_alive(http, host, stop.clone(), done.clone()));
            clients.spawn(multiplexed(https, host, stop.clone(), done.clone()));
        }
        Self { stop, done, clients }
    }

    /// Requests answered so far.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::SeqCst)
    }

    /// Waits until that many more requests were answered.
    pub(crate) async fn more(&self, requests: u64) {
        let target = self.done() + requests;
        super::until("the load to go on", || async {
            if self.done() >= target { Ok(()) } else { Err(format!("{} of {target}", self.done())) }
        })
        .await;
    }

    /// Stops; gives the number of answered requests and all failures.
    pub(crate) async fn stop(mut self) -> (u64, Vec<String>) {
        self.stop.store(true, Ordering::SeqCst);
        let mut failures = Vec::new();
        while let Some(result) = self.clients.join_next().await {
            failures.extend(result.unwrap());
        }
        (self.done.load(Ordering::SeqCst), failures)
    }
}

/// A short breath between requests, so that two cores are left for HAProxy and the controller.
async fn breathe() {
    tokio::time::sleep(Duration::from_millis(2)).await;
}

fn request(uri: &str, host: &str) -> Request<Empty<Bytes>> {
    Request::builder().uri(uri).header("host", host).body(Empty::new()).unwrap()
}

async fn new_connections(
    address: SocketAddr,
    host: &'static str,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
) -> Vec<String> {
    let mut failures = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        match super::client::get(address, host, "/new").await {
            Ok(answer) if answer.status == 200 => {
                done.fetch_add(1, Ordering::SeqCst);
            }
            other => failures.push(format!("new connection: {other:?}")),
        }
        breathe().await;
    }
    failures
}

/// Reuses a connection until the server says `Connection: close` or closes it while idle before a request was sent.
async fn keep_alive(
    address: SocketAddr,
    host: &'static str,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
) -> Vec<String> {
    let mut failures = Vec::new();
    'connection: while !stop.load(Ordering::SeqCst) {
        let stream = match TcpStream::connect(address).await {
            Ok(stream) => stream,
            Err(error) => {
                failures.push(format!("keep-alive connect: {error}"));
                continue;
            }
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        while !stop.load(Ordering::SeqCst) {
            if sender.ready().await.is_err() {
                continue 'connection;
            }
            let answer = timeout(PATIENCE, sender.send_request(request("/keep", host))).await;
            let Ok(answer) = answer else {
                failures.extend(unanswered("keep-alive", &connection));
                continue 'connection;
            };
            match answer {
                Ok(response) if response.status() == 200 => match response.into_body().collect().await {
                    Ok(_) => {
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                    Err(error) => failures.push(format!("keep-alive body: {error}")),
                },
                Ok(response) => failures.push(format!("keep-alive status: {}", response.status())),
                Err(error) => {
                    failures.push(format!("keep-alive: {error:?}"));
                    continue 'connection;
                }
            }
            breathe().await;
        }
    }
    failures
}

/// One HTTP/2 connection at a time; after GOAWAY the next request goes to a new one, as RFC 9113 section 6.8 asks.
async fn multiplexed(
    address: SocketAddr,
    host: &'static str,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
) -> Vec<String> {
    let mut failures = Vec::new();
    let hello = Hello { alpn: vec!["h2"], ..Hello::default() };
    'connection: while !stop.load(Ordering::SeqCst) {
        let stream = match connect_tls(address, Some(host), &hello).await {
            Ok((stream, _)) => stream,
            Err(error) => {
                failures.push(format!("h2 connect: {error}"));
                continue;
            }
        };
        let Ok((mut sender, connection)) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await
        else {
            failures.push("h2 handshake".to_owned());
            continue;
        };
        let connection = tokio::spawn(connection);
        let uri = format!("https://{host}/h2");
        while !stop.load(Ordering::SeqCst) {
            if sender.ready().await.is_err() {
                continue 'connection;
            }
            let request = Request::builder().uri(&uri).body(Empty::<Bytes>::new()).unwrap();
            let Ok(answer) = timeout(PATIENCE, sender.send_request(request)).await else {
                failures.extend(unanswered("h2", &connection));
                continue 'connection;
            };
            match answer {
                Ok(response) if response.status() == 200 => match response.into_body().collect().await {
                    Ok(_) => {
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                    Err(error) => failures.push(format!("h2 body: {error:?}")),
                },
                Ok(response) => failures.push(format!("h2 status: {}", response.status())),
                // Streams above the last id of a GOAWAY were not processed: the client sends them again elsewhere.
                Err(error) if not_processed(&error) => continue 'connection,
                Err(error) => {
                    failures.push(format!("h2: {error:?}"));
                    continue 'connection;
                }
            }
            breathe().await;
        }
    }
    failures
}

/// The failure that no answer in [`PATIENCE`] is. None when the connection has ended: hyper owes its request an error then, which
/// says what became of it, and once in some hundred runs it forgets the request instead (hyper 1.12, seen at a GOAWAY).
fn unanswered<T>(kind: &str, connection: &JoinHandle<T>) -> Option<String> {
    (!connection.is_finished()).then(|| format!("{kind}: no answer in {PATIENCE:?}"))
}

fn not_processed(error: &hyper::Error) -> bool {
    use std::error::Error as _;
    error.is_canceled()
        || error.source().and_then(|s| s.downcast_ref::<h2::Error>()).is_some_and(|e| {
            (e.is_go_away() && e.reason() == Some(h2::Reason::NO_ERROR))
                || e.reason() == Some(h2::Reason::REFUSED_STREAM)
        })
}
