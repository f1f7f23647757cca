//! Finds out which HAProxy is there and what it runs, and holds that against the files.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use outrigger_init::{FolderState, Transaction, Volumes, state_of};
use tokio::time::Instant;

use super::{Driver, files};
use crate::haproxy::{Identity, Info, Master, Processes, Ready, Watchdog, Worker};
use crate::model::{Capabilities, Version};
use crate::plan::Texts;

/// One try to reach HAProxy; after each it is said that we still wait.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the watchdog looks whether HAProxy is still the same.
const LOOK: Duration = Duration::from_secs(1);

/// The generation mark as `show info` shows it.
pub(super) fn mark(generation: &str) -> String {
    format!("outrigger-{generation}")
}

impl Driver {
    /// Waits for HAProxy, and finds out what it runs. Fails when it is older than the oldest version that is driven.
    pub async fn attach(volumes: Volumes, master_socket: &Path) -> anyhow::Result<Self> {
        let master = Master::connect(master_socket);
        let ready = wait_for(&master).await;
        let capabilities = capabilities(&ready.processes)?;
        let watchdog = Watchdog::start(&master, LOOK);
        let mut driver = Self {
            worker: Worker::new(master.clone(), volumes.clone(), capabilities),
            seen: watchdog.identity(),
            _watchdog: watchdog,
            identity: Identity::of(&ready.processes, 0),
            volumes,
            master,
            capabilities,
            version: ready.processes.master.version_text.clone(),
            running: Texts::default(),
            doubt: None,
            refused: std::collections::BTreeMap::new(),
        };
        driver.hold_against_files(&ready.info).await?;
        Ok(driver)
    }

    /// Ends when the watchdog sees, from now on, another HAProxy than the one that was looked at.
    pub async fn disturbed(&mut self) {
        // The watchdog lives as long as the driver; its end would only mean that nothing is ever seen again.
        while self.seen.changed().await.is_ok() {
            if self.seen.borrow_and_update().is_some_and(|now| now != self.identity) {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Looks again after a disturbance; false when HAProxy is the one that was looked at after all.
    pub async fn look_again(&mut self) -> anyhow::Result<bool> {
        let restarts = self.seen.borrow_and_update().map_or(self.identity.restarts, |seen| seen.restarts);
        let ready = wait_for(&self.master).await;
        let now = Identity::of(&ready.processes, restarts);
        if now == self.identity {
            return Ok(false);
        }
        tracing::info!(
            master = now.master_pid,
            worker = now.worker_pid,
            "HAProxy is another process than before; looking at what it runs"
        );
        self.identity = now;
        self.capabilities = capabilities(&ready.processes)?;
        self.version.clone_from(&ready.processes.master.version_text);
        self.worker = Worker::new(self.master.clone(), self.volumes.clone(), self.capabilities);
        self.hold_against_files(&ready.info).await?;
        Ok(true)
    }

    /// After a reload of our own: this is the HAProxy that we know.
    pub(super) async fn remember_identity(&mut self) {
        if let Ok(processes) = self.master.processes(Instant::now() + PATIENCE).await {
            self.identity = Identity::of(&processes, self.identity.restarts);
        }
    }

    /// Reads the files, and whether the worker runs them.
    async fn hold_against_files(&mut self, info: &Info) -> anyhow::Result<()> {
        let runs = |generation: &str| info.description.as_deref() == Some(&mark(generation));
        if let Some(update) = Transaction::open(&self.volumes) {
            // The controller died in the middle of a reload. Did HAProxy take the candidate?
            let candidate = files::parse(&self.volumes);
            if candidate.is_ok_and(|parsed| runs(&parsed.texts.generation())) {
                update.commit()?;
            } else {
                tracing::warn!("an update was cut off; restoring what ran before it");
                update.restore()?;
            }
        }
        Transaction::clean(&self.volumes)?;
        let parsed = match state_of(&self.volumes) {
            FolderState::Complete => files::parse(&self.volumes).ok(),
            _ => None,
        };
        match parsed {
            None => {
                self.running = Texts::default();
                self.doubt = Some("this is the first configuration".to_owned());
            }
            Some(parsed) => {
                let proven = runs(&parsed.texts.generation());
                self.running = parsed.texts;
                self.doubt =
                    (!proven).then(|| "HAProxy runs another generation than the one on disk".to_owned());
                if proven {
                    self.look_at_everything().await;
                }
            }
        }
        Ok(())
    }
}

/// Waits for the worker to answer, for as long as it takes.
async fn wait_for(master: &Master) -> Ready {
    loop {
        match master.wait_until_ready(Instant::now() + PATIENCE).await {
            Ok(ready) => return ready,
            Err(error) => tracing::warn!(%error, socket = %master.path().display(), "waiting for HAProxy"),
        }
    }
}

fn capabilities(processes: &Processes) -> anyhow::Result<Capabilities> {
    let text = &processes.master.version_text;
    let Some(capabilities) = Capabilities::of_release(text) else {
        bail!("HAProxy {text} is too old; hint: use {} or newer", Version::OLDEST);
    };
    tracing::info!(version = %text, "driving HAProxy");
    if processes.master.version > Version::NEWEST {
        tracing::warn!(
            "HAProxy {text} is newer than any that was tried; driving it like {}",
            Version::NEWEST
        );
    }
    Ok(capabilities)
}
