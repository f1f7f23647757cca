//! Cross-origin resource sharing. `http-after-response` (2.2) reaches the answers that HAProxy gives itself, too.

use crate::model::policy::access::{Cors, CorsOrigins};
use crate::render::escape;
use crate::render::text::Text;

/// Only for requests from a page of another origin that may.
const ALLOWED: &str = " if { var(txn.cors_origin) -m found }";

/// Takes the origin that may from the request, since its headers are gone when the answer comes; and the headers of every
/// answer.
pub(super) fn origin(text: &mut Text, cors: &Cors) {
    let condition = match &cors.origins {
        None => {
            text.line(format_args!("http-after-response set-header Access-Control-Allow-Origin *"));
            String::new()
        }
        Some(origins) => {
            known(text, origins);
            text.line(format_args!("http-after-response add-header Vary Origin"));
            text.line(format_args!(
                "http-after-response set-header Access-Control-Allow-Origin %[var(txn.cors_origin)]{ALLOWED}"
            ));
            ALLOWED.to_owned()
        }
    };
    for (name, value) in [
        ("Access-Control-Allow-Methods", cors.methods.as_ref()),
        ("Access-Control-Allow-Headers", cors.headers.as_ref()),
        ("Access-Control-Max-Age", &cors.max_age.to_string()),
    ] {
        text.line(format_args!("http-after-response set-header {name} {}{condition}", escape::word(value)));
    }
    if cors.credentials {
        text.line(format_args!(
            "http-after-response set-header Access-Control-Allow-Credentials true{condition}"
        ));
    }
}

/// Answers preflight requests.
pub(super) fn preflight(text: &mut Text, cors: &Cors) {
    if cors.preflight {
        text.line(format_args!(
            "http-request return status 204 if {{ method OPTIONS }} {{ req.fhdr(origin) -m found }}"
        ));
    }
}

/// Remembers the origin when it is one of these. A line has at most 64 words (2.2 to 3.4), so there are several.
fn known(text: &mut Text, origins: &CorsOrigins) {
    for (method, patterns) in [("str", &origins.exact), ("reg", &origins.matching)] {
        for patterns in patterns.chunks(8) {
            let patterns: Vec<String> = patterns.iter().map(|pattern| escape::word(pattern)).collect();
            text.line(format_args!(
                "http-request set-var(txn.cors_origin) req.fhdr(origin) if {{ req.fhdr(origin) -m {method} -- {} }}",
                patterns.join(" ")
            ));
        }
    }
}
