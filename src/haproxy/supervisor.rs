//! HAProxy as a child process (external mode): started, its output forwarded, started again when it dies, stopped in order.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::Master;

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const LAST_BACKOFF: Duration = Duration::from_secs(5);
/// A process that lived this long was not part of a crash loop.
const LONG_LIFE: Duration = Duration::from_secs(10);
/// Between SIGTERM and SIGKILL.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What to run.
#[derive(Debug, Clone)]
pub struct Program {
    /// The HAProxy binary: a path, or a name to look for in `PATH`.
    pub program: PathBuf,
    /// Where its master CLI shall be.
    pub master_socket: PathBuf,
    /// The folder of configuration files.
    pub config: PathBuf,
}

impl Program {
    fn spawn(&self) -> io::Result<Child> {
        let mut socket = self.master_socket.clone().into_os_string();
        socket.push(",mode,660");
        let mut child = Command::new(&self.program)
            .args(["-W", "-db", "-S"])
            .arg(socket)
            .arg("-f")
            .arg(&self.config)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // An interrupt from the terminal is for the controller, which then stops HAProxy in order.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(forward(stdout));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(forward(stderr));
        }
        Ok(child)
    }
}

/// A supervised HAProxy. Dropping it kills HAProxy; [`Supervisor::stop`] lets requests finish.
#[derive(Debug)]
pub struct Supervisor {
    stop: Option<oneshot::Sender<Duration>>,
    task: JoinHandle<()>,
    pid: watch::Receiver<Option<u32>>,
}

impl Supervisor {
    /// Starts HAProxy. An error when the program cannot be started at all; a HAProxy that starts and dies is started again.
    /// One that still runs at this socket, as a killed controller leaves it behind, makes room and finishes its requests.
    pub async fn start(program: Program) -> io::Result<Self> {
        end_predecessor(&program.master_socket).await;
        let child = program.spawn()?;
        let (stop, stopping) = oneshot::channel();
        let (pid_sender, pid) = watch::channel(child.id());
        let task = tokio::spawn(supervise(program, child, stopping, pid_sender));
        Ok(Self { stop: Some(stop), task, pid })
    }

    /// Process id of the master, `None` while HAProxy is down.
    pub fn pid(&self) -> watch::Receiver<Option<u32>> {
        self.pid.clone()
    }

    /// Stops HAProxy: a soft stop that lets requests finish for at most `grace`, then SIGTERM, then SIGKILL.
    pub async fn stop(mut self, grace: Duration) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(grace);
        }
        let _ = (&mut self.task).await;
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Soft stop of the HAProxy at this socket, if any: two on the same ports would share the connections (`SO_REUSEPORT`).
async fn end_predecessor(socket: &Path) {
    if UnixStream::connect(socket).await.is_err() {
        return;
    }
    let Ok(processes) = Master::connect(socket).processes(Instant::now() + LAST_WORDS).await else { return };
    if let Some(pid) = i32::try_from(processes.master.pid).ok().and_then(Pid::from_raw) {
        let outcome = kill_process(pid, Signal::USR1);
        tracing::warn!(target: "haproxy", pid = processes.master.pid, ?outcome, "stopping an earlier HAProxy");
    }
}

async fn supervise(
    program: Program,
    first: Child,
    mut stopping: oneshot::Receiver<Duration>,
    pid: watch::Sender<Option<u32>>,
) {
    let mut running = Some(first);
    let mut backoff = FIRST_BACKOFF;
    loop {
        if let Some(mut child) = running.take() {
            let born = Instant::now();
            pid.send_replace(child.id());
            tokio::select! {
                status = child.wait() => {
                    pid.send_replace(None);
                    tracing::warn!(target: "haproxy", status = describe(&status), "HAProxy has ended, starting it again");
                }
                grace = &mut stopping => {
                    // The sender is gone only when the supervisor is, and then this task is aborted.
                    end(&mut child, grace.unwrap_or_default()).await;
                    pid.send_replace(None);
                    return;
                }
            }
            if born.elapsed() >= LONG_LIFE {
                backoff = FIRST_BACKOFF;
            }
        }
        tokio::select! {
            () = sleep(backoff) => {}
            _ = &mut stopping => return,
        }
        backoff = (backoff * 2).min(LAST_BACKOFF);
        match program.spawn() {
            Ok(child) => running = Some(child),
            Err(error) => {
                tracing::error!(target: "haproxy", %error, program = %program.program.display(), "cannot start HAProxy");
            }
        }
    }
}

/// SIGUSR1 (soft stop), SIGTERM, SIGKILL.
async fn end(child: &mut Child, grace: Duration) {
    for (signal, patience) in [(Signal::USR1, grace), (Signal::TERM, LAST_WORDS)] {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { return };
        if let Err(error) = kill_process(pid, signal) {
            tracing::debug!(target: "haproxy", %error, ?signal, "cannot signal HAProxy");
        }
        if timeout(patience, child.wait()).await.is_ok() {
            return;
        }
    }
    if let Err(error) = child.kill().await {
        tracing::error!(target: "haproxy", %error, "cannot kill HAProxy");
    }
}

fn describe(status: &io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Logs each line; ends with the pipe.
async fn forward(pipe: impl AsyncRead + Unpin) {
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        let loud = text.starts_with("[ALERT]") || text.starts_with("[WARNING]") && !is_routine(text);
        if loud {
            tracing::warn!(target: "haproxy", "{text}");
        } else if !text.is_empty() {
            tracing::debug!(target: "haproxy", "{text}");
        }
    }
}

/// What HAProxy says, as a warning, to every reload and to every change of a server that it was told to make.
fn is_routine(warning: &str) -> bool {
    const SAID_EVERY_TIME: [&str; 4] =
        [" stopped (cumulated conns", "Former worker ", " (leaving forced ", "for maintenance."];
    SAID_EVERY_TIME.iter().any(|text| warning.contains(text))
}

#[cfg(test)]
mod tests;
