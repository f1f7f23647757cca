//! Statistics page and exporter.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The key in `maps/values.map` under which it says that there are many backends, and what it says then: a number, like all
/// values there (HAProxy reads the whole file as numbers where a rule wants one).
pub const MANY_BACKENDS: (&str, &str) = ("exporter", "1");

/// Statistics settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Who may see the page; everybody when nothing is said.
    pub page: Option<Users>,
    /// Who may see the exporter; everybody when nothing is said.
    pub exporter: Option<Users>,
    /// What the exporter shows unless the scraper says it.
    pub scope: Scope,
}

/// What the exporter shows unless the scraper says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// What is small and often looked at.
    #[default]
    Small,
    /// Process and frontends.
    Frontends,
    /// And backends.
    Backends,
    /// And servers that are not in maintenance.
    Servers,
    /// Everything.
    All,
}

/// Users by name, with a proof of their password; an empty list lets nobody in.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Users(pub BTreeMap<Arc<str>, Proof>);

/// How a password is recognised; the password itself is nowhere in the model.
#[derive(Clone, PartialEq, Eq)]
pub enum Proof {
    /// A hash as crypt(3) makes it.
    Crypt(Arc<str>),
    /// SHA-256 of `user:password`, in upper-case hexadecimal digits.
    Digest(Arc<str>),
}

impl fmt::Debug for Users {
    /// Without the proofs: short passwords can be guessed from them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
