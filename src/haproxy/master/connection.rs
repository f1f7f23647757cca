//! The task that owns the socket.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::codec::FramedRead;

use super::{Job, Trouble};
use crate::haproxy::{Answer, Error, ReplyDecoder, Request};

pub(super) const FIRST_BACKOFF: Duration = Duration::from_millis(1);
pub(super) const LAST_BACKOFF: Duration = Duration::from_millis(250);
/// A connection on which nothing at all comes for this long is dead, whatever the reason. Giving it up can cost a slot, which
/// is better than being deaf for ever.
const LAST_HOPE: Duration = Duration::from_mins(2);

type Socket = FramedRead<UnixStream, ReplyDecoder>;

/// Owns the socket; strictly one command at a time; never closes a connection on which an answer is due.
pub(super) struct Connection {
    path: Arc<Path>,
    jobs: mpsc::UnboundedReceiver<Job>,
    socket: Option<Socket>,
    closed: watch::Sender<u64>,
    trouble: Trouble,
}

impl Connection {
    pub(super) fn new(
        path: Arc<Path>,
        jobs: mpsc::UnboundedReceiver<Job>,
        closed: watch::Sender<u64>,
        trouble: Trouble,
    ) -> Self {
        Self { path, jobs, socket: None, closed, trouble }
    }

    /// Ends when all handles are gone.
    pub(super) async fn run(mut self) {
        loop {
            let job = match &mut self.socket {
                None => self.jobs.recv().await,
                Some(socket) => tokio::select! {
                    biased;
                    unasked = socket.next() => {
                        let trouble = match unasked {
                            None => "closed by HAProxy".to_owned(),
                            Some(Ok(_)) => "an answer came that nobody asked for".to_owned(),
                            Some(Err(error)) => error.to_string(),
                        };
                        self.lose(trouble);
                        continue;
                    }
                    job = self.jobs.recv() => job,
                },
            };
            match job {
                Some(job) => self.serve(job).await,
                None => return,
            }
        }
    }

    /// Brings one job to its end: answered, given up before it was sent, or lost.
    async fn serve(&mut self, job: Job) {
        let mut backoff = FIRST_BACKOFF;
        loop {
            if job.reply.is_closed() || Instant::now() >= job.deadline {
                return;
            }
            if self.socket.is_none() {
                match timeout_at(job.deadline, connect(&self.path)).await {
                    Ok(Ok(socket)) => {
                        self.socket = Some(socket);
                        self.trouble.set(None);
                    }
                    Ok(Err(error)) => {
                        self.trouble.set(Some(error.to_string()));
                        sleep_until((Instant::now() + backoff).min(job.deadline)).await;
                        backoff = (backoff * 2).min(LAST_BACKOFF);
                        continue;
                    }
                    Err(_) => {
                        self.trouble.set(Some("connected, but no prompt comes".to_owned()));
                        return;
                    }
                }
            }
            if !job.claim.send() {
                return;
            }
            match self.exchange(&job).await {
                Ok(answer) => {
                    // The caller may have given up; the answer is read all the same.
                    let _ = job.reply.send(Ok(answer));
                    return;
                }
                Err(Lost::BeforeSent) => {}
                Err(Lost::AfterSent) if job.request.is_read() => {}
                Err(Lost::AfterSent) => {
                    let command = job.request.command().to_owned();
                    let _ = job.reply.send(Err(Error::Unknown { command }));
                    return;
                }
            }
            sleep_until((Instant::now() + backoff).min(job.deadline)).await;
            backoff = (backoff * 2).min(LAST_BACKOFF);
        }
    }

    /// Sends the command and reads its answer to the end, however long that takes.
    async fn exchange(&mut self, job: &Job) -> Result<Answer, Lost> {
        let Some(socket) = &mut self.socket else { return Err(Lost::BeforeSent) };
        if let Err(error) = socket.get_mut().write_all(&job.message).await {
            // A closed socket takes nothing at all, and half a message is not a command.
            self.lose(error.to_string());
            return Err(Lost::BeforeSent);
        }
        let answer = if job.request.ends_connection() {
            socket.next().await
        } else {
            timeout(LAST_HOPE, socket.next()).await.unwrap_or_else(|_| {
                Some(Err(io::Error::new(io::ErrorKind::TimedOut, "no answer for minutes")))
            })
        };
        match answer {
            Some(Ok(answer)) if answer.complete => Ok(answer),
            Some(Ok(answer)) if job.request.ends_connection() => {
                self.lose("closed by a reload".to_owned());
                Ok(answer)
            }
            None | Some(Err(_)) if job.request.ends_connection() => {
                self.lose("closed by a reload".to_owned());
                Ok(Answer { text: String::new(), reload_failed: false, complete: false })
            }
            Some(Ok(answer)) => {
                self.lose(format!(
                    "closed by HAProxy: {}",
                    answer.text.chars().take(100).collect::<String>()
                ));
                Err(Lost::AfterSent)
            }
            None => {
                self.lose("closed by HAProxy".to_owned());
                Err(Lost::AfterSent)
            }
            Some(Err(error)) => {
                self.lose(error.to_string());
                Err(Lost::AfterSent)
            }
        }
    }

    fn lose(&mut self, trouble: String) {
        tracing::debug!(path = %self.path.display(), %trouble, "master CLI connection ended");
        self.socket = None;
        self.trouble.set(Some(trouble));
        self.closed.send_modify(|count| *count += 1);
    }
}

/// How a command got lost.
enum Lost {
    BeforeSent,
    AfterSent,
}

/// Connects and switches the prompt on.
async fn connect(path: &Path) -> io::Result<Socket> {
    let mut socket = FramedRead::new(UnixStream::connect(path).await?, ReplyDecoder);
    let hello = Request::master("prompt").encode().map_err(io::Error::other)?;
    socket.get_mut().write_all(&hello).await?;
    match socket.next().await {
        Some(answer) if answer.as_ref().is_ok_and(|answer| answer.complete) => Ok(socket),
        Some(Err(error)) => Err(error),
        Some(Ok(_)) | None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "closed before the prompt")),
    }
}
