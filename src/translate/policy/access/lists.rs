//! Lists of addresses: written out, or in a pattern file.

use std::collections::BTreeSet;
use std::sync::Arc;

use ipnet::IpNet;

use super::{Context, Notes, closed};
use crate::cluster::{Kind, ObjectName, Origin};
use crate::model::ListName;
use crate::model::policy::access::Access;
use crate::options::Key;
use crate::options::access::{ALLOW_LIST, Addresses, DENY_LIST};
use crate::options::value::networks;
use crate::problem::{Code, Problem, Severity};

/// Reads `allow-list` and `deny-list`.
pub(super) fn read(context: &Context<'_>, access: &mut Access, notes: &mut Notes) {
    match list(context, &DENY_LIST, notes) {
        List::Unsaid => {}
        List::Known(name) => access.deny_list = Some(name),
        List::Missing { origin, reason, .. } => {
            access.closed = true;
            let message = format!("{reason}: nobody knows whom `deny-list` refuses, so the path is closed");
            notes.problems.push(Problem {
                code: Code::PatternFileNotFound,
                ..closed(origin, &message, "create the pattern file, or write the addresses out")
            });
        }
    }
    match list(context, &ALLOW_LIST, notes) {
        List::Unsaid => {}
        List::Known(name) => access.allow_list = Some(name),
        List::Missing { origin, reason, name } => {
            // An empty list serves nobody, and fills while HAProxy runs.
            notes.lists.insert(name.clone(), Arc::default());
            access.allow_list = Some(name);
            notes.problems.push(missing(origin, &reason, "`allow-list` serves nobody"));
        }
    }
}

/// A list as an object writes it.
pub(super) enum List {
    /// Nobody says so.
    Unsaid,
    /// It is known; its name.
    Known(ListName),
    /// Its pattern file does not exist.
    Missing {
        /// Where it is written.
        origin: Origin,
        /// What does not exist.
        reason: String,
        /// The name that it will have.
        name: ListName,
    },
}

/// The list of a key; its patterns are noted.
pub(super) fn list(context: &Context<'_>, key: &Key<Addresses>, notes: &mut Notes) -> List {
    let Some(said) = context.said(key) else { return List::Unsaid };
    match said.value {
        Addresses::Networks(networks) => {
            let name = ListName::of(&said.object, key.entry.name);
            notes.lists.insert(name.clone(), Arc::new(networks.iter().map(pattern).collect()));
            List::Known(name)
        }
        Addresses::File(file) => {
            let name = ListName::networks_in(&file);
            let Some(config_map) = &context.settings.pattern_files else {
                let reason =
                    format!("there is no pattern file `{file}`, since `--configmap-patternfiles` is not set");
                return List::Missing { origin: said.origin, reason, name };
            };
            let found = context.snapshot.config_maps.get(config_map);
            let Some(text) = found.and_then(|config_map| config_map.data.get(&file)) else {
                let reason = format!("there is no pattern file `{file}` in ConfigMap `{config_map}`");
                return List::Missing { origin: said.origin, reason, name };
            };
            let (patterns, wrong) = networks_in(text);
            if let Some(wrong) = wrong {
                notes.problems.push(not_an_address(config_map, &file, &wrong));
            }
            notes.lists.insert(name.clone(), Arc::new(patterns));
            List::Known(name)
        }
    }
}

/// A pattern file that does not exist, and what follows from it.
pub(super) fn missing(origin: Origin, reason: &str, consequence: &str) -> Problem {
    Problem {
        origin,
        code: Code::PatternFileNotFound,
        severity: Severity::Error,
        message: format!("{reason}; {consequence}"),
        hint: "create the pattern file, or write the addresses out".to_owned(),
    }
}

/// The addresses and networks of a pattern file, and the first of the lines that are none.
fn networks_in(text: &str) -> (BTreeSet<Arc<str>>, Option<String>) {
    let (mut patterns, mut wrong) = (BTreeSet::new(), None);
    for (number, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match networks(line) {
            Ok(networks) => patterns.extend(networks.iter().map(pattern)),
            Err(_) if wrong.is_none() => wrong = Some(format!("line {}", number + 1)),
            Err(_) => {}
        }
    }
    (patterns, wrong)
}

fn not_an_address(config_map: &ObjectName, file: &Arc<str>, line: &str) -> Problem {
    Problem {
        origin: Origin::object(Kind::ConfigMap, config_map.clone()).at(file.clone()),
        code: Code::PatternFileInvalid,
        severity: Severity::Error,
        message: format!(
            "{line} of pattern file `{file}` is no address or network; a list of addresses goes on without it"
        ),
        hint: "write one address or network a line".to_owned(),
    }
}

fn pattern(network: &IpNet) -> Arc<str> {
    network.to_string().into()
}
