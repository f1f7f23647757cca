//! Every metric of the controller, in one place: names, labels, and what they count. HAProxy has an exporter of its own.

mod facts;
mod process;
mod watches;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::problem::{Problem, Severity};
use crate::watch::Counters;

pub use facts::{Facts, Reload};

/// What a scrape is answered with (`OpenMetrics` 1.0).
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of update durations, in seconds: a live change takes milliseconds, a reload up to some hundred.
const DURATIONS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfOutcome {
    outcome: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfReload {
    reason: String,
    result: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfProblem {
    severity: &'static str,
    code: &'static str,
}

/// The metrics; whoever counts has a share of it.
pub struct Metrics {
    registry: Registry,
    updates: Family<OfOutcome, Counter>,
    update_seconds: Histogram,
    reloads: Family<OfReload, Counter>,
    problems: Family<OfProblem, Gauge>,
    leads: Gauge,
    facts: Mutex<Facts>,
}

impl Metrics {
    /// All at zero; `watches` is what the source counts.
    pub fn new(watches: Arc<Counters>) -> Self {
        let mut root = Registry::default();
        // Names that every Prometheus client has, and no prefix: what shows processes knows them.
        root.register_collector(Box::new(process::Collector));
        let registry = root.sub_registry_with_prefix("outrigger");
        let metrics = Self {
            updates: Family::default(),
            update_seconds: Histogram::new(DURATIONS),
            reloads: Family::default(),
            problems: Family::default(),
            leads: Gauge::default(),
            facts: Mutex::default(),
            registry: Registry::default(),
        };
        let version = vec![("version", env!("CARGO_PKG_VERSION"))];
        registry.register("build", "Version of the controller", Info::new(version));
        registry.register("updates", "Updates of HAProxy by outcome", metrics.updates.clone());
        registry.register(
            "update_duration_seconds",
            "Time from changed objects to a proven HAProxy",
            metrics.update_seconds.clone(),
        );
        registry.register(
            "reloads",
            "Reloads of HAProxy by each of their reasons, and result",
            metrics.reloads.clone(),
        );
        registry.register(
            "problems",
            "Mistakes in objects that stand now, by severity and code",
            metrics.problems.clone(),
        );
        registry.register("leader", "1 when this controller writes status and Events", metrics.leads.clone());
        registry.register_collector(Box::new(watches::Collector(watches)));
        Self { registry: root, ..metrics }
    }

    /// An update has ended.
    pub fn updated(&self, outcome: &str, took: Duration) {
        self.updates.get_or_create(&OfOutcome { outcome: outcome.to_owned() }).inc();
        self.update_seconds.observe(took.as_secs_f64());
    }

    /// A reload has ended; it counts once for each kind of reason.
    pub fn reloaded<'a>(&self, reasons: impl IntoIterator<Item = &'a str>, succeeded: bool) {
        let result = if succeeded { "success" } else { "failure" };
        let reasons: Vec<String> = reasons.into_iter().map(str::to_owned).collect();
        for reason in &reasons {
            let of = OfReload { reason: reason.clone(), result: result.to_owned() };
            self.reloads.get_or_create(&of).inc();
        }
        self.lock().last_reload = Some(Reload { at: Instant::now(), reasons, succeeded });
    }

    /// HAProxy was proven to run the configuration with this digest.
    pub fn runs(&self, generation: String) {
        self.lock().generation = Some(generation);
    }

    /// A Problem is said.
    pub fn found(&self, problem: &Problem) {
        let of = of(problem);
        self.problems.get_or_create(&of).inc();
        self.lock().found((of.severity, of.code));
    }

    /// A Problem that was said is mended.
    pub fn mended(&self, problem: &Problem) {
        let of = of(problem);
        self.problems.get_or_create(&of).dec();
        self.lock().mended((of.severity, of.code));
    }

    /// Whether this controller leads.
    pub fn leads(&self, leads: bool) {
        self.leads.set(leads.into());
        self.lock().leads = leads;
    }

    /// What the status page shows.
    pub fn facts(&self) -> Facts {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Facts> {
        // Every change of them is one assignment.
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text of a scrape.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

fn of(problem: &Problem) -> OfProblem {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    OfProblem { severity, code: problem.code.as_str() }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Kind, ObjectName, Origin};
    use crate::problem::{Code, Severity};

    #[test]
    fn what_is_counted_is_in_the_text() {
        let metrics = Metrics::new(Arc::default());
        metrics.updated("live", Duration::from_millis(3));
        metrics.reloaded(["new-backend", "main-changed"], true);
        let problem = Problem {
            origin: Origin::object(Kind::Ingress, ObjectName::new("a", "b")),
            code: Code::ServiceNotFound,
            severity: Severity::Error,
            message: String::new(),
            hint: String::new(),
        };
        metrics.found(&problem);
        metrics.found(&problem);
        metrics.mended(&problem);
        metrics.leads(true);
        let text = metrics.text();
        for line in [
            "outrigger_updates_total{outcome=\"live\"} 1",
            "outrigger_update_duration_seconds_bucket{le=\"0.005\"} 1",
            "outrigger_reloads_total{reason=\"new-backend\",result=\"success\"} 1",
            "outrigger_problems{severity=\"error\",code=\"service-not-found\"} 1",
            "outrigger_leader 1",
            "outrigger_watch_relists_total{kind=\"Ingress\"} 0",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
