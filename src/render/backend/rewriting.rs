//! Headers, paths, redirects, captures.

use crate::model::policy::rewriting::{Format, Piece, Redirect, Rewriting};
use crate::model::{Mode, Policy};
use crate::render::text::Text;
use crate::render::{Paths, clients, escape};

/// Writes what must stand before every other rule: whose request it is.
pub(super) fn write_first(text: &mut Text, policy: &Policy, _paths: &Paths<'_>) {
    let Rewriting { source, without_forwarded_for, .. } = &policy.rewriting;
    if policy.mode == Mode::Tcp || (source.is_none() && !without_forwarded_for) {
        return;
    }
    clients::take_back_forwarded_for(text);
    if let Some(source) = source {
        let trusted = if source.only_trusted { " if { var(txn.trusted) -m found }" } else { "" };
        let header = escape::header_argument(&source.header);
        // A value that is no address leaves the source as it is (all versions).
        text.line(format_args!("http-request set-src req.hdr_ip({header}){trusted}"));
    }
    if *without_forwarded_for {
        clients::no_forwarded_for(text);
    } else {
        clients::add_forwarded_for(text);
    }
}

/// Writes the lines of this family.
pub(super) fn write(text: &mut Text, policy: &Policy, _paths: &Paths<'_>) {
    if policy.mode == Mode::Tcp {
        return;
    }
    let rewriting = &policy.rewriting;
    for (slot, expression) in rewriting.captures.iter().enumerate() {
        // The slots are declared in the frontends; HAProxy does not check them in backends (2.2 and newer).
        text.line(format_args!("http-request capture {} id {slot}", escape::expression(expression)));
    }
    if let Some(redirect) = &rewriting.redirect {
        write_redirect(text, redirect);
    }
    for header in &rewriting.request_headers {
        let (name, value) = (escape::word(&header.name), format_word(&header.value));
        text.line(format_args!("http-request set-header {name} {value}"));
    }
    if let Some(host) = &rewriting.host {
        text.line(format_args!("http-request set-header Host {}", escape::authority(host)));
    }
    for rewrite in &rewriting.paths {
        let replacement = format_word(&rewrite.replacement);
        match &rewrite.pattern {
            Some(pattern) => {
                text.line(format_args!("http-request replace-path {} {replacement}", escape::word(pattern)));
            }
            None => text.line(format_args!("http-request set-path {replacement}")),
        }
    }
    for header in &rewriting.response_headers {
        let (name, value) = (escape::word(&header.name), format_word(&header.value));
        text.line(format_args!("http-response set-header {name} {value}"));
    }
}

fn write_redirect(text: &mut Text, redirect: &Redirect) {
    let (authority, status) = (escape::authority(&redirect.authority), redirect.status);
    let other = format!("!{{ req.fhdr(host) -m str -i -- {authority} }}");
    // `prefix` appends path and query. The header is ours, or a trusted proxy's.
    text.line(format_args!(
        "http-request redirect prefix https://{authority} code {status} if {} {other}",
        clients::HTTPS
    ));
    text.line(format_args!("http-request redirect prefix http://{authority} code {status} if {other}"));
}

/// A format string as a word.
fn format_word(format: &Format) -> String {
    let mut text = String::new();
    for piece in format {
        match piece {
            Piece::Text(literal) => text.push_str(&escape::format_text(literal)),
            Piece::Sample(expression) => text.extend(["%[", &escape::expression(expression), "]"]),
        }
    }
    escape::word(&text)
}
