//! Who may, and how often. The first rule that refuses ends it, so cheap ones come first; a preflight request is answered before
//! anything asks for a password.

mod cors;

use crate::model::policy::access::{Access, Login, RateLimit};
use crate::model::{ListName, Mode, Policy};
use crate::plan::MapId;
use crate::render::text::Text;
use crate::render::{Paths, escape, needs};

/// Writes the lines of this family.
pub(super) fn write(text: &mut Text, policy: &Policy, paths: &Paths<'_>) {
    let access = &policy.access;
    if let Some(millis) = access.timeout_server {
        text.line(format_args!("timeout server {millis}ms"));
    }
    if let Some(millis) = access.timeout_tunnel {
        text.line(format_args!("timeout tunnel {millis}ms"));
    }
    match policy.mode {
        Mode::Http => requests(text, access, paths),
        Mode::Tcp => connections(text, access, paths),
    }
}

fn requests(text: &mut Text, access: &Access, paths: &Paths<'_>) {
    if let Some(cors) = &access.cors {
        cors::origin(text, cors);
    }
    if access.closed {
        text.line(format_args!("http-request deny deny_status 503"));
    }
    if let Some(list) = &access.deny_list {
        text.line(format_args!("http-request deny deny_status 403 if {}", source_in(list, paths)));
    }
    if let Some(list) = &access.allow_list {
        text.line(format_args!("http-request deny deny_status 403 unless {}", source_in(list, paths)));
    }
    if let Some(cors) = &access.cors {
        cors::preflight(text, cors);
    }
    if let Some(login) = &access.login {
        ask(text, login);
    }
    if let Some(limit) = &access.rate_limit {
        count(text, limit, paths);
    }
    if let Some(bytes) = access.max_body {
        // `req.body_size` is the announced size too, but for HTTP/2 only in newer versions; what it adds is the part of a body
        // without announced size that is here already.
        text.line(format_args!(
            "http-request deny deny_status 413 if {{ req.hdr_val(content-length) gt {bytes} }} || {{ req.body_size gt {bytes} }}"
        ));
    }
}

/// Where HAProxy does not look into the traffic.
fn connections(text: &mut Text, access: &Access, paths: &Paths<'_>) {
    if access.closed {
        text.line(format_args!("tcp-request content reject"));
    }
    if let Some(list) = &access.deny_list {
        text.line(format_args!("tcp-request content reject if {}", source_in(list, paths)));
    }
    if let Some(list) = &access.allow_list {
        text.line(format_args!("tcp-request content reject unless {}", source_in(list, paths)));
    }
}

fn source_in(list: &ListName, paths: &Paths<'_>) -> String {
    format!("{{ src -f {} }}", paths.list(list))
}

fn ask(text: &mut Text, login: &Login) {
    let (realm, users) = (escape::word(&login.realm), needs::users_name(&login.secret));
    text.line(format_args!("http-request auth realm {realm} unless {{ http_auth({users}) }}"));
}

/// Counts the request, then looks whether there are too many. Entries of limits that share a table begin with the limit.
fn count(text: &mut Text, limit: &RateLimit, paths: &Paths<'_>) {
    let table = needs::rate_table(limit.period, limit.size);
    let value = escape::argument(&escape::map_key(&limit.key));
    let values = paths.map(MapId::Values);
    let (unless, and_not) = match &limit.exempt {
        Some(list) => {
            (format!(" unless {}", source_in(list, paths)), format!(" !{}", source_in(list, paths)))
        }
        None => Default::default(),
    };
    text.line(format_args!("http-request set-var(txn.rate_source) src"));
    text.line(format_args!(
        "http-request set-var(txn.rate_entry) str({}-),concat(,txn.rate_source)",
        needs::rate_entry(&limit.key)
    ));
    text.line(format_args!("http-request set-var(txn.rate_limit) str({value}),map_str_int({values})"));
    // The last of the three counters that every HAProxy has: raw lines mostly use the first.
    text.line(format_args!("http-request track-sc2 var(txn.rate_entry) table {table}{unless}"));
    text.line(format_args!(
        "http-request deny deny_status {} if {{ sc_http_req_rate(2,{table}),sub(txn.rate_limit) gt 0 }}{and_not}",
        limit.status
    ));
}
