//! Notices that HAProxy was restarted or has a new worker, whoever caused it.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::task::AbortOnDropHandle;

use super::{Master, Processes};

/// Which HAProxy runs. Compare with the one that was brought to the wanted state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Process id of the master.
    pub master_pid: u32,
    /// Process id of the worker that serves; `None` while there is none.
    pub worker_pid: Option<u32>,
    /// Reloads of the master so far.
    pub reloads: u32,
    /// Restarts noticed by this watchdog: in a container the process ids are the same after each.
    pub restarts: u64,
}

impl Identity {
    /// The HAProxy of these processes, after this many restarts.
    pub fn of(processes: &Processes, restarts: u64) -> Self {
        Self {
            master_pid: processes.master.pid,
            worker_pid: processes.current().map(|worker| worker.pid),
            reloads: processes.master.reloads,
            restarts,
        }
    }
}

/// Looks at `show proc` on a connection of its own, once in a while and at once when the kept connection is closed.
#[derive(Debug)]
pub struct Watchdog {
    identity: watch::Receiver<Option<Identity>>,
    _task: AbortOnDropHandle<()>,
}

impl Watchdog {
    /// Starts to watch the HAProxy of this connection. Must be called inside a tokio runtime.
    pub fn start(kept: &Master, period: Duration) -> Self {
        let (sender, identity) = watch::channel(None);
        let task = tokio::spawn(watch(kept.path().to_path_buf(), kept.closed(), period, sender));
        Self { identity, _task: AbortOnDropHandle::new(task) }
    }

    /// The last HAProxy seen, `None` until the first one is.
    pub fn identity(&self) -> watch::Receiver<Option<Identity>> {
        self.identity.clone()
    }
}

async fn watch(
    path: PathBuf,
    mut kept: watch::Receiver<u64>,
    period: Duration,
    sender: watch::Sender<Option<Identity>>,
) {
    let own = Master::connect(path);
    let mut own_closed = own.closed();
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seen: Option<Processes> = None;
    let mut restarts = 0;
    loop {
        let kept_is_there = kept.has_changed().is_ok();
        tokio::select! {
            _ = ticks.tick() => {}
            _ = kept.changed(), if kept_is_there => {}
            _ = own_closed.changed() => {}
        }
        own_closed.mark_unchanged();
        // An answer that does not come in time is no news; the connection stays, and the next look reads on.
        let Ok(now) = own.processes(Instant::now() + period.max(Duration::from_secs(1))).await else {
            continue;
        };
        if seen.as_ref().is_some_and(|seen| now.restarted_since(seen)) {
            restarts += 1;
        }
        let identity = Identity::of(&now, restarts);
        seen = Some(now);
        sender.send_if_modified(|last| last.replace(identity) != Some(identity));
    }
}

#[cfg(test)]
mod tests;
