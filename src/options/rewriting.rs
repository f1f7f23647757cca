//! Headers, paths, redirects, captures, and how clients reach us.

mod capture;
mod clients;
mod headers;
mod path_rewrite;
mod redirect;
mod source;

pub use capture::{DEFAULT_CAPTURE_LENGTH, REQUEST_CAPTURE, REQUEST_CAPTURE_LEN};
pub use clients::{PROXY_PROTOCOL, REQUEST_ID, TRUSTED_PROXIES};
pub use headers::{REQUEST_SET_HEADER, RESPONSE_SET_HEADER, SetHeader};
pub use path_rewrite::{PATH_REWRITE, PathRewrite};
pub use redirect::{DEFAULT_REDIRECT_CODE, REQUEST_REDIRECT, REQUEST_REDIRECT_CODE, SET_HOST};
pub use source::{FORWARDED_FOR, SRC_IP_HEADER};

use super::Family;

/// The keys of this file.
pub(super) static KEYS: Family = &[
    &PATH_REWRITE,
    &SET_HOST,
    &REQUEST_SET_HEADER,
    &RESPONSE_SET_HEADER,
    &REQUEST_REDIRECT,
    &REQUEST_REDIRECT_CODE,
    &REQUEST_CAPTURE,
    &REQUEST_CAPTURE_LEN,
    &FORWARDED_FOR,
    &SRC_IP_HEADER,
    &TRUSTED_PROXIES,
    &PROXY_PROTOCOL,
    &REQUEST_ID,
];
