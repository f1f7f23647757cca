//! External authentication: the rules of a path, the backend of who is asked, and what both need of the main text.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;

use crate::model::policy::auth::{Ask, Auth, AuthHost, Host};
use crate::model::{Asset, AssetKind, Global, Mode, Need, Policy};
use crate::render::text::Text;
use crate::render::{Paths, escape};

/// Asks, over the frontend below, and copies headers.
const SCRIPT: &str = include_str!("auth/external_auth.lua");

/// The answer when nobody said yes.
const NO_DECISION: &str = "http-request return status 503 content-type \"text/plain; charset=utf-8\" string \"external authentication gave no decision - 503\"";

/// Writes the lines of this family.
pub(super) fn write(text: &mut Text, policy: &Policy, paths: &Paths<'_>) {
    match &policy.auth {
        // Bytes that pass through hold no request to ask about.
        _ if policy.mode == Mode::Tcp => {}
        Auth::Open => {}
        Auth::Ask(ask) => rules(text, ask, paths),
        Auth::Closed => text.line(format_args!("{NO_DECISION}")),
        Auth::Service => connections(text),
    }
}

fn rules(text: &mut Text, ask: &Ask, paths: &Paths<'_>) {
    let list = |names: &[Arc<str>]| if names.is_empty() { "-".to_owned() } else { names.join(",") };
    let name = ask.who.name();
    text.line(format_args!(
        "http-request lua.external-auth {socket} {backend} {host} {method} {path} {millis} {sends} {copies} {sign_in}",
        socket = socket(paths),
        backend = escape::name(name.as_str()),
        host = escape::word(&ask.host),
        method = ask.method,
        path = escape::word(&ask.path),
        millis = ask.timeout,
        sends = escape::word(&ask.sends.as_deref().map_or_else(|| "*".to_owned(), list)),
        copies = escape::word(&list(&ask.copies)),
        sign_in = escape::word(ask.sign_in.as_deref().unwrap_or("-")),
    ));
    // After an error in a script HAProxy goes on with the next rule: only what the script says at its end counts.
    text.line(format_args!("{NO_DECISION} unless {{ var(txn.auth_passed) -m str yes }}"));
    text.line(format_args!(
        "http-response lua.external-auth-cookies if {{ var(txn.auth_cookies) -m found }}"
    ));
}

/// How connections to who is asked are used.
fn connections(text: &mut Text) {
    text.lines(&[
        // Each question comes over a connection of its own from the script. `safe` would open a new one to the server for it.
        "http-reuse always",
        // So an idle one may have been closed a moment ago; a question has no body and can be asked again.
        "retry-on conn-failure empty-response",
        // The script has given up when its time is over.
        "option abortonclose",
    ]);
}

/// Threads keep so many idle connections to themselves. Taking them from each other for every question costs more than the
/// question (3.2, measured: a fifth of the rate on one connection).
const CONNECTIONS: &str = "pool-low-conn 32";

/// What stands on servers that answer questions.
pub(in crate::render) fn server_keyword(policy: &Policy) -> Option<&'static str> {
    (policy.auth == Auth::Service).then_some(CONNECTIONS)
}

fn socket(paths: &Paths<'_>) -> String {
    escape::word(&format!("unix@{}", paths.volumes.run.join("auth.sock").to_string_lossy()))
}

/// The script, when a route needs it.
pub(in crate::render) fn script(global: &Global) -> Option<Asset> {
    let is_needed = global.needs.contains(&Need::ExternalAuth);
    is_needed.then(|| Asset::new(AssetKind::Script, "external-auth", Bytes::from_static(SCRIPT.as_bytes())))
}

/// What stands in the section `global`.
pub(in crate::render) fn write_global(text: &mut Text, global: &Global, paths: &Paths<'_>) {
    if let Some(script) = script(global) {
        if paths.capabilities.lua_boolean_conversion() {
            // Without it there is a warning; the script uses no booleans of HAProxy.
            text.line(format_args!("tune.lua.bool-sample-conversion normal"));
        }
        // One interpreter for each thread: else they would wait for each other.
        let load = if paths.capabilities.lua_per_thread() { "lua-load-per-thread" } else { "lua-load" };
        text.line(format_args!("{load} {}", paths.asset(&script)));
    }
}

/// The frontend that the script asks, and backends outside of the cluster. `from` is the text that names the defaults.
pub(in crate::render) fn write_sections(text: &mut Text, global: &Global, paths: &Paths<'_>, from: &str) {
    if !global.needs.contains(&Need::ExternalAuth) {
        return;
    }
    text.section(format_args!("frontend external-auth{from}"));
    text.line(format_args!("bind {} mode 600", socket(paths)));
    text.lines(&[
        "option httplog",
        // Decisions are no news; errors are.
        "option dontlog-normal",
        "http-request set-var(txn.backend) req.fhdr(x-outrigger-auth-backend)",
        "http-request del-header x-outrigger-auth-backend",
        "use_backend %[var(txn.backend)]",
        "default_backend fixed_503",
    ]);
    let hosts = || {
        global.needs.iter().filter_map(|need| match need {
            Need::AuthHost(host) => Some(host),
            _ => None,
        })
    };
    if hosts().any(|host| matches!(host.host, Host::Name(_))) {
        text.section(format_args!("resolvers external-auth"));
        text.lines(&[
            "parse-resolv-conf",
            "accepted_payload_size 8192",
            // Without an answer the last address is better than none.
            "hold timeout 1h",
            "hold refused 1h",
            "hold other 1h",
        ]);
    }
    for host in hosts() {
        text.section(format_args!("backend {}{from}", escape::name(host.backend().as_str())));
        connections(text);
        host_server(text, host, paths);
    }
}

fn host_server(text: &mut Text, AuthHost { host, port, tls }: &AuthHost, paths: &Paths<'_>) {
    let (address, resolution) = match host {
        // The system's resolver counts at start, so that nothing waits for the first answer of the other one; without an
        // address HAProxy starts all the same.
        Host::Name(name) => (escape::word(name), " resolvers external-auth init-addr last,libc,none"),
        Host::Address(IpAddr::V6(address)) => (format!("[{address}]"), ""),
        Host::Address(address) => (address.to_string(), ""),
    };
    let pool = if paths.capabilities.dynamic_servers() { format!(" {CONNECTIONS}") } else { String::new() };
    let tls = match host {
        Host::Name(name) if *tls && paths.capabilities.system_authorities() => {
            let name = escape::name(name);
            format!(" ssl verify required ca-file @system-ca sni str({name}) verifyhost {name}")
        }
        // Nobody could tell whether it is the right host: without a server the answer is 503.
        _ if *tls => return,
        _ => String::new(),
    };
    text.line(format_args!("server auth {address}:{port}{pool}{resolution}{tls}"));
}
