//! What the traffic frontends do about who the client is: PROXY protocol, forwarding headers, request ids, captures.
//!
//! Variables: `txn.trusted` is there when the connection comes from a trusted proxy, `txn.forwarded` when the frontend has
//! added the source to an `X-Forwarded-For` that came with the request, `txn.id` is the id of the request, `sess.src` the
//! source of the connection.

use std::collections::BTreeMap;

use super::Paths;
use super::text::Text;
use crate::model::{Global, Need};

/// The condition that the client used HTTPS, here or at a trusted proxy.
pub(super) const HTTPS: &str = "{ req.fhdr(x-forwarded-proto) -m str -i -- https }";
/// The condition that a trusted proxy sent the request.
const TRUSTED: &str = "{ var(txn.trusted) -m found }";

/// Connections that begin with a PROXY protocol header.
pub(super) fn connections(text: &mut Text, global: &Global, paths: &Paths<'_>) {
    if let Some(list) = &global.clients.proxy_protocol {
        let list = paths.list(list);
        text.line(format_args!("tcp-request connection expect-proxy layer4 if {{ src -f {list} }}"));
    }
}

/// Options and declarations: `X-Forwarded-For`, places for captured values, the form of ids.
pub(super) fn declarations(text: &mut Text, global: &Global) {
    if global.needs.contains(&Need::OptionalForwardedFor) {
        text.line(format_args!("option forwardfor if-none"));
    } else {
        text.line(format_args!("option forwardfor"));
    }
    let mut slots: BTreeMap<u16, u32> = BTreeMap::new();
    for need in &global.needs {
        if let Need::Capture { slot, length } = need {
            let longest = slots.entry(*slot).or_default();
            *longest = (*longest).max(*length);
        }
    }
    // A route with a slot has all those before it, too, so that the numbers are without gaps.
    for length in slots.values() {
        text.line(format_args!("declare capture request len {length}"));
    }
    if global.clients.request_id {
        text.line(format_args!("unique-id-format %[uuid()]"));
    }
}

/// Whose request it is, and which forwarding headers it has.
pub(super) fn identity(text: &mut Text, global: &Global, paths: &Paths<'_>, scheme: &str, port: u16) {
    if global.needs.contains(&Need::SourceFromHeader) && !paths.capabilities.source_per_request() {
        text.lines(&[
            "http-request set-var(sess.src) src unless { var(sess.src) -m found }",
            "http-request set-src var(sess.src)",
        ]);
    }
    match &global.clients.trusted_proxies {
        None => everybody(text, scheme, port),
        Some(list) => trusted(text, &paths.list(list), scheme, port),
    }
    if global.needs.contains(&Need::OptionalForwardedFor) {
        text.line(format_args!(
            "http-request set-var(txn.forwarded) bool(true) if {{ req.fhdr_cnt(x-forwarded-for) gt 0 }}"
        ));
        add_forwarded_for(text);
    }
    if global.clients.request_id {
        request_id(text, global.clients.trusted_proxies.is_some());
    }
}

fn everybody(text: &mut Text, scheme: &str, port: u16) {
    text.line(format_args!("http-request set-header X-Forwarded-Proto {scheme}"));
    text.lines(&["http-request set-header X-Forwarded-Host %[req.fhdr(host)]"]);
    text.line(format_args!("http-request set-header X-Forwarded-Port {port}"));
    text.lines(&[
        // The port that the client used: the one that is bound here is the pod's, not the Service's.
        "http-request set-header X-Forwarded-Port %[req.fhdr(host),regsub(^.*:,)] if { req.fhdr(host) -m reg :[0-9]+$ }",
    ]);
}

fn trusted(text: &mut Text, list: &str, scheme: &str, port: u16) {
    text.line(format_args!("http-request set-var(txn.trusted) bool(true) if {{ src -f {list} }}"));
    for header in
        ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port", "Forwarded"]
    {
        text.line(format_args!("http-request del-header {header} unless {TRUSTED}"));
    }
    let absent = |header: &str| format!("!{{ req.fhdr_cnt({header}) gt 0 }}");
    let (no_proto, no_host, no_port) =
        (absent("x-forwarded-proto"), absent("x-forwarded-host"), absent("x-forwarded-port"));
    text.line(format_args!("http-request set-header X-Forwarded-Proto {scheme} if {no_proto}"));
    text.line(format_args!("http-request set-header X-Forwarded-Host %[req.fhdr(host)] if {no_host}"));
    text.line(format_args!(
        "http-request set-header X-Forwarded-Port %[req.fhdr(host),regsub(^.*:,)] if {{ req.fhdr(host) -m reg :[0-9]+$ }} {no_port}"
    ));
    text.line(format_args!("http-request set-header X-Forwarded-Port {port} if {no_port}"));
}

fn request_id(text: &mut Text, some_are_trusted: bool) {
    if some_are_trusted {
        let good = "{ req.fhdr(x-request-id) -m len 1:128 }";
        text.line(format_args!("http-request set-header X-Request-ID %[unique-id] unless {TRUSTED} {good}"));
    } else {
        text.line(format_args!("http-request set-header X-Request-ID %[unique-id]"));
    }
    text.lines(&[
        "http-request set-var(txn.id) req.fhdr(x-request-id)",
        // With a length it declares a slot of its own, behind those of routes.
        "http-request capture req.fhdr(x-request-id) len 128",
    ]);
}

/// On clear text: a request that came over TLS to a trusted proxy is not redirected to HTTPS once more.
pub(super) fn no_redirect(text: &mut Text, global: &Global, backend: &str) {
    if global.clients.trusted_proxies.is_some() {
        text.line(format_args!("http-request set-var(txn.backend) {backend} if {TRUSTED} {HTTPS}"));
    }
}

/// Remembers the backend that was chosen, before a redirect takes its place.
pub(super) fn keep(text: &mut Text, global: &Global) {
    if global.clients.trusted_proxies.is_some() {
        text.line(format_args!("http-request set-var(txn.kept) var(txn.backend)"));
    }
}

/// In a backend: takes back what the frontend added to an `X-Forwarded-For` that was there.
pub(super) fn take_back_forwarded_for(text: &mut Text) {
    text.lines(&[
        r#"http-request replace-header X-Forwarded-For "(.*), [^,]*" "\1" if { var(txn.forwarded) -m found }"#,
    ]);
}

/// Adds the source to an `X-Forwarded-For` that is there; `option forwardfor if-none` does when there is none.
pub(super) fn add_forwarded_for(text: &mut Text) {
    text.lines(&[
        r#"http-request replace-header X-Forwarded-For (.*) "\1, %[src]" if { var(txn.forwarded) -m found }"#,
    ]);
}

/// In a backend: no `X-Forwarded-For` is added.
///
/// Nothing takes `option forwardfor` of a frontend back. But a backend may name another header for it, and with `if-none` on
/// both sides nothing is added when that one is there (all versions), which this one always is.
pub(super) fn no_forwarded_for(text: &mut Text) {
    text.line(format_args!("option forwardfor if-none header X-Forwarded-Proto"));
}
