//! Pattern files of users: every entry of the ConfigMap that `--configmap-patternfiles` names is a list, used or not.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Context;
use crate::cluster::{Kind, Origin};
use crate::model::ListName;
use crate::options::access::is_pattern_file;
use crate::options::value::networks;
use crate::problem::{Code, Problem, Severity, excerpt};
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
        let (networks, others) = networks_in(text);
        if let (Some(other), false) = (others, networks.is_empty()) {
            problem(
                format!(
                    "`{}` in pattern file `{file}` is no address or network, while other lines are; lists of addresses go on without it",
                    excerpt(other, 60)
                ),
                "write one address or network a line",
            );
        }
        notes.lists.insert(ListName::networks_in(file), Arc::new(networks));
        let (patterns, wrong): (BTreeSet<&str>, BTreeSet<&str>) =
            lines(text).partition(|line| is_pattern(line));
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

/// The lines of a pattern file that say something.
pub(in crate::translate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The addresses and networks of a pattern file, for `allow-list` and its kind, and the first line that holds something else.
fn networks_in(text: &str) -> (BTreeSet<Arc<str>>, Option<&str>) {
    let (mut patterns, mut other) = (BTreeSet::new(), None);
    for line in lines(text) {
        match networks(line) {
            Ok(networks) => patterns.extend(networks.iter().map(|network| Arc::from(network.to_string()))),
            Err(_) => other = other.or(Some(line)),
        }
    }
    (patterns, other)
}

fn is_pattern(line: &str) -> bool {
    line.len() <= LONGEST && !line.chars().any(char::is_control)
}
