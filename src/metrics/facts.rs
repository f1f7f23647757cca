//! What is known of the controller beside numbers: the status page shows it.

use std::collections::BTreeMap;
use std::time::Instant;

/// As of now.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// This controller writes status and Events.
    pub leads: bool,
    /// The digest of the configuration that HAProxy was proven to run last.
    pub generation: Option<String>,
    /// The last reload.
    pub last_reload: Option<Reload>,
    /// Standing Problems: how many of which severity and code.
    pub problems: BTreeMap<(&'static str, &'static str), u64>,
}

/// A reload that has ended.
#[derive(Debug, Clone)]
pub struct Reload {
    /// When it ended.
    pub at: Instant,
    /// Kinds of its reasons.
    pub reasons: Vec<String>,
    /// HAProxy took it.
    pub succeeded: bool,
}

impl Facts {
    pub(super) fn found(&mut self, problem: (&'static str, &'static str)) {
        *self.problems.entry(problem).or_default() += 1;
    }

    pub(super) fn mended(&mut self, problem: (&'static str, &'static str)) {
        if let Some(count) = self.problems.get_mut(&problem) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.problems.remove(&problem);
            }
        }
    }
}
