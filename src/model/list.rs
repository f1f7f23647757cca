//! Lists of patterns (addresses, networks, whatever a pattern file holds) that change while HAProxy runs.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::cluster::ObjectRef;

/// File name of a list in the patterns folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListName(Arc<str>);

impl ListName {
    /// Begins the names of lists of ours, so that pattern files of users never have one of them.
    pub const OURS: &'static str = "outrigger-";

    /// The list that an object writes under a key (canonical name): it stays the same list when its content changes.
    pub fn of(object: &ObjectRef, key: &str) -> Self {
        let kind = object.kind.as_str().to_ascii_lowercase();
        Self(format!("{}{kind}_{}_{}_{key}.lst", Self::OURS, object.name.namespace, object.name.name).into())
    }

    /// A pattern file of users, by its name, which was checked.
    pub fn file(name: &str) -> Self {
        Self(name.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ListName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The patterns of a list; one a line in its file.
pub type List = Arc<BTreeSet<Arc<str>>>;
