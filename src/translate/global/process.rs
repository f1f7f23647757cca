//! HAProxy as a process: connections, threads.

use super::Context;
use crate::model::Global;
use crate::options::global::{HARD_STOP_AFTER, MAXCONN, NBTHREAD};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, global: &mut Global, _notes: &mut Notes) {
    let process = &mut global.process;
    process.maxconn = context.get(&MAXCONN);
    process.nbthread = context.get(&NBTHREAD);
    process.hard_stop_after = context.get(&HARD_STOP_AFTER).unwrap_or(process.hard_stop_after);
}
