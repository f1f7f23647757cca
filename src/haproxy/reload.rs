//! `reload`, and what came of it, on all versions.
//!
//! From 2.7 on the answer comes after the load and says `Success=0|1` with the log; before, `reload` answers nothing at once
//! and `show proc` tells. Success is said only when the new worker answers.

mod log;

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Error, Master, Processes, Request};

pub use log::{Place, Refusal};

/// What came of a reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reload {
    /// The new configuration is served by this worker, and it answers.
    Succeeded {
        /// Process id of the new worker.
        worker: u32,
    },
    /// HAProxy refused the configuration; the worker from before goes on with all its runtime state.
    Refused(Refusal),
    /// HAProxy was restarted meanwhile: it runs what lay on disk at that moment, and all else must be read back.
    MasterRestarted,
    /// Not known at the deadline. Restore the last good files and find out.
    Unknown {
        /// Why.
        why: String,
    },
}

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LAST_PAUSE: Duration = Duration::from_millis(50);

/// Reloads HAProxy. Never takes longer than until the deadline; a load of 10,000 backends takes a third of a second, a bind
/// conflict two seconds (HAProxy retries for that long).
pub async fn reload(master: &Master, deadline: Instant) -> Reload {
    let before = match master.processes(deadline).await {
        Ok(before) => before,
        Err(error) => return Reload::Unknown { why: format!("before the reload: {error}") },
    };
    let mut pauses = Pauses::new();
    loop {
        let verdict = match master.send(Request::master("reload"), deadline).await {
            Ok(answer) => log::verdict(&answer.text),
            // The connection went before an answer came: find out below.
            Err(Error::Unknown { .. }) if Instant::now() < deadline => log::Verdict::Silent,
            Err(error) => return Reload::Unknown { why: error.to_string() },
        };
        match verdict {
            // From 3.1 on, and also while the very first worker loads.
            log::Verdict::InProgress => {
                if !pauses.next(deadline).await {
                    return Reload::Unknown { why: "another reload is still in progress".to_owned() };
                }
            }
            log::Verdict::Refused(refusal) => return Reload::Refused(refusal),
            log::Verdict::Succeeded | log::Verdict::Silent => break,
        }
    }
    settle(master, &before, deadline).await
}

/// Waits until the outcome can be seen and, after success, until the new worker answers.
async fn settle(master: &Master, before: &Processes, deadline: Instant) -> Reload {
    let mut pauses = Pauses::new();
    loop {
        let why = match look(master, before, deadline).await {
            Ok(Seen::Outcome(outcome)) => return outcome,
            Ok(Seen::NotYet(why)) => why.to_owned(),
            Err(error) => error.to_string(),
        };
        if !pauses.next(deadline).await {
            return Reload::Unknown { why };
        }
    }
}

enum Seen {
    Outcome(Reload),
    NotYet(&'static str),
}

async fn look(master: &Master, before: &Processes, deadline: Instant) -> Result<Seen, Error> {
    let answer = master.send(Request::master("show proc"), deadline).await?;
    let now = super::parse_show_proc(&answer.text)?;
    if now.restarted_since(before) {
        return Ok(Seen::Outcome(Reload::MasterRestarted));
    }
    if now.master.reloads == before.master.reloads {
        return Ok(Seen::NotYet("HAProxy has not begun to reload"));
    }
    // 2.5+ counts failures; every version says it in the prompt.
    if now.master.failed.is_some_and(|failed| failed > 0) || answer.reload_failed {
        return Ok(Seen::Outcome(Reload::Refused(log::startup_log(master, &now, deadline).await)));
    }
    let Some(worker) = now.current().filter(|worker| worker.reloads == 0 && !before.has_worker(worker.pid))
    else {
        return Ok(Seen::NotYet("no new worker is listed"));
    };
    // While a worker of 3.1+ loads, `@1` is still the one from before.
    if master.info(deadline).await?.pid == worker.pid {
        return Ok(Seen::Outcome(Reload::Succeeded { worker: worker.pid }));
    }
    Ok(Seen::NotYet("the new worker does not answer"))
}

/// Growing pauses up to a deadline.
struct Pauses(Duration);

impl Pauses {
    fn new() -> Self {
        Self(FIRST_PAUSE)
    }

    /// False when the deadline would pass.
    async fn next(&mut self, deadline: Instant) -> bool {
        if Instant::now() + self.0 >= deadline {
            return false;
        }
        sleep(self.0).await;
        self.0 = (self.0 * 2).min(LAST_PAUSE);
        true
    }
}

#[cfg(test)]
mod tests;
