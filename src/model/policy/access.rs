//! Who may, and how often: lists, basic authentication, rate limits, CORS, body size, timeouts.

/// Access and limits of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Access {}
