//! Health checks of servers.

use std::sync::Arc;

/// A health check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Check {
    /// A request; `None` only connects.
    pub http: Option<HttpCheck>,
    /// Time between two checks, in milliseconds.
    pub interval: Option<u32>,
    /// How long an answer may take, in milliseconds.
    pub timeout: Option<u32>,
}

/// The request of a health check; an answer of 200 to 399 is a good one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HttpCheck {
    /// Method.
    pub method: Method,
    /// Path and query: visible ASCII, begins with a slash.
    pub uri: Arc<str>,
    /// HTTP version.
    pub version: HttpVersion,
}

/// Method of a health check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// OPTIONS.
    #[default]
    Options,
    /// GET.
    Get,
    /// HEAD.
    Head,
    /// POST.
    Post,
}

impl Method {
    /// All.
    pub const ALL: [(&'static str, Self); 4] =
        [("OPTIONS", Self::Options), ("GET", Self::Get), ("HEAD", Self::Head), ("POST", Self::Post)];

    /// As it stands in a request.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Options => "OPTIONS",
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
        }
    }
}

/// HTTP version of a health check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum HttpVersion {
    /// HTTP/1.0, without Host header.
    #[default]
    Http10,
    /// HTTP/1.1, with a Host header.
    Http11,
}
