//! How an update ended, for the log, metrics and status alike.

use std::fmt;
use std::time::Duration;

use crate::haproxy::Refusal;

/// How an update ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// What runs is what is wanted already.
    Unchanged,
    /// Changed while HAProxy runs.
    Live,
    /// Changed by a reload that is proven.
    Reloaded,
    /// HAProxy refused the new configuration; the last good one runs and is on disk.
    Refused {
        /// What HAProxy said, one line.
        cause: String,
        /// HAProxy's own refusal; `None` when it is not the configuration that went wrong.
        refusal: Option<Refusal>,
    },
}

impl Outcome {
    /// In one stable word.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Live => "live",
            Self::Reloaded => "reloaded",
            Self::Refused { .. } => "refused",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// Where the time of an update went.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timings {
    /// Snapshot to plan.
    pub parse_ingress: Duration,
    /// Map files.
    pub write_maps: Duration,
    /// All other files.
    pub write_config: Duration,
    /// Runtime commands.
    pub commands: Duration,
    /// Reload, until it was proven.
    pub reload_haproxy: Duration,
}
