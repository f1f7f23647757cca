//! Reloads that HAProxy refuses, and what comes of them: the guilty parts are left out, everything else goes on.

use std::time::{Duration, Instant};

use super::Controller;
use crate::apply::{Certificates, Outcome, Timings};
use crate::haproxy::Refusal;
use crate::plan::{Units, plan};
use crate::quarantine::{Case, Next, Pending, Place, Progress};

/// Between two trials of suspects: a refused reload costs everybody's changes a moment.
const BETWEEN_TRIALS: Duration = Duration::from_secs(1);
/// The same for whole sections that HAProxy refused.
const BETWEEN_RETRIALS: Duration = Duration::from_mins(1);

impl Controller {
    /// Reloads, without what HAProxy refuses.
    pub(super) async fn reload(&mut self, timings: &mut Timings) -> Outcome {
        let mut progress = Progress::default();
        let mut certificates = Certificates::Wanted;
        loop {
            let outcome = self.driver.reload(&self.wanted, certificates, timings).await;
            let refusal = match &outcome {
                Outcome::Refused { refusal: Some(refusal), cause } => {
                    tracing::warn!(
                        "HAProxy refused the configuration; looking for the part that is wrong: {cause}"
                    );
                    refusal
                }
                Outcome::Refused { .. } => return outcome,
                _ => break self.accept(&progress, outcome),
            };
            match self.refused(refusal, &mut progress) {
                Next::Again => {}
                Next::WithoutCertificates => certificates = Certificates::Proven,
                Next::GiveUp => {
                    self.render_all();
                    self.report_quarantine();
                    return outcome;
                }
            }
            self.render_all();
            let (running, capabilities) = (self.driver.running(), self.driver.capabilities());
            let rest = plan(running, &self.wanted, &Units::All, capabilities);
            // Suspects are only that when HAProxy takes the rest; parts that it names need no such proof.
            if rest.reload.is_empty() && self.driver.is_proven() && !progress.has_suspects() {
                let outcome = if rest.steps.is_empty() {
                    Outcome::Unchanged
                } else {
                    self.driver.live(&rest, timings).await
                };
                break self.accept(&progress, outcome);
            }
        }
    }

    fn accept(&mut self, progress: &Progress, outcome: Outcome) -> Outcome {
        self.quarantine.accepted(progress, self.translator.model());
        self.await_trial();
        self.report_quarantine();
        outcome
    }

    /// Suspects get a trial soon, whole sections now and then.
    fn await_trial(&mut self) {
        let pause = match self.quarantine.pending() {
            Some(Pending::Suspects) => BETWEEN_TRIALS,
            Some(Pending::Sections) => BETWEEN_RETRIALS,
            None => return,
        };
        self.schedule.again_at(Instant::now() + pause);
    }

    /// A trial that needed no reload is over: nothing of it is in the texts.
    pub(super) fn end_idle_trial(&mut self) {
        if self.quarantine.is_on_trial() {
            self.accept(&Progress::default(), Outcome::Unchanged);
        }
    }

    fn refused(&mut self, refusal: &Refusal, progress: &mut Progress) -> Next {
        let places: Vec<Place> = refusal
            .places
            .iter()
            .map(|place| Place { file: place.file.clone(), line: place.line, message: place.message.clone() })
            .collect();
        let case = Case {
            log: &refusal.log,
            places: &places,
            texts: &self.wanted,
            model: self.translator.model(),
            volumes: self.driver.volumes(),
            running: self.driver.running(),
            new_certificates: self.driver.has_new_certificates(&self.wanted),
        };
        self.quarantine.refused(&case, progress)
    }

    /// Suspects come back for their trial when it is time.
    pub(super) fn try_suspects(&mut self, now: Instant) {
        if self.schedule.take_trial(now) && self.quarantine.pending().is_some() {
            self.quarantine.begin_trial();
            self.render_all();
        }
    }

    /// What changed is not left out any more.
    pub(super) fn release_changed(&mut self) {
        if self.quarantine.keep_current(self.translator.model()) {
            self.render_all();
            self.report_quarantine();
        }
    }

    /// Renders everything without what is left out.
    pub(super) fn render_all(&mut self) {
        self.renderer.leave_out(self.quarantine.left_out().clone());
        self.wanted = self.renderer.full(self.translator.model(), self.driver.running());
        self.unsettled = Units::All;
    }

    pub(super) fn report_quarantine(&mut self) {
        self.reporter.quarantined(self.quarantine.convicted());
    }
}
