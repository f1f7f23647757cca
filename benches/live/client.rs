//! The client at the data port, and the server behind it.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on ends")]

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::objects::POD_PORT;

/// The data port of HAProxy; in a namespace of our own every port is free.
pub(crate) const DATA: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
/// No answer takes this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a request came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The address at which the pod was reached.
    pub(crate) pod: Option<Ipv4Addr>,
}

/// A connection that is made anew when HAProxy says that it closes, as clients do.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    stream: Option<TcpStream>,
}

impl Connection {
    /// One request on the kept connection.
    pub(crate) async fn get(&mut self, host: &str) -> Result<Answer, String> {
        let result =
            timeout(PATIENCE, self.exchange(host)).await.unwrap_or_else(|_| Err("no answer".to_owned()));
        if result.is_err() {
            self.stream = None;
        }
        result
    }

    async fn exchange(&mut self, host: &str) -> Result<Answer, String> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => none.insert(TcpStream::connect(DATA).await.map_err(|error| format!("connect: {error}"))?),
        };
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.map_err(|error| format!("send: {error}"))?;
        let (head, body) = read_message(stream).await?;
        if head.to_ascii_lowercase().contains("connection: close") {
            self.stream = None;
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok(Answer { status: status.ok_or_else(|| format!("no status: {head}"))?, pod: body.parse().ok() })
    }
}

/// One request on a connection of its own.
pub(crate) async fn get(host: &str) -> Result<Answer, String> {
    Connection::default().get(host).await
}

/// Reads one message with a `Content-Length`.
async fn read_message(stream: &mut TcpStream) -> Result<(String, String), String> {
    let mut bytes = Vec::with_capacity(512);
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().ok())
                    .flatten()
            });
            let whole = end + 4 + length.unwrap_or(0);
            if bytes.len() >= whole {
                return Ok((head, String::from_utf8_lossy(&bytes[end + 4..whole]).into_owned()));
            }
        }
        match stream.read_buf(&mut bytes).await {
            Ok(0) => return Err(format!("closed after {} bytes", bytes.len())),
            Ok(_) => {}
            Err(error) => return Err(format!("read: {error}")),
        }
    }
}

/// All pods: answers each request with the address at which it was reached. Ends when dropped.
pub(crate) struct Echo(JoinHandle<()>);

impl Echo {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, POD_PORT)).await.unwrap();
        Self(tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream));
            }
        }))
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn answer(mut stream: TcpStream) {
    let Ok(address) = stream.local_addr() else { return };
    let _ = stream.set_nodelay(true);
    let body = address.ip().to_string();
    let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    while read_message(&mut stream).await.is_ok() {
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}
