//! Running × wanted → [`Plan`]: a verdict per unit. Pure.
//!
//! Both sides are [`Texts`]: exactly what stands (or shall stand) in the files HAProxy reads, unit by unit. What runs is
//! proven, parsed from our own files and from HAProxy's answers; parsing what was rendered gives the same texts again.
#![deny(clippy::disallowed_methods)]

mod backends;
mod command;
mod diff;
mod file;
mod parse;
mod reload;
mod servers;
mod slot;
mod spares;
#[cfg(test)]
mod tests;
mod texts;
mod unit;

pub use backends::Backends;
pub use command::{Command, ServerMode};
pub use diff::{diff, plan};
pub use parse::{ParseError, Parsed};
pub use reload::ReloadReason;
pub use slot::Slot;
pub use texts::{BackendText, CertificateText, MapId, Texts};
pub use unit::{FileId, Unit, Units};

/// What brings HAProxy from what runs to what is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Live changes, in order.
    pub steps: Vec<Step>,
    /// Where the texts of the steps come from: what is wanted, with spare backends standing in for new ones.
    pub placed: Texts,
    /// Why a reload is needed as well, after the steps; empty when it is not.
    pub reload: Vec<ReloadReason>,
    /// Units that wait for the reload: until then their running text stays on disk.
    pub waiting: Vec<Unit>,
}

impl Plan {
    /// True when nothing differs.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.reload.is_empty() && self.waiting.is_empty()
    }
}

/// The live change of one unit. After it, what runs is what is wanted, for this unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The unit.
    pub unit: Unit,
    /// Commands in order; empty when HAProxy has not loaded this unit and only its file changes.
    pub commands: Vec<Command>,
}
