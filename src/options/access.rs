//! Access and limits: lists, basic authentication, rate limits, CORS, body size, timeouts per path.

mod basic_auth;
mod cors;
mod limits;
mod lists;
mod origins;
mod rate_limit;
mod regex;

pub use basic_auth::{AUTH_REALM, AUTH_SECRET, AUTH_TYPE, AuthType, DEFAULT_REALM};
pub use cors::{
    CORS_ALLOW_CREDENTIALS, CORS_ALLOW_HEADERS, CORS_ALLOW_METHODS, CORS_ALLOW_ORIGIN, CORS_ENABLE,
    CORS_MAX_AGE, CORS_RESPOND_TO_OPTIONS, DEFAULT_MAX_AGE,
};
pub use limits::{MAX_BODY_SIZE, TIMEOUT_SERVER, TIMEOUT_TUNNEL};
pub use lists::{ALLOW_LIST, Addresses, DENY_LIST, is_pattern_file};
pub use origins::Origins;
pub use rate_limit::{
    DEFAULT_PERIOD, DEFAULT_SIZE, DEFAULT_STATUS, RATE_LIMIT_PERIOD, RATE_LIMIT_REQUESTS, RATE_LIMIT_SIZE,
    RATE_LIMIT_STATUS_CODE, RATE_LIMIT_WHITELIST,
};

use super::Family;

/// The keys of this file.
pub(super) static KEYS: Family = &[
    &ALLOW_LIST,
    &DENY_LIST,
    &AUTH_TYPE,
    &AUTH_SECRET,
    &AUTH_REALM,
    &RATE_LIMIT_REQUESTS,
    &RATE_LIMIT_PERIOD,
    &RATE_LIMIT_SIZE,
    &RATE_LIMIT_STATUS_CODE,
    &RATE_LIMIT_WHITELIST,
    &CORS_ENABLE,
    &CORS_ALLOW_ORIGIN,
    &CORS_ALLOW_METHODS,
    &CORS_ALLOW_HEADERS,
    &CORS_ALLOW_CREDENTIALS,
    &CORS_MAX_AGE,
    &CORS_RESPOND_TO_OPTIONS,
    &MAX_BODY_SIZE,
    &TIMEOUT_SERVER,
    &TIMEOUT_TUNNEL,
];
