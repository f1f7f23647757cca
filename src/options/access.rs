//! Access and limits: lists, basic authentication, rate limits, CORS, body size, timeouts per path.

use super::Family;

/// The keys of this file.
pub(super) static KEYS: Family = &[];
