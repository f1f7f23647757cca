//! How requests are spread over servers.

use std::fmt;
use std::sync::Arc;

/// How requests are spread over servers. Only algorithms that take servers while HAProxy runs; hashes are consistent ones.
/// Names of headers, cookies and parameters consist of letters, digits and `-_.`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Balance {
    /// In turn, by weight.
    #[default]
    RoundRobin,
    /// To the server with the fewest connections.
    LeastConn,
    /// To the first server that has a free connection.
    First,
    /// To the least loaded of some that are drawn.
    Random(Option<u8>),
    /// By the address of the client.
    Source,
    /// By the URI.
    Uri(UriPart),
    /// By a parameter of the query.
    UrlParam {
        /// Name of the parameter.
        name: Arc<str>,
        /// Look for it in the body of a POST as well.
        check_post: bool,
    },
    /// By a header.
    Header {
        /// Name of the header.
        name: Arc<str>,
        /// Only the part of a host name before its top-level domain.
        domain_only: bool,
    },
    /// By the cookie of the remote desktop protocol.
    RdpCookie(Option<Arc<str>>),
    /// By an expression (2.6+).
    Hash(HashKey),
}

/// The part of a URI that is hashed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UriPart {
    /// The query as well.
    pub whole: bool,
    /// Never scheme and host.
    pub path_only: bool,
    /// So many characters.
    pub len: Option<u16>,
    /// So many path elements.
    pub depth: Option<u16>,
}

/// An expression: what is fetched of a request, and how its case is changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HashKey {
    /// What is fetched.
    pub fetch: Fetch,
    /// Converters in order.
    pub cases: Vec<Case>,
}

/// What is fetched of a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fetch {
    /// Address of the client.
    Source,
    /// Path.
    Path,
    /// Path and query.
    PathAndQuery,
    /// Query.
    Query,
    /// URL as it came.
    Url,
    /// Host and path.
    Base,
    /// A header.
    Header(Arc<str>),
    /// A cookie.
    Cookie(Arc<str>),
    /// A parameter of the query.
    UrlParam(Arc<str>),
}

/// A converter of case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Case {
    /// `lower`.
    Lower,
    /// `upper`.
    Upper,
}

impl fmt::Display for HashKey {
    /// As HAProxy reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fetch {
            Fetch::Source => f.write_str("src")?,
            Fetch::Path => f.write_str("path")?,
            Fetch::PathAndQuery => f.write_str("pathq")?,
            Fetch::Query => f.write_str("query")?,
            Fetch::Url => f.write_str("url")?,
            Fetch::Base => f.write_str("base")?,
            Fetch::Header(name) => write!(f, "req.hdr({name})")?,
            Fetch::Cookie(name) => write!(f, "req.cook({name})")?,
            Fetch::UrlParam(name) => write!(f, "url_param({name})")?,
        }
        self.cases.iter().try_for_each(|case| {
            f.write_str(match case {
                Case::Lower => ",lower",
                Case::Upper => ",upper",
            })
        })
    }
}
