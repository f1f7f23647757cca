//! Keys of the ConfigMap that count for HAProxy as a whole, each by what it does to requests.

mod connections;
mod error_pages;
mod listeners;
mod logs;
mod process;
mod statistics;
mod timeouts;
mod unsupported;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The ConfigMap `default/NAME`.
pub(crate) fn config_map(name: &str, data: &[(&str, &str)]) -> String {
    let lines: String = data.iter().map(|(key, value)| format!("  {key:?}: {value:?}\n")).collect();
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: default\ndata:\n{lines}---\n"
    )
}

/// The ConfigMap that `--configmap` names in these tests.
pub(crate) fn settings(data: &[(&str, &str)]) -> String {
    config_map("settings", data)
}

/// A Secret `default/NAME` with plain texts.
pub(crate) fn secret(name: &str, data: &[(&str, &str)]) -> String {
    let lines: String = data.iter().map(|(key, value)| format!("  {key:?}: {value:?}\n")).collect();
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  namespace: default\nstringData:\n{lines}---\n"
    )
}

/// Sends bytes on a connection of its own and reads until HAProxy closes it.
pub(crate) async fn until_closed(address: SocketAddr, bytes: &[u8]) -> Result<String, String> {
    let mut stream = TcpStream::connect(address).await.map_err(|e| format!("connect: {e}"))?;
    stream.write_all(bytes).await.map_err(|e| format!("write: {e}"))?;
    let mut answer = Vec::new();
    match tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await {
        Err(_) => Err(format!("still open after {:?}", String::from_utf8_lossy(&answer))),
        // A reset is an end, too.
        Ok(_) => Ok(String::from_utf8_lossy(&answer).into_owned()),
    }
}

/// Reads one response with a `Content-Length` and leaves the connection open.
pub(crate) async fn response(stream: &mut TcpStream) -> Result<String, String> {
    let mut text = String::new();
    let mut bytes = [0; 4096];
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
            if body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0) {
                return Ok(text);
            }
        }
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut bytes)).await;
        match read {
            Ok(Ok(0)) => return Err(format!("closed after {text:?}")),
            Ok(Ok(read)) => text.push_str(&String::from_utf8_lossy(&bytes[..read])),
            Ok(Err(error)) => return Err(error.to_string()),
            Err(_) => return Err(format!("nothing more after {text:?}")),
        }
    }
}
