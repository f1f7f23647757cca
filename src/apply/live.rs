//! Live changes: files first, commands after, and a look at what came of them.

use std::collections::BTreeSet;
use std::mem::discriminant;
use std::sync::Arc;
use std::time::Instant;

use super::{Driver, Outcome, Timings, drift, files};
use crate::haproxy::CommandError;
use crate::model::BackendName;
use crate::plan::{BackendText, CertificateText, Command, FileId, Plan, Step, Texts, Unit, Units, diff};

/// Backends whose servers are read back at once after a change; larger batches are read back as a whole.
const LOOKED_AT: usize = 16;

/// A certificate that HAProxy refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedCertificate {
    /// Digest of the refused PEM.
    pub digest: [u8; 32],
    /// HAProxy's words.
    pub cause: String,
}

impl Driver {
    /// Carries the steps of a plan out. What HAProxy refuses of it leads to a doubt, which a reload clears, except for
    /// certificates: those are left out alone, with what ran before in their place.
    pub async fn live(&mut self, plan: &Plan, timings: &mut Timings) -> Outcome {
        match self.carry_out(&plan.steps, &plan.placed, timings).await {
            Ok(()) => Outcome::Live,
            Err(error) => {
                // A full or read-only volume. The reload that this leads to compares every file, and mends it when it can.
                self.doubt.get_or_insert_with(|| format!("files could not be written: {error:#}"));
                Outcome::Refused { cause: format!("{error:#}"), refusal: None }
            }
        }
    }

    async fn carry_out(
        &mut self,
        steps: &[Step],
        wanted: &Texts,
        timings: &mut Timings,
    ) -> anyhow::Result<()> {
        let is_certificate =
            |step: &&Step| matches!(step.unit, Unit::Certificate(_) | Unit::DefaultCertificate);
        let (certificates, others): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(is_certificate);
        let (gone, kept): (Vec<&Step>, Vec<&Step>) = certificates.into_iter().partition(
            |step| matches!(&step.unit, Unit::Certificate(file) if !wanted.certificates.contains_key(file)),
        );
        self.load_certificates(&kept, wanted, timings).await?;
        // Backends, then entries: on disk, too, nothing names what is not there yet.
        for steps in others.chunk_by(|a, b| discriminant(&a.unit) == discriminant(&b.unit)) {
            self.change(steps, wanted, timings).await?;
        }
        self.change(&gone, wanted, timings).await?;
        for step in gone {
            if let Unit::Certificate(file) = &step.unit {
                files::remove(&FileId::Certificate(file.clone()).path(&self.volumes))?;
                self.refused.remove(file);
            }
        }
        let started = Instant::now();
        self.look_at_changed(&others).await;
        timings.commands += started.elapsed();
        Ok(())
    }

    /// Files of all steps, then the commands of all steps.
    async fn change(&mut self, steps: &[&Step], wanted: &Texts, timings: &mut Timings) -> anyhow::Result<()> {
        let mut changed = BTreeSet::new();
        for step in steps {
            self.running.adopt(wanted, &step.unit);
            changed.extend(step.unit.files());
        }
        for id in &changed {
            let started = Instant::now();
            files::write(&self.running, id, &self.volumes)?;
            let spent = if matches!(id, FileId::Map(_)) {
                &mut timings.write_maps
            } else {
                &mut timings.write_config
            };
            *spent += started.elapsed();
        }
        let started = Instant::now();
        for command in steps.iter().flat_map(|step| &step.commands) {
            self.run(command).await;
        }
        timings.commands += started.elapsed();
        Ok(())
    }

    /// Certificates that are added or changed: each is loaded before the list names it, since HAProxy (OpenSSL) may refuse
    /// what looks right here, and a list that names a refused one would not start.
    async fn load_certificates(
        &mut self,
        steps: &[&Step],
        wanted: &Texts,
        timings: &mut Timings,
    ) -> anyhow::Result<()> {
        let started = Instant::now();
        let mut lists = Vec::new();
        for step in steps {
            let names = |command: &Command| {
                matches!(command, Command::AddToList { .. } | Command::RemoveFromList { .. })
            };
            let (list, load): (Vec<&Command>, Vec<&Command>) = step.commands.iter().partition(|c| names(c));
            if self.load_certificate(&step.unit, &load, wanted).await? {
                self.running.adopt(wanted, &step.unit);
                lists.extend(list);
            }
        }
        if !lists.is_empty() {
            files::write(&self.running, &FileId::CrtList, &self.volumes)?;
        }
        for command in lists {
            self.run(command).await;
        }
        timings.commands += started.elapsed();
        Ok(())
    }

    /// Writes one certificate and loads it; false when HAProxy refused it and the file is as before.
    async fn load_certificate(
        &mut self,
        unit: &Unit,
        load: &[&Command],
        wanted: &Texts,
    ) -> anyhow::Result<bool> {
        let (name, text): (Arc<str>, _) = match unit {
            Unit::Certificate(file) => (file.clone(), wanted.certificates.get(file)),
            _ => (CertificateText::DEFAULT_FILE.into(), wanted.default_certificate.as_ref()),
        };
        let Some(text) = text else { return Ok(false) };
        if self.refused.get(&name).is_some_and(|refused| refused.digest == text.digest) {
            return Ok(false);
        }
        let id = if matches!(unit, Unit::Certificate(_)) {
            FileId::Certificate(name.clone())
        } else {
            FileId::DefaultCertificate
        };
        let before = files::read(&id, &self.volumes);
        files::write(wanted, &id, &self.volumes)?;
        for command in load {
            match self.worker.run(command).await {
                Ok(()) => {}
                Err(CommandError::Unexpected { answer, .. }) => {
                    let path = id.path(&self.volumes);
                    match before {
                        Some(bytes) => {
                            outrigger_init::write_atomic(&path, &bytes, outrigger_init::FILE_MODE)?;
                        }
                        None => files::remove(&path)?,
                    }
                    let cause = answer
                        .lines()
                        .map(str::trim)
                        .filter(|l| !l.is_empty())
                        .collect::<Vec<_>>()
                        .join("; ");
                    self.refused.insert(name, RefusedCertificate { digest: text.digest, cause });
                    return Ok(false);
                }
                Err(error) => self.doubt(&error),
            }
        }
        self.refused.remove(&name);
        Ok(true)
    }

    /// Runs a command; what goes wrong becomes a doubt.
    async fn run(&mut self, command: &Command) {
        if let Err(error) = self.worker.run(command).await {
            self.doubt(&error);
        }
    }

    fn doubt(&mut self, error: &CommandError) {
        tracing::warn!(%error, "a runtime command did not succeed; a reload will bring HAProxy to what is on disk");
        self.doubt.get_or_insert_with(|| format!("a runtime command did not succeed: {error}"));
    }

    /// Reads the servers of changed backends back and mends what is not as it should be.
    async fn look_at_changed(&mut self, steps: &[&Step]) {
        let backends: Vec<&BackendName> = steps
            .iter()
            .filter_map(|step| match &step.unit {
                Unit::Backend(name) => Some(name),
                _ => None,
            })
            .collect();
        if backends.len() > LOOKED_AT {
            return self.look_at_everything().await;
        }
        for name in backends {
            let Some(expected) = self.running.backends.get(name).cloned() else { continue };
            let Ok(observed) = self.worker.servers_of(name, expected.servers.len()).await else { continue };
            let servers = drift::servers_as_observed(&expected, &observed, self.capabilities);
            if servers != expected.servers {
                let mut texts = self.running.clone();
                let text = BackendText { header: expected.header.clone(), servers, assets: Vec::new() };
                texts.backends.insert_mut(name.clone(), Arc::new(text));
                self.mend(&texts, &Units::from_iter([Unit::Backend(name.clone())])).await;
            }
        }
    }

    /// Reads everything back that commands can change, and mends what is not as it should be.
    pub async fn look_at_everything(&mut self) {
        match self.worker.running().await {
            Ok(observed) => {
                let texts = drift::as_observed(&self.running, &observed, self.capabilities);
                self.mend(&texts, &Units::All).await;
            }
            Err(error) => tracing::warn!(%error, "what HAProxy runs could not be read back"),
        }
    }

    async fn mend(&mut self, observed: &Texts, units: &Units) {
        let plan = diff(observed, &self.running, units, self.capabilities);
        if let Some(reason) = plan.reload.first() {
            self.doubt.get_or_insert_with(|| format!("HAProxy does not run what it was told: {reason}"));
        }
        if plan.steps.is_empty() {
            return;
        }
        tracing::warn!(units = plan.steps.len(), "HAProxy does not run what it was told; mending");
        for command in plan.steps.iter().flat_map(|step| &step.commands) {
            self.run(command).await;
        }
    }
}
