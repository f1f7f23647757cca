//! Pattern files of users: every entry of the ConfigMap that `--configmap-patternfiles` names is a list, used or not.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Context;
use crate::cluster::{Kind, Origin};
use crate::model::ListName;
use crate::options::access::is_pattern_file;
use crate::problem::{Code, Problem, Severity};
use crate::translate::notes::Notes;

/// The longest pattern: HAProxy reads the lines of a file, and commands, into a buffer of 16 kB.
const LONGEST: usize = 4_096;

/// Reads the pattern files.
pub(super) fn read(context: &Context<'_>, notes: &mut Notes) {
    let Some(name) = &context.inputs.settings.pattern_files else { return };
    let Some(config_map) = context.inputs.snapshot.config_maps.get(name) else { return };
    for (file, text) in &config_map.data {
        let mut problem = |message: String, hint: &str| {
            notes.problems.push(Problem {
                origin: Origin::object(Kind::ConfigMap, name.clone()).at(file.clone()),
                code: Code::PatternFileInvalid,
                severity: Severity::Error,
                message,
                hint: hint.to_owned(),
            });
        };
        if !is_pattern_file(file) {
            problem(
                format!("no pattern file can have the name `{}`", file.escape_debug()),
                "use letters, digits and `-_.`, no dot in front, and not `outrigger-`, which begins lists of the controller",
            );
            continue;
        }
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (patterns, wrong): (BTreeSet<&str>, BTreeSet<&str>) = lines.partition(|line| is_pattern(line));
        if !wrong.is_empty() {
            let count = wrong.len();
            problem(
                format!(
                    "{count} lines of pattern file `{file}` are left out: they are too long or hold control characters"
                ),
                "write one pattern a line",
            );
        }
        let patterns = patterns.into_iter().map(Arc::from).collect();
        notes.lists.insert(ListName::file(file), Arc::new(patterns));
    }
}

fn is_pattern(line: &str) -> bool {
    line.len() <= LONGEST && !line.chars().any(char::is_control)
}
