//! Brings HAProxy to what is wanted, and keeps the folders equal to what runs.
//!
//! [`Driver`] owns both: the texts on disk ([`Driver::running`]), which are what HAProxy runs or would come back to, and
//! the connection over which it is changed. A live change writes its files first and sends its commands after; a reload is
//! a transaction around `last-good` copies. Nothing here decides *what* to do: that is `plan`.

mod attach;
mod drift;
mod files;
mod live;
mod outcome;
mod reload;

use std::collections::BTreeMap;
use std::sync::Arc;

use outrigger_init::Volumes;
use tokio::sync::watch;

pub use live::RefusedCertificate;
pub use outcome::{Outcome, Timings};
pub use reload::Certificates;

use crate::haproxy::{Identity, Master, Watchdog, Worker};
use crate::model::Capabilities;
use crate::plan::{ReloadReason, Texts};
use crate::render::Renderer;

/// A HAProxy under control.
#[derive(Debug)]
pub struct Driver {
    volumes: Volumes,
    master: Master,
    worker: Worker,
    _watchdog: Watchdog,
    /// What the watchdog sees.
    seen: watch::Receiver<Option<Identity>>,
    capabilities: Capabilities,
    /// The version as HAProxy says it.
    version: String,
    /// The HAProxy that `running` was held against.
    identity: Identity,
    running: Texts,
    /// Why only a reload can say what HAProxy runs; `None` when it is proven to run `running`.
    doubt: Option<String>,
    /// Certificates that HAProxy refused: not tried again until they change.
    refused: BTreeMap<Arc<str>, RefusedCertificate>,
}

impl Driver {
    /// What the binary can do.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The version as HAProxy says it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The shared folders.
    pub fn volumes(&self) -> &Volumes {
        &self.volumes
    }

    /// A renderer for this HAProxy.
    pub fn renderer(&self) -> Renderer {
        Renderer::new(self.volumes.clone(), self.capabilities)
    }

    /// The texts on disk.
    pub fn running(&self) -> &Texts {
        &self.running
    }

    /// The main file as it is on disk, a seed included: what it binds is HAProxy's already.
    pub fn main_on_disk(&self) -> String {
        std::fs::read_to_string(self.volumes.main_file()).unwrap_or_default()
    }

    /// Whether the worker is proven to run what is on disk. Otherwise live changes make no sense.
    pub fn is_proven(&self) -> bool {
        self.doubt.is_none()
    }

    /// Certificates that HAProxy refused, and its words.
    pub fn refused_certificates(&self) -> impl Iterator<Item = (&Arc<str>, &RefusedCertificate)> {
        self.refused.iter()
    }

    /// Why a reload is needed: what is not known, or else what the plan says.
    pub fn reload_reasons(&self, planned: &[ReloadReason]) -> Vec<String> {
        const SHOWN: usize = 5;
        if let Some(doubt) = &self.doubt {
            return vec![doubt.clone()];
        }
        let mut reasons: Vec<String> = planned.iter().take(SHOWN).map(ToString::to_string).collect();
        if planned.len() > SHOWN {
            reasons.push(format!("{} more reasons", planned.len() - SHOWN));
        }
        reasons
    }

    /// True while servers that were taken out still finish requests, and can be deleted then.
    pub fn has_dying_servers(&self) -> bool {
        self.worker.has_to_sweep()
    }

    /// Deletes taken-out servers whose last request is done.
    pub async fn sweep(&mut self) {
        if self.has_dying_servers()
            && let Err(error) = self.worker.sweep().await
        {
            tracing::debug!(%error, "taken-out servers could not be deleted yet");
        }
    }
}
