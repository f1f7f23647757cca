//! Lists of addresses: written out, or in a pattern file.

use std::sync::Arc;

use ipnet::IpNet;

use super::{Context, Notes, closed};
use crate::cluster::Origin;
use crate::model::ListName;
use crate::model::policy::access::Access;
use crate::options::Key;
use crate::options::access::{ALLOW_LIST, Addresses, DENY_LIST};
use crate::options::value::networks;
use crate::problem::{Code, Problem, Severity};
use crate::translate::global::pattern_lines;

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
                ..closed(context, origin, &message, "create the pattern file, or write the addresses out")
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
            // The list itself is noted once for all, with the pattern files.
            let mut lines = pattern_lines(text).peekable();
            if lines.peek().is_some() && lines.all(|line| networks(line).is_err()) {
                let reason = format!("there is no address or network in pattern file `{file}`");
                return List::Missing { origin: said.origin, reason, name };
            }
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

fn pattern(network: &IpNet) -> Arc<str> {
    network.to_string().into()
}
