//! Headers, paths, redirects, captures.

use std::sync::Arc;

/// What is changed in requests and responses of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Rewriting {
    /// Where the address of the client stands.
    pub source: Option<Source>,
    /// No `X-Forwarded-For` is added.
    pub without_forwarded_for: bool,
    /// Sample expressions whose values are logged, cut to their length already.
    pub captures: Vec<Arc<str>>,
    /// Another host that requests are redirected to.
    pub redirect: Option<Redirect>,
    /// Headers of requests.
    pub request_headers: Vec<Header>,
    /// Headers of responses.
    pub response_headers: Vec<Header>,
    /// The Host header.
    pub host: Option<Arc<str>>,
    /// Changes of the path, one after another.
    pub paths: Vec<PathRewrite>,
}

/// A header that holds the address of the client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// Its name.
    pub header: Arc<str>,
    /// Only trusted proxies are believed.
    pub only_trusted: bool,
}

/// A redirect to another host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Redirect {
    /// Host, with a port if need be.
    pub authority: Arc<str>,
    /// Status.
    pub status: u16,
}

/// A header and what it is set to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Header {
    /// Name.
    pub name: Arc<str>,
    /// Value.
    pub value: Format,
}

/// A change of the path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PathRewrite {
    /// A regular expression; `None` for every path.
    pub pattern: Option<Arc<str>>,
    /// The new path.
    pub replacement: Format,
}

/// Text with sample expressions in it.
pub type Format = Vec<Piece>;

/// A part of a format.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// As it is.
    Text(Arc<str>),
    /// The value of a sample expression.
    Sample(Arc<str>),
}
