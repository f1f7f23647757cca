//! Says what is wrong and what got right again: one log line per Problem that appears or goes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use crate::apply::RefusedCertificate;
use crate::cluster::{Kind, ObjectName, Origin};
use crate::metrics::Metrics;
use crate::problem::{Code, Problem, Severity};
use crate::quarantine::{Part, Verdict};
use crate::report::News;

/// A Problem must last this long before it is said: objects that belong together arrive one after the other, and an Ingress
/// that comes a moment before its Service or Secret is nobody's mistake.
const PATIENCE: Duration = Duration::from_secs(1);

/// Remembers what was said, so that nothing is said twice.
#[derive(Debug, Default)]
pub(super) struct Reporter {
    by_origin: BTreeMap<Origin, BTreeSet<Problem>>,
    /// Problems that have not lasted long enough.
    unsaid: BTreeMap<Problem, Instant>,
    /// Who tells the cluster.
    news: Option<UnboundedSender<News>>,
    /// Who counts.
    metrics: Option<Arc<Metrics>>,
}

impl Reporter {
    /// A reporter that also tells the cluster, and counts.
    pub(super) fn new(news: Option<UnboundedSender<News>>, metrics: Arc<Metrics>) -> Self {
        Self { news, metrics: Some(metrics), ..Self::default() }
    }

    /// Tells the cluster; when nobody listens any more the process is about to end.
    pub(super) fn tell(&self, news: News) {
        if let Some(sender) = &self.news {
            let _ = sender.send(news);
        }
    }

    fn say(&self, problem: &Problem) {
        match problem.severity {
            Severity::Error => tracing::error!("{problem}"),
            Severity::Warning => tracing::warn!("{problem}"),
        }
        if let Some(metrics) = &self.metrics {
            metrics.found(problem);
        }
        self.tell(News::Found(problem.clone()));
    }

    fn mended(&self, problem: &Problem) {
        tracing::info!("mended: {}: {} [{}]", problem.origin, problem.message, problem.code);
        if let Some(metrics) = &self.metrics {
            metrics.mended(problem);
        }
        self.tell(News::Mended(problem.clone()));
    }

    /// Problems that translation found or no longer finds.
    pub(super) fn translation(&mut self, added: Vec<Problem>, gone: &[Problem], now: Instant) {
        self.unsaid.extend(added.into_iter().map(|problem| (problem, now + PATIENCE)));
        for problem in gone {
            if self.unsaid.remove(problem).is_none() {
                self.mended(problem);
            }
        }
    }

    /// When the next Problem has lasted long enough.
    pub(super) fn due(&self) -> Option<Instant> {
        self.unsaid.values().min().copied()
    }

    /// Says what has lasted long enough.
    pub(super) fn say_due(&mut self, now: Instant) {
        if self.due().is_none_or(|due| due > now) {
            return;
        }
        let (due, unsaid) = std::mem::take(&mut self.unsaid).into_iter().partition(|(_, due)| *due <= now);
        self.unsaid = unsaid;
        let due: BTreeMap<Problem, Instant> = due;
        for problem in due.keys() {
            self.say(problem);
        }
    }

    /// The problems of this origin in the source are exactly these now. They must last, too: right after a start an API
    /// server refuses everything for a moment (its RBAC rules are not loaded yet).
    pub(super) fn source(&mut self, origin: Origin, problems: Vec<Problem>, now: Instant) {
        let (added, gone) = self.replace(origin, problems);
        self.translation(added, &gone, now);
    }

    /// The problems of this origin are exactly these now; said at once.
    fn set(&mut self, origin: Origin, problems: impl IntoIterator<Item = Problem>) {
        let (added, gone) = self.replace(origin, problems);
        for problem in &added {
            self.say(problem);
        }
        for problem in &gone {
            self.mended(problem);
        }
    }

    /// Remembers the problems of an origin; gives what is new and what is gone.
    fn replace(
        &mut self,
        origin: Origin,
        problems: impl IntoIterator<Item = Problem>,
    ) -> (Vec<Problem>, Vec<Problem>) {
        let now: BTreeSet<Problem> = problems.into_iter().collect();
        let before = self.by_origin.remove(&origin).unwrap_or_default();
        let changes =
            (now.difference(&before).cloned().collect(), before.difference(&now).cloned().collect());
        if !now.is_empty() {
            self.by_origin.insert(origin, now);
        }
        changes
    }

    /// Ports that another process holds.
    pub(super) fn ports(&mut self, taken: &[std::net::SocketAddr]) {
        let origin = Origin::object(Kind::Flag, ObjectName::cluster("listeners"));
        let problems: Vec<Problem> = taken
            .iter()
            .map(|address| Problem {
                origin: origin.clone(),
                code: Code::PortUnavailable,
                severity: Severity::Error,
                message: format!("`{address}` is held by another process, so HAProxy keeps what it runs"),
                hint: "stop that process, or choose another port with --http-bind-port, --https-bind-port, \
                       --stats-bind-port or --healthz-bind-port"
                    .to_owned(),
            })
            .collect();
        self.set(origin, problems);
    }

    /// Certificates that HAProxy refused.
    pub(super) fn refused_certificates<'a>(
        &mut self,
        refused: impl Iterator<Item = (&'a Arc<str>, &'a RefusedCertificate)>,
    ) {
        let origin = Origin::object(Kind::Flag, ObjectName::cluster("certificates"));
        let problems: Vec<Problem> = refused
            .map(|(file, refused)| Problem {
                origin: origin.clone(),
                code: Code::CertificateInvalid,
                severity: Severity::Error,
                message: format!("HAProxy refused `{file}`: {}", refused.cause),
                hint: "replace the Secret; until then its hosts get what they got before".to_owned(),
            })
            .collect();
        self.set(origin, problems);
    }

    /// Parts that HAProxy refuses, and that are left out.
    pub(super) fn quarantined<'a>(&mut self, parts: impl Iterator<Item = (&'a Part, &'a Verdict)>) {
        let origin = Origin::object(Kind::Flag, ObjectName::cluster("quarantine"));
        let problems = parts.map(|(part, verdict)| {
            let (message, hint) = match part {
                Part::Snippet(_) => (
                    format!("HAProxy refused the snippet, so it is left out: {}", verdict.words),
                    "correct the snippet; it is tried again when it changes",
                ),
                Part::Backend(name) => (
                    format!(
                        "HAProxy refused backend `{name}`, so it stays as it was, or answers 503 if it is new: {}",
                        verdict.words
                    ),
                    "change the keys that HAProxy's words are about; if there are none, please report this",
                ),
                Part::Main => (
                    format!(
                        "HAProxy refused the global part, so it stays as it was: {}",
                        verdict.words
                    ),
                    "change the keys of the ConfigMap that HAProxy's words are about; if there are none, please report this",
                ),
            };
            let origin = verdict.origin.clone();
            let hint = hint.to_owned();
            Problem { origin, code: Code::Quarantined, severity: Severity::Error, message, hint }
        });
        self.set(origin, problems);
    }

    /// HAProxy refused a configuration (`Some` with its words), or takes it again (`None`).
    pub(super) fn refused(&mut self, cause: Option<&str>) {
        let origin = Origin::object(Kind::Flag, ObjectName::cluster("configuration"));
        let problem = cause.map(|cause| Problem {
            origin: origin.clone(),
            code: Code::ConfigurationRefused,
            severity: Severity::Error,
            message: format!("HAProxy refused the new configuration and runs the last good one: {cause}"),
            hint: "it is tried again after a change, and from time to time".to_owned(),
        });
        self.set(origin, problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Problem {
        Problem {
            origin: Origin::object(Kind::Ingress, ObjectName::new("a", "b")),
            code: Code::ServiceNotFound,
            severity: Severity::Error,
            message: "no Service".to_owned(),
            hint: "create it".to_owned(),
        }
    }

    #[test]
    fn a_problem_that_goes_at_once_is_never_said() {
        let now = Instant::now();
        let mut reporter = Reporter::default();
        reporter.translation(vec![problem()], &[], now);
        assert_eq!(reporter.due(), Some(now + PATIENCE));
        reporter.say_due(now);
        assert_eq!(reporter.due(), Some(now + PATIENCE), "too early");
        reporter.translation(Vec::new(), &[problem()], now);
        assert_eq!(reporter.due(), None);
    }

    #[test]
    fn a_problem_that_lasts_is_said_once() {
        let now = Instant::now();
        let mut reporter = Reporter::default();
        reporter.translation(vec![problem()], &[], now);
        reporter.say_due(now + PATIENCE);
        assert_eq!(reporter.due(), None);
    }
}
