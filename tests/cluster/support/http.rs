//! One request at a time, from the network of the node.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::{Node, inside};

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    /// The first line of the body: the name of the pod that answered, when the application is the echo image.
    pub(crate) fn pod(&self) -> &str {
        self.body.lines().next().unwrap_or("")
    }
}

/// How long an answer may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// `GET path` with this Host header, on a connection of its own.
pub(crate) fn get(
    node: &Node,
    address: impl Into<SocketAddr>,
    host: &str,
    path: &str,
) -> Result<Answer, String> {
    let (address, host, path) = (address.into(), host.to_owned(), path.to_owned());
    inside::run(node, move || inside::block_on(fetch(address, &host, &path)))
}

/// The same for those who are in the namespace already.
pub(crate) async fn fetch(address: SocketAddr, host: &str, path: &str) -> Result<Answer, String> {
    let all = async {
        let mut sender = connect(address).await?;
        send(&mut sender, host, path, true).await
    };
    tokio::time::timeout(PATIENCE, all).await.unwrap_or_else(|_| Err(format!("no answer in {PATIENCE:?}")))
}

pub(crate) type Sender = http1::SendRequest<Empty<Bytes>>;

/// A connection, which ends with its sender.
pub(crate) async fn connect(address: SocketAddr) -> Result<Sender, String> {
    let stream = TcpStream::connect(address).await.map_err(|e| format!("connect: {e}"))?;
    stream.set_nodelay(true).map_err(|e| format!("connect: {e}"))?;
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|e| format!("connect: {e}"))?;
    tokio::spawn(connection);
    Ok(sender)
}

/// One request and its whole answer.
pub(crate) async fn send(sender: &mut Sender, host: &str, path: &str, last: bool) -> Result<Answer, String> {
    let mut request = Request::get(path).header("host", host);
    if last {
        request = request.header("connection", "close");
    }
    let request = request.body(Empty::new()).map_err(|e| format!("request: {e}"))?;
    let response = sender.send_request(request).await.map_err(|e| format!("answer: {e:?}"))?;
    let (head, body) = response.into_parts();
    let body = body.collect().await.map_err(|e| format!("body: {e:?}"))?.to_bytes();
    Ok(Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}
