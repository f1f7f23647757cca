//! Answers that can be large, each on a connection of its own.
//!
//! On 2.2, 2.6 and 3.0 an answer that does not fit into the socket (about 200 kB) can come whole but without its prompt when
//! the reader was slow near the end; the connection is dead from then on and its slot, one of ten, is lost until the next
//! reload (seen after some 100 answers of 1 MB, with and without prompt). With the sending half closed behind the command,
//! HAProxy closes when it is done, and none of this happens (400 answers on each of the five branches). Closing early is
//! wrong for payloads, but there is none here.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, sleep, timeout_at};

use super::{Claim, Master};
use crate::haproxy::{Error, Request};

/// One at a time, so that no more than one slot is taken.
#[derive(Debug, Clone)]
pub(super) struct Lane(Arc<Semaphore>);

impl Default for Lane {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Master {
    /// The answer of a command that only reads, whatever its size. Past the deadline it is read to its end all the same.
    pub async fn read_large(&self, request: Request, deadline: Instant) -> Result<String, Error> {
        let command = request.command().to_owned();
        let message = request.encode()?;
        if !request.is_read() {
            return Err(Error::Unspeakable(command));
        }
        let (reply, answer) = oneshot::channel();
        let claim = Claim::default();
        let (path, lane, trouble, claimed) =
            (self.path.clone(), self.lane.clone(), self.trouble.clone(), claim.clone());
        tokio::spawn(async move {
            let Ok(_turn) = lane.0.acquire().await else { return };
            let mut backoff = super::connection::FIRST_BACKOFF;
            while !reply.is_closed() && claimed.send() {
                match exchange(&path, &message).await {
                    Ok(text) => {
                        let _ = reply.send(text);
                        return;
                    }
                    Err(error) => trouble.set(Some(error.to_string())),
                }
                sleep(backoff).await;
                backoff = (backoff * 2).min(super::connection::LAST_BACKOFF);
            }
        });
        match timeout_at(deadline, answer).await {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(_)) | Err(_) if claim.give_up() => Err(self.not_sent(self.trouble.get())),
            Ok(Err(_)) | Err(_) => Err(Error::Unknown { command }),
        }
    }
}

/// One command and its whole answer.
async fn exchange(path: &Path, message: &[u8]) -> io::Result<String> {
    let mut socket = UnixStream::connect(path).await?;
    socket.write_all(message).await?;
    socket.shutdown().await?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await?;
    // Every answer of the worker ends with an empty line; one that was cut off does not.
    if answer != b"\n" && !answer.ends_with(b"\n\n") {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the answer was cut off"));
    }
    let text = String::from_utf8_lossy(&answer);
    Ok(text.trim_end_matches('\n').to_owned())
}
