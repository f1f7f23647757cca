//! Why a reload is needed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::BackendText;
use crate::model::BackendName;

/// One reason; a plan may have many.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReloadReason {
    /// Global, defaults, frontends or fixed backends differ; holds the first section that does.
    MainChanged(String),
    /// A backend that does not run yet.
    NewBackend(BackendName),
    /// A backend whose settings differ.
    BackendChanged(BackendName),
    /// A backend that needs another number of server slots (before 2.6).
    MoreSlots(BackendName),
    /// HAProxy runs without default certificate.
    NoDefaultCertificate,
    /// A line of the certificate list, by its file, checks clients in another way.
    ClientChecks(Arc<str>),
    /// A regular expression is new (before 2.4 there is no way to put it where it belongs).
    NewRegex,
    /// A list that changed in too many places for commands.
    ListChanged(Arc<str>),
}

impl ReloadReason {
    /// Stable kebab-case name.
    pub fn label(&self) -> &'static str {
        match self {
            Self::MainChanged(_) => "main-changed",
            Self::NewBackend(_) => "new-backend",
            Self::BackendChanged(_) => "backend-changed",
            Self::MoreSlots(_) => "more-slots",
            Self::NoDefaultCertificate => "no-default-certificate",
            Self::ClientChecks(_) => "client-checks",
            Self::NewRegex => "new-regex",
            Self::ListChanged(_) => "list-changed",
        }
    }

    /// The reason that two different main texts make.
    pub(super) fn main(running: &str, wanted: &str) -> Self {
        let (running, wanted) = (sections(running), sections(wanted));
        let differs = |name: &&&str| running.get(**name) != wanted.get(**name);
        let changed = wanted.keys().chain(running.keys()).find(differs);
        Self::MainChanged(changed.map_or_else(String::new, ToString::to_string))
    }

    /// The reason that two different headers of a backend make.
    pub(super) fn header(name: &BackendName, running: &BackendText, wanted: &BackendText) -> Self {
        let others = |header: &str| {
            header.lines().filter(|l| !l.ends_with(" slots")).map(str::to_owned).collect::<Vec<_>>()
        };
        let name = running.stands_for().unwrap_or_else(|| name.clone());
        if others(running.own_header()) == others(wanted.own_header()) {
            Self::MoreSlots(name)
        } else {
            Self::BackendChanged(name)
        }
    }
}

impl fmt::Display for ReloadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MainChanged(section) => write!(f, "`{section}` changed"),
            Self::NewBackend(name) => write!(f, "backend `{name}` is new"),
            Self::BackendChanged(name) => write!(f, "the settings of backend `{name}` changed"),
            Self::MoreSlots(name) => write!(f, "backend `{name}` needs another number of server slots"),
            Self::NoDefaultCertificate => f.write_str("there is no default certificate yet"),
            Self::ClientChecks(file) => {
                write!(f, "clients are checked in another way with certificate `{file}`")
            }
            Self::NewRegex => f.write_str("a path that is a regular expression is new"),
            Self::ListChanged(file) => write!(f, "list `{file}` changed in many places"),
        }
    }
}

/// The lines of each section, by its first line without ` from …`.
fn sections(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut sections: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = "";
    for line in text.lines().filter(|line| !line.is_empty()) {
        if !line.starts_with([' ', '#']) {
            name = line.split(" from ").next().unwrap_or(line);
        }
        sections.entry(name).or_default().push(line);
    }
    sections
}
