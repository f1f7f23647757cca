//! External authentication: a sub-request decides.

mod headers;
mod request;
mod sign_in;
mod url;

use super::Family;

pub use headers::{AUTH_REQUEST_HEADERS, AUTH_RESPONSE_HEADERS};
pub use request::{AUTH_METHOD, AUTH_TIMEOUT, DEFAULT_AUTH_METHOD, DEFAULT_AUTH_TIMEOUT};
pub use sign_in::AUTH_SIGNIN;
pub use url::{AUTH_URL, AuthPlace, AuthUrl};

/// The keys of this file.
pub(super) static KEYS: Family =
    &[&AUTH_URL, &AUTH_METHOD, &AUTH_SIGNIN, &AUTH_REQUEST_HEADERS, &AUTH_RESPONSE_HEADERS, &AUTH_TIMEOUT];
