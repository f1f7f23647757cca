//! What a key is: its documentation, and the parser of its values.

use std::borrow::Cow;
use std::fmt;

/// Prefixes of annotations. Our own comes first: who migrates can set it beside the one that another controller reads.
pub const PREFIXES: [&str; 4] = ["outrigger.dev/", "haproxy.org/", "haproxy.com/", "ingress.kubernetes.io/"];

/// Where a key may be written. Looked up in this order, then the default counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Annotation of a Service.
    Service,
    /// Annotation of an Ingress.
    Ingress,
    /// Data of the ConfigMap that `--configmap` names, without prefix.
    ConfigMap,
}

impl Scope {
    /// What people call it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Service => "Service",
            Self::Ingress => "Ingress",
            Self::ConfigMap => "ConfigMap",
        }
    }
}

/// What it takes to bring a changed value to the running HAProxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Applied while HAProxy runs.
    Live,
    /// Needs a reload.
    Reload,
}

/// Chapters of the reference page, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chapter {
    /// Which requests go where.
    Routing,
    /// Headers, paths, redirects, captures.
    Rewriting,
    /// TLS towards clients.
    Tls,
    /// Servers and the way to them.
    Servers,
    /// Who may, and how often.
    Access,
    /// HAProxy as a whole: limits, timeouts, logs, statistics.
    Global,
    /// Raw configuration.
    Raw,
}

/// What the documentation says about a key.
#[derive(Debug)]
pub struct Entry {
    /// Name without prefix.
    pub name: &'static str,
    /// Other names for the same key.
    pub aliases: &'static [&'static str],
    /// Chapter of the reference page.
    pub chapter: Chapter,
    /// Where it may be written, in the order of lookup.
    pub scopes: &'static [Scope],
    /// The values that it allows, in words.
    pub allowed: &'static str,
    /// What counts when it is not written anywhere, in words.
    pub default: &'static str,
    /// One paragraph.
    pub docs: &'static str,
    /// A value that makes sense; empty for a key that is not supported, which allows none.
    pub example: &'static str,
    /// Live or by reload.
    pub effect: Effect,
}

impl Entry {
    /// The name, then the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// Why a value is none of those that its key allows, beyond that: lower-case start, no full stop. Often there is nothing more
/// to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wrong(pub Cow<'static, str>);

impl Wrong {
    /// Nothing more to say than what is allowed.
    pub const PLAIN: Self = Self(Cow::Borrowed(""));

    /// With a reason.
    pub fn because(reason: impl Into<Cow<'static, str>>) -> Self {
        Self(reason.into())
    }
}

/// A key with the type of its value.
#[derive(Debug)]
pub struct Key<T> {
    /// Documentation.
    pub entry: Entry,
    /// The parser; gets the value without surrounding white space.
    pub parse: fn(&str) -> Result<T, Wrong>,
}

/// A key whose type does not matter.
pub trait AnyKey: Sync + fmt::Debug {
    /// Documentation.
    fn entry(&self) -> &Entry;
    /// Whether the key allows this value.
    fn check(&self, value: &str) -> Result<(), Wrong>;
}

impl<T: fmt::Debug> AnyKey for Key<T> {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn check(&self, value: &str) -> Result<(), Wrong> {
        (self.parse)(value.trim()).map(drop)
    }
}
