//! Raw configuration in global, frontends and statistics.

use super::Context;
use crate::model::{Global, Snippet};
use crate::options::Key;
use crate::options::raw::{FRONTEND_CONFIG_SNIPPET, GLOBAL_CONFIG_SNIPPET, Lines, STATS_CONFIG_SNIPPET};
use crate::translate::notes::Notes;
use crate::translate::snippet_disabled;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, global: &mut Global, notes: &mut Notes) {
    let rules = context.inputs.settings.snippets;
    let mut snippet = |key: &Key<Lines>, counts: bool, kind: &str| {
        let (lines, origin) = (context.get(key)?, context.origin(key)?);
        if !counts {
            notes.problems.push(snippet_disabled(origin, kind));
            return None;
        }
        Some(Snippet { origin, lines: lines.into() })
    };
    global.snippets.global = snippet(&GLOBAL_CONFIG_SNIPPET, rules.global, "global");
    global.snippets.frontends = snippet(&FRONTEND_CONFIG_SNIPPET, rules.frontend, "frontend");
    global.snippets.stats = snippet(&STATS_CONFIG_SNIPPET, rules.frontend, "frontend");
}
