//! The kept connection to the master CLI.

mod connection;
mod large;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};

use super::{Answer, Error, Info, Processes, Request, parse_info, parse_show_proc};
use connection::Connection;

/// A handle on the one kept connection to the master CLI; clones share it. The connection is made at the first command and
/// made again when HAProxy closed it, and it is closed when the last handle is gone and the last answer read.
#[derive(Debug, Clone)]
pub struct Master {
    path: Arc<Path>,
    jobs: mpsc::UnboundedSender<Job>,
    closed: watch::Receiver<u64>,
    trouble: Trouble,
    lane: large::Lane,
}

/// HAProxy is there and its worker answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The processes; the current worker is the one that answered.
    pub processes: Processes,
    /// What the worker says about itself.
    pub info: Info,
}

/// The last thing that went wrong with the connection, for the message of [`Error::NotSent`].
#[derive(Debug, Clone, Default)]
struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    fn set(&self, trouble: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    fn get(&self) -> String {
        let trouble = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        trouble.unwrap_or_else(|| "an earlier command is still unanswered".to_owned())
    }
}

/// One command on its way.
#[derive(Debug)]
struct Job {
    request: Request,
    message: Bytes,
    deadline: Instant,
    claim: Claim,
    reply: oneshot::Sender<Result<Answer, Error>>,
}

/// Decides between "never sent" and "sent, outcome unknown" when the deadline passes.
#[derive(Debug, Clone, Default)]
struct Claim(Arc<AtomicU8>);

impl Claim {
    const WAITING: u8 = 0;
    const SENT: u8 = 1;
    const GIVEN_UP: u8 = 2;

    /// True when the command may be sent now.
    fn send(&self) -> bool {
        self.turn(Self::SENT) || self.0.load(Ordering::Acquire) == Self::SENT
    }

    /// True when the command was not sent, and then it never will be.
    fn give_up(&self) -> bool {
        self.turn(Self::GIVEN_UP)
    }

    fn turn(&self, state: u8) -> bool {
        self.0.compare_exchange(Self::WAITING, state, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Master {
    /// A handle on the master CLI at this path. Must be called inside a tokio runtime; does not wait for HAProxy.
    pub fn connect(path: impl Into<PathBuf>) -> Self {
        let path: Arc<Path> = path.into().into();
        let (jobs, queue) = mpsc::unbounded_channel();
        let (closed_sender, closed) = watch::channel(0);
        let trouble = Trouble::default();
        tokio::spawn(Connection::new(path.clone(), queue, closed_sender, trouble.clone()).run());
        Self { path, jobs, closed, trouble, lane: large::Lane::default() }
    }

    /// The socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes whenever HAProxy closes the connection: it was reloaded or restarted, or has died.
    pub fn closed(&self) -> watch::Receiver<u64> {
        self.closed.clone()
    }

    /// Sends a command when its turn has come, and waits for the answer until the deadline. Past it the answer is still read to
    /// its end (an abandoned one would cost a connection slot of HAProxy for ever), and then the next command goes out.
    ///
    /// Not for answers above 100 kB: see [`Master::read_large`].
    pub async fn send(&self, request: Request, deadline: Instant) -> Result<Answer, Error> {
        let command = request.command().to_owned();
        let message = request.encode()?;
        let (reply, answer) = oneshot::channel();
        let claim = Claim::default();
        let job = Job { request, message, deadline, claim: claim.clone(), reply };
        if self.jobs.send(job).is_err() {
            return Err(self.not_sent("the connection task has ended".to_owned()));
        }
        match timeout_at(deadline, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) if claim.give_up() => Err(self.not_sent(self.trouble.get())),
            Ok(Err(_)) | Err(_) => Err(Error::Unknown { command }),
        }
    }

    /// `show proc`.
    pub async fn processes(&self, deadline: Instant) -> Result<Processes, Error> {
        parse_show_proc(&self.send(Request::master("show proc"), deadline).await?.text)
    }

    /// `show info` of the current worker.
    pub async fn info(&self, deadline: Instant) -> Result<Info, Error> {
        parse_info(&self.send(Request::worker("show info"), deadline).await?.text)
    }

    /// Waits until the socket is there and the current worker answers. From 3.1 on the socket answers before the first worker
    /// is ready; before, only then.
    pub async fn wait_until_ready(&self, deadline: Instant) -> Result<Ready, Error> {
        let mut pause = Duration::from_millis(1);
        loop {
            let problem = match self.ready(deadline).await {
                Ok(Some(ready)) => return Ok(ready),
                Ok(None) => self.not_sent("the worker does not answer yet".to_owned()),
                Err(error) => error,
            };
            if Instant::now() + pause >= deadline {
                return Err(problem);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// One look: `None` when the worker that answers is not the current one (a reload is under way).
    async fn ready(&self, deadline: Instant) -> Result<Option<Ready>, Error> {
        let processes = self.processes(deadline).await?;
        let info = self.info(deadline).await?;
        let answered = processes.current().is_some_and(|worker| worker.pid == info.pid);
        Ok(answered.then_some(Ready { processes, info }))
    }

    fn not_sent(&self, reason: String) -> Error {
        Error::NotSent { path: self.path.to_path_buf(), reason }
    }
}

#[cfg(test)]
mod tests;
