//! Lists of patterns (addresses, networks, whatever a pattern file holds) that change while HAProxy runs.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use outrigger_init::fnv1a;

use crate::cluster::ObjectRef;

/// Longest name of a list that says in full whose it is.
const LONGEST: usize = 180;

/// File name of a list in the patterns folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListName(Arc<str>);

impl ListName {
    /// Begins the names of lists of ours, so that pattern files of users never have one of them.
    pub const OURS: &'static str = "outrigger-";

    /// The list that an object writes under a key (canonical name): it stays the same list when its content changes.
    pub fn of(object: &ObjectRef, key: &str) -> Self {
        let kind = object.kind.as_str().to_ascii_lowercase();
        let stem = format!("{kind}_{}_{}_{key}", object.name.namespace, object.name.name);
        // Names of objects have up to 253 characters, those of files 255.
        match stem.get(..LONGEST) {
            Some(start) => Self(format!("{}{start}_{:016x}.lst", Self::OURS, fnv1a(stem.as_bytes())).into()),
            None => Self(format!("{}{stem}.lst", Self::OURS).into()),
        }
    }

    /// The addresses and networks in a pattern file of users: HAProxy would refuse a list of addresses that holds anything else.
    pub fn networks_in(file: &str) -> Self {
        Self(format!("{}networks_{file}", Self::OURS).into())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Kind, ObjectName};

    #[test]
    fn names_fit_into_a_folder_and_stay_apart() {
        let list = |name: &str| {
            ListName::of(&ObjectRef { kind: Kind::Ingress, name: ObjectName::new("a", name) }, "k")
        };
        assert_eq!(list("b").as_str(), "outrigger-ingress_a_b_k.lst");
        let (one, two) = (list(&"x".repeat(253)), list(&"x".repeat(252)));
        assert!(one.as_str().len() < 230 && one != two);
        assert!(ListName::networks_in(&"x".repeat(200)).as_str().len() < 230);
    }
}
