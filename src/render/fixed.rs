//! Backends of the configuration itself: fixed answers and redirects to HTTPS.
//!
//! Their names have two parts, so no backend of a Service (`<namespace>_<service>_<port>`) can have one of them.

use super::Paths;
use super::text::Text;
use crate::model::{Global, Need};

/// Redirect statuses; the rest of the world gets 302.
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// The answer to requests that match nothing.
const NOT_FOUND: &str = "default backend - 404";

/// Name of the backend that redirects to HTTPS with this status.
pub(super) fn redirect_backend(status: u16) -> String {
    let status = if REDIRECTS.contains(&status) { status } else { 302 };
    format!("redirect-https_{status}")
}

/// All of them. `from` is the text that names the defaults.
pub(super) fn write(text: &mut Text, global: &Global, from: &str, paths: &Paths<'_>) {
    let pages = &global.error_pages;
    for (status, body) in [
        (404, NOT_FOUND),
        (500, "the backend of this path cannot be used - 500"),
        (503, "no endpoints for this path - 503"),
    ] {
        text.section(format_args!("backend fixed_{status}{from}"));
        if let Some(page) = pages.pages.get(&status) {
            text.line(format_args!("http-request return status {status} errorfile {}", paths.asset(page)));
            continue;
        }
        text.line(format_args!(
            "http-request return status {status} content-type \"text/plain; charset=utf-8\" string \"{body}\""
        ));
    }
    for status in REDIRECTS {
        text.section(format_args!("backend {}{from}", redirect_backend(status)));
        // HTTP/1.0 without Host: there is nowhere to redirect to.
        text.line(format_args!("http-request deny deny_status 400 unless {{ var(txn.host) -m len gt 0 }}"));
        if global.needs.contains(&Need::RedirectPort) {
            text.line(format_args!(
                "http-request redirect prefix https://%[var(txn.host)]:%[var(txn.route_port)] code {status} if {{ var(txn.route_port) -m found }}"
            ));
        }
        // `prefix` appends path and query.
        text.line(format_args!("http-request redirect prefix https://%[var(txn.host)] code {status}"));
    }
}
