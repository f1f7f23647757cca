//! The [`ProblemBook`]: the problems of every unit, counted, with the difference that an update made.

use std::collections::BTreeMap;

use crate::cluster::ObjectName;
use crate::model::{BackendName, RouteKey};
use crate::problem::Problem;

/// What was computed when a problem was found. Each unit replaces its own problems only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Ingress(ObjectName),
    ConfigMap,
    Route(RouteKey),
    Backend(BackendName),
    Secret(ObjectName),
    TlsHost(std::sync::Arc<str>),
    /// How much there is of everything.
    Size,
}

/// Problems by unit, and every distinct problem with the number of units that have it.
#[derive(Debug, Default)]
pub(super) struct ProblemBook {
    by_unit: BTreeMap<Unit, Vec<Problem>>,
    counts: BTreeMap<Problem, usize>,
    /// Problems touched since the last [`Self::take_difference`], and whether they were there then.
    before: BTreeMap<Problem, bool>,
}

impl ProblemBook {
    /// All problems, sorted, each once.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.counts.keys()
    }

    /// The problems of this unit are exactly these now.
    pub(super) fn set(&mut self, unit: Unit, problems: Vec<Problem>) {
        let old = if problems.is_empty() {
            self.by_unit.remove(&unit).unwrap_or_default()
        } else {
            for problem in &problems {
                let count = self.counts.entry(problem.clone()).or_insert(0);
                if *count == 0 {
                    self.before.entry(problem.clone()).or_insert(false);
                }
                *count += 1;
            }
            self.by_unit.insert(unit, problems).unwrap_or_default()
        };
        for problem in old {
            let Some(count) = self.counts.get_mut(&problem) else { continue };
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&problem);
                self.before.entry(problem).or_insert(true);
            }
        }
    }

    /// What was added, and what is gone, since the last call.
    pub(super) fn take_difference(&mut self) -> (Vec<Problem>, Vec<Problem>) {
        let (mut added, mut gone) = (Vec::new(), Vec::new());
        for (problem, was_there) in std::mem::take(&mut self.before) {
            match (was_there, self.counts.contains_key(&problem)) {
                (false, true) => added.push(problem),
                (true, false) => gone.push(problem),
                _ => {}
            }
        }
        (added, gone)
    }
}
