//! A route: host match, path match, ordered candidates.

use std::fmt;
use std::sync::Arc;

use super::BackendName;
use crate::cluster::Origin;

/// A routing table; listeners that answer the same routes share one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Table(Arc<str>);

impl Table {
    /// The table of all Ingresses, shared by the HTTP and HTTPS listeners.
    pub fn ingress() -> Self {
        Self("web".into())
    }

    /// A table by name: lower-case letters and digits.
    pub fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// As text; the first part of every map key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How the host of a request must look. Declared in lookup order: the first kind that knows the request's host decides, even
/// when no path of it matches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostMatch {
    /// This host: lower case, no port, no trailing dot.
    Exact(Arc<str>),
    /// `*.domain`, exactly one label for the star; holds `domain`.
    Wildcard(Arc<str>),
    /// Any host that the table does not know.
    Any,
    /// What nothing else matched (only with the path prefix ``, the default backend).
    Default,
}

/// How the path of a request must look.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathMatch {
    /// The whole path.
    Exact(Arc<str>),
    /// By path element: `/a` matches `/a`, `/a/` and `/a/b`, not `/ab`. No trailing slash; the empty text is the root and
    /// matches everything.
    Prefix(Arc<str>),
    /// By a regular expression (PCRE2), from the start of the path on, that `options::regex` lets pass. A host that has some
    /// has a root, too.
    Regex(Arc<str>),
}

/// Identity of a route: no two routes have the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteKey {
    /// Table.
    pub table: Table,
    /// Host match.
    pub host: HostMatch,
    /// Path match.
    pub path: PathMatch,
}

impl RouteKey {
    /// The default of a table: what no host and path matched.
    pub fn default_of(table: Table) -> Self {
        Self { table, host: HostMatch::Default, path: PathMatch::Prefix("".into()) }
    }
}

impl RouteKey {
    /// The root path of the same host.
    #[must_use]
    pub fn root_of_host(&self) -> Self {
        Self { path: PathMatch::Prefix("".into()), ..self.clone() }
    }
}

impl fmt::Display for RouteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            HostMatch::Exact(host) => f.write_str(host)?,
            HostMatch::Wildcard(domain) => write!(f, "*.{domain}")?,
            HostMatch::Any => f.write_str("*")?,
            HostMatch::Default => f.write_str("(default)")?,
        }
        match &self.path {
            PathMatch::Exact(path) => write!(f, "{path} (exact)"),
            PathMatch::Prefix(path) if path.is_empty() => f.write_str("/"),
            PathMatch::Prefix(path) => f.write_str(path),
            PathMatch::Regex(path) => write!(f, "{path} (regex)"),
        }
    }
}

/// A test in HAProxy's ACL language, as its words: sample, flags, values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expression(pub Vec<Arc<str>>);

/// What a condition looks at. HAProxy looks in this order, and then by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// Whether this holds.
    Expression(Expression),
    /// The value of this header (lower case); of several the first.
    Header(Arc<str>),
    /// The value of this cookie.
    Cookie(Arc<str>),
}

/// A further condition of a candidate (Gateway API: header, method, query matches).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The request has this header (lower case), the first of its name with exactly this value.
    Header(Arc<str>, Arc<str>),
    /// The request has this cookie with exactly this value.
    Cookie(Arc<str>, Arc<str>),
    /// This holds.
    Expression(Expression),
    /// The request method.
    Method(Arc<str>),
    /// The query has this parameter with exactly this value.
    Query(Arc<str>, Arc<str>),
}

impl Condition {
    /// What it looks at; `None` for what is not rendered yet.
    pub fn test(&self) -> Option<Test> {
        match self {
            Self::Header(name, _) => Some(Test::Header(name.clone())),
            Self::Cookie(name, _) => Some(Test::Cookie(name.clone())),
            Self::Expression(expression) => Some(Test::Expression(expression.clone())),
            Self::Method(_) | Self::Query(..) => None,
        }
    }
}

/// What happens to a matched request before it goes to a backend, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// On a clear-text listener, redirect to `https://`; the path `/.well-known/acme-challenge/` is exempt.
    RedirectToHttps {
        /// 301, 302, 303, 307 or 308.
        status: u16,
        /// Port in the location; `None` for none.
        port: Option<u16>,
    },
}

/// A share of a split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighted {
    /// Relative weight; shares of weight 0 get nothing.
    pub weight: u32,
    /// Where.
    pub backend: BackendName,
}

/// One way to serve a matched request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// All must hold; the first candidate whose conditions hold is taken.
    pub conditions: Vec<Condition>,
    /// Filters in order.
    pub filters: Vec<Filter>,
    /// Weighted split over backends; one entry is the plain case.
    pub split: Vec<Weighted>,
    /// Where it comes from.
    pub origin: Origin,
}

/// What to do with requests that match a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Identity.
    pub key: RouteKey,
    /// In order of precedence. Empty: the host is known but this path is not, the table's default answers.
    pub candidates: Vec<Candidate>,
}
