//! The status page: what an operator looks at first, as plain text.

use std::fmt::Write;

use super::Shown;
use crate::metrics::Metrics;

/// The text, as of now.
pub(super) fn page(metrics: &Metrics, shown: Shown) -> String {
    let facts = metrics.facts();
    let mut page = format!("outrigger {}\n\n", env!("CARGO_PKG_VERSION"));
    let generation = facts.generation.as_deref().unwrap_or("not proven yet");
    let leader = if facts.leads { "yes" } else { "no" };
    // Writing to a String cannot fail.
    let _ = writeln!(page, "leader:       {leader}\ngeneration:   {generation}");
    let _ = match facts.last_reload {
        None => writeln!(page, "last reload:  none by this process"),
        Some(reload) => {
            let result = if reload.succeeded { "successful" } else { "refused" };
            let (ago, reasons) = (reload.at.elapsed().as_secs(), reload.reasons.join(", "));
            writeln!(page, "last reload:  {ago} s ago, {result}, because of {reasons}")
        }
    };
    let count: u64 = facts.problems.values().sum();
    let _ = writeln!(page, "problems:     {count}");
    for ((severity, code), count) in &facts.problems {
        let _ = writeln!(page, "  {count:>5} {severity} {code}");
    }
    if count > 0 {
        page.push_str("\nThe log and the Events of the objects say which ones; `outrigger problems show CODE` explains a code.\n");
    }
    page.push_str("\n/livez        the process runs\n");
    page.push_str(if shown.metrics {
        "/metrics      metrics\n"
    } else {
        "/metrics      off; --prometheus turns it on\n"
    });
    page.push_str(if shown.profiles {
        "/debug/pprof/ profiles\n"
    } else {
        "/debug/pprof/ off; --pprof turns it on\n"
    });
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Kind, ObjectName, Origin};
    use crate::problem::{Code, Problem, Severity};
    use std::sync::Arc;

    #[test]
    fn the_page_says_who_leads_what_runs_and_what_is_wrong() {
        let metrics = Metrics::new(Arc::default());
        let shown = Shown { metrics: true, profiles: false };
        let before = page(&metrics, shown);
        assert!(before.contains("not proven yet") && before.contains("none by this process"), "{before}");
        metrics.leads(true);
        metrics.runs("0123abcd".to_owned());
        metrics.reloaded(["main-changed", "new-backend"], true);
        let origin = Origin::object(Kind::Ingress, ObjectName::new("a", "b"));
        let (message, hint) = (String::new(), String::new());
        let problem =
            Problem { origin, code: Code::ServiceNotFound, severity: Severity::Error, message, hint };
        metrics.found(&problem);
        let after = page(&metrics, shown);
        for part in [
            "leader:       yes",
            "generation:   0123abcd",
            "s ago, successful, because of main-changed, new-backend",
            "problems:     1\n",
            "    1 error service-not-found",
            "/debug/pprof/ off",
        ] {
            assert!(after.contains(part), "{part} is not in\n{after}");
        }
        metrics.mended(&problem);
        assert!(!page(&metrics, shown).contains("service-not-found"));
    }
}
