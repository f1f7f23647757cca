//! A reload as a transaction: the last good files stay beside until the new worker is proven to run the new ones.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use outrigger_init::{FILE_MODE, Transaction, write_atomic};

use super::attach::mark;
use super::{Driver, Outcome, Timings, files};
use crate::haproxy::{Reload, reload};
use crate::plan::{FileId, Texts, Units, plan};

/// No load takes this long (10,000 backends take a third of a second, a bind conflict two seconds).
const DEADLINE: Duration = Duration::from_mins(2);

/// Which certificates a reload brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificates {
    /// All that are wanted.
    Wanted,
    /// Only those that HAProxy has loaded before; the others are loaded live afterwards, so that each is refused alone.
    Proven,
}

impl Driver {
    /// Brings everything that is wanted into effect by a reload.
    pub async fn reload(
        &mut self,
        wanted: &Texts,
        certificates: Certificates,
        timings: &mut Timings,
    ) -> Outcome {
        match self.reload_or_fail(wanted, certificates, timings).await {
            Ok(outcome) => outcome,
            // A full or read-only volume: what could be put back is back, and it is tried again.
            Err(error) => Outcome::Refused { cause: format!("{error:#}"), refusal: None },
        }
    }

    /// Whether there are certificates that HAProxy has not loaded before. One that looks right here and wrong to OpenSSL
    /// must not hold up everybody else.
    pub fn has_new_certificates(&self, wanted: &Texts) -> bool {
        let candidate = self.without_refused(wanted);
        let proven = self.with_running_certificates(&candidate);
        proven.certificates != candidate.certificates
            || proven.default_certificate != candidate.default_certificate
    }

    async fn reload_or_fail(
        &mut self,
        wanted: &Texts,
        certificates: Certificates,
        timings: &mut Timings,
    ) -> anyhow::Result<Outcome> {
        let candidate = self.without_refused(wanted);
        if certificates == Certificates::Wanted {
            return self.try_candidate(&candidate, timings).await;
        }
        let proven_only = self.with_running_certificates(&candidate);
        let outcome = self.try_candidate(&proven_only, timings).await?;
        if outcome == Outcome::Reloaded {
            let rest = plan(&self.running, &candidate, &Units::All, self.capabilities);
            self.live(&rest, timings).await;
        }
        Ok(outcome)
    }

    async fn try_candidate(&mut self, candidate: &Texts, timings: &mut Timings) -> anyhow::Result<Outcome> {
        let started = Instant::now();
        let replaced = self.certificates_that_change(candidate);
        let update = Transaction::begin(&self.volumes)?;
        let written = files::write_candidate(&self.running, candidate, &self.volumes);
        timings.write_config += started.elapsed();
        if let Err(error) = written {
            self.roll_back(&update, replaced)?;
            return Err(error);
        }

        let started = Instant::now();
        let answer = reload(&self.master, tokio::time::Instant::now() + DEADLINE).await;
        let proof = self.proof(&candidate.generation()).await;
        timings.reload_haproxy += started.elapsed();
        self.worker.forget_dying();
        self.remember_identity().await;
        let (cause, refusal) = match (answer, proof) {
            (Reload::Succeeded { .. } | Reload::MasterRestarted | Reload::Unknown { .. }, Ok(())) => {
                update.commit()?;
                self.running = candidate.clone();
                self.doubt = None;
                files::remove_unnamed_certificates(candidate, &self.volumes)?;
                files::remove_unnamed(candidate, &self.volumes)?;
                self.look_at_everything().await;
                return Ok(Outcome::Reloaded);
            }
            (Reload::Refused(refusal), _) if refusal.log.trim().is_empty() => {
                ("it says why only in its own log (before HAProxy 2.7)".to_owned(), Some(refusal))
            }
            (Reload::Refused(refusal), _) => (one_line(&refusal.log), Some(refusal)),
            (Reload::Unknown { why }, _) => (format!("the outcome is not known: {why}"), None),
            (Reload::Succeeded { .. } | Reload::MasterRestarted, Err(why)) => (why, None),
        };
        self.roll_back(&update, replaced)?;
        Ok(Outcome::Refused { cause, refusal })
    }

    /// Whether the worker that answers runs this generation.
    async fn proof(&self, generation: &str) -> Result<(), String> {
        match self.master.info(tokio::time::Instant::now() + DEADLINE).await {
            Ok(info) if info.description.as_deref() == Some(&mark(generation)) => Ok(()),
            Ok(info) => Err(format!(
                "the worker runs generation `{}`, not `{generation}`",
                info.description.as_deref().unwrap_or("none")
            )),
            Err(error) => Err(format!("the worker does not answer: {error}")),
        }
    }

    /// The last good files are back. What was not known about HAProxy before is still not known.
    fn roll_back(&self, update: &Transaction, replaced: BTreeMap<FileId, Bytes>) -> anyhow::Result<()> {
        for (id, bytes) in replaced {
            write_atomic(&id.path(&self.volumes), &bytes, FILE_MODE)?;
        }
        update.restore()?;
        if self.doubt.is_none() {
            files::remove_unnamed_certificates(&self.running, &self.volumes)?;
        }
        Ok(())
    }

    /// The content of certificate files that this candidate will replace: they are not part of the transaction.
    fn certificates_that_change(&self, candidate: &Texts) -> BTreeMap<FileId, Bytes> {
        let running = &self.running;
        let differs = |file: &Arc<str>| {
            running.certificates.get(file).map(|t| t.digest)
                != candidate.certificates.get(file).map(|t| t.digest)
        };
        let changed = candidate
            .certificates
            .keys()
            .filter(|file| running.certificates.contains_key(*file) && differs(file));
        let default = running.default_certificate.as_ref().map(|t| t.digest)
            != candidate.default_certificate.as_ref().map(|t| t.digest);
        changed
            .map(|file| FileId::Certificate(file.clone()))
            .chain(default.then_some(FileId::DefaultCertificate))
            .filter_map(|id| files::read(&id, &self.volumes).map(|bytes| (id, bytes)))
            .collect()
    }

    /// What is wanted, with what runs in the place of certificates that HAProxy refused.
    fn without_refused(&self, wanted: &Texts) -> Texts {
        let mut candidate = wanted.clone();
        for (file, refused) in &self.refused {
            if candidate.certificates.get(file).is_some_and(|text| text.digest == refused.digest) {
                match self.running.certificates.get(file) {
                    Some(text) => candidate.certificates.insert_mut(file.clone(), text.clone()),
                    None => {
                        candidate.certificates.remove_mut(file);
                    }
                }
            }
        }
        candidate
    }

    /// The candidate with only such certificates as HAProxy has loaded already.
    fn with_running_certificates(&self, candidate: &Texts) -> Texts {
        let mut texts = candidate.clone();
        texts.certificates = self
            .running
            .certificates
            .iter()
            .filter(|(file, _)| candidate.certificates.contains_key(*file))
            .map(|(file, text)| (file.clone(), text.clone()))
            .collect();
        if self.running.default_certificate.is_some() {
            texts.default_certificate.clone_from(&self.running.default_certificate);
        }
        texts
    }
}

/// A log of many lines as one, without empty ones.
fn one_line(log: &str) -> String {
    log.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ")
}
