//! Who may, and how often: lists, basic authentication, rate limits, CORS, body size, timeouts.

use std::sync::Arc;

use crate::cluster::ObjectName;
use crate::model::ListName;

/// Who may, and how often.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Access {
    /// Nobody is served: something that guards the path is not known.
    pub closed: bool,
    /// Sources that are refused.
    pub deny_list: Option<ListName>,
    /// The only sources that are served.
    pub allow_list: Option<ListName>,
    /// Who has to say who they are.
    pub login: Option<Login>,
    /// How many requests a source may send.
    pub rate_limit: Option<RateLimit>,
    /// Whose pages may read the answers.
    pub cors: Option<Cors>,
    /// The largest announced body, in bytes.
    pub max_body: Option<u64>,
    /// How long a server may be silent, in milliseconds.
    pub timeout_server: Option<u32>,
    /// How long a tunnel may be silent, in milliseconds.
    pub timeout_tunnel: Option<u32>,
}

/// Basic authentication. The users themselves are a [`Need`](crate::model::Need): they change without a new backend.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Login {
    /// The Secret with the users.
    pub secret: ObjectName,
    /// What browsers show: printable ASCII without `"` and `\`.
    pub realm: Arc<str>,
}

/// A limit of requests for each source address. How many is a value that rules look up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RateLimit {
    /// Key of the value; requests with the same one count together.
    pub key: Arc<str>,
    /// Over how long requests are counted, in milliseconds.
    pub period: u32,
    /// Number of entries of the table.
    pub size: u64,
    /// Status above the limit.
    pub status: u16,
    /// Sources that neither count nor are limited.
    pub exempt: Option<ListName>,
}

/// Cross-origin resource sharing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cors {
    /// Origins as browsers write them; `None` for all of them.
    pub origins: Option<CorsOrigins>,
    /// Methods, comma-separated.
    pub methods: Arc<str>,
    /// Header names, comma-separated.
    pub headers: Arc<str>,
    /// Cookies and passwords may come along.
    pub credentials: bool,
    /// How long browsers remember, in seconds.
    pub max_age: u32,
    /// Preflight requests are answered here.
    pub preflight: bool,
}

/// Some origins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CorsOrigins {
    /// Those.
    pub exact: Vec<Arc<str>>,
    /// Those that match one of these regular expressions.
    pub matching: Vec<Arc<str>>,
}
