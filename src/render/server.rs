//! A server's name and the text behind it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use super::backend::auth;
use super::text::Text;
use super::{Paths, escape};
use crate::model::policy::Mode;
use crate::model::policy::servers::{ExternalHost, Protocol};
use crate::model::{Policy, Server, ServerKey, ServerState};
use crate::plan::Slot;

/// Name of the section that knows the name servers.
pub(super) const RESOLVERS: &str = "cluster";

/// `<address>:<port>`; the last colon ends an IPv6 address (names cannot hold brackets).
pub(super) fn name(key: ServerKey) -> Arc<str> {
    format!("{}:{}", key.address, key.port).into()
}

/// Address and keywords, exactly as `add server` takes them.
pub(super) fn line(server: &Server, words: &Keywords) -> Arc<str> {
    format!("{} id {}{}", socket(server.key), server.id, words.of(server)).into()
}

/// Address and keywords of a server in a slot.
pub(super) fn slot(server: &Server, words: &Keywords) -> Arc<str> {
    format!("{}{}", socket(server.key), words.of(server)).into()
}

/// A free slot: what only a reload changes is there already.
pub(super) fn free_slot(words: &Keywords) -> Arc<str> {
    let (socket, disabled) = Slot::FREE.split_once(' ').unwrap_or((Slot::FREE, ""));
    format!("{socket}{} {disabled}", words.common).into()
}

/// Address and port as HAProxy reads them, IPv6 in brackets.
pub(super) fn socket(key: ServerKey) -> String {
    match key.address {
        IpAddr::V4(address) => format!("{address}:{}", key.port),
        IpAddr::V6(address) => format!("[{address}]:{}", key.port),
    }
}

/// Servers by name.
pub(super) type Servers = BTreeMap<Arc<str>, Arc<str>>;

/// What stands behind the address of every server of a backend.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    /// With a space before each; what only a reload changes before 2.6.
    common: String,
    /// The same, for what commands change.
    live: String,
    /// The cookie of each server is its name.
    named_cookies: bool,
}

impl Keywords {
    /// The keywords that a policy makes.
    pub(super) fn new(policy: &Policy, paths: &Paths<'_>) -> Self {
        let servers = &policy.servers;
        let is_http = policy.mode == Mode::Http;
        let mut common = transport(policy, paths);
        if let Some(check) = &servers.check {
            common.push_str(" check");
            if let Some(interval) = check.interval {
                let _ = write!(common, " inter {interval}ms");
            }
        }
        let mut live =
            servers.max_connections.map(|max| format!(" maxconn {}", max.share)).unwrap_or_default();
        if !paths.capabilities.dynamic_servers() {
            // `set maxconn server` ends the worker of 2.2 (deadlock, SIGABRT).
            common.push_str(&std::mem::take(&mut live));
        }
        if let Some(keyword) = auth::server_keyword(policy) {
            let _ = write!(common, " {keyword}");
        }
        let named_cookies = is_http && servers.persistence.as_ref().is_some_and(|cookie| cookie.by_name);
        Self { common, live, named_cookies }
    }

    /// A comment about them for the header, so that other ones are another header; `None` when there are none.
    pub(super) fn comment(&self) -> Option<&str> {
        (!self.common.is_empty()).then(|| self.common.trim_start())
    }

    fn of(&self, server: &Server) -> String {
        let cookie = if self.named_cookies { format!(" cookie {}", name(server.key)) } else { String::new() };
        let weight = match server.state {
            ServerState::Active => "",
            ServerState::Draining => " weight 0",
        };
        format!("{}{cookie}{}{weight}", self.common, self.live)
    }
}

/// TLS, HTTP version and PROXY protocol.
fn transport(policy: &Policy, paths: &Paths<'_>) -> String {
    let (servers, is_http) = (&policy.servers, policy.mode == Mode::Http);
    let mut text = String::new();
    if let Some(tls) = &servers.tls {
        text.push_str(" ssl");
        match &tls.authority {
            Some(authority) => _ = write!(text, " verify required ca-file {}", paths.asset(authority)),
            None => text.push_str(" verify none"),
        }
        if let Some(certificate) = &tls.certificate {
            let _ = write!(text, " crt {}", paths.asset(certificate));
        }
        match &servers.external {
            Some(external) => {
                if let ExternalHost::Name(host) = &external.host {
                    // The name in the certificate is compared with it.
                    let host = escape::name(host);
                    let _ = write!(text, " sni str({host})");
                    if servers.check.is_some() {
                        let _ = write!(text, " check-sni {host}");
                    }
                }
            }
            None if paths.capabilities.automatic_server_name() => {
                // From 3.3 on it would be the host of the request, with which the certificate of a pod were compared.
                text.push_str(" no-sni-auto no-check-sni-auto");
            }
            None => {}
        }
    }
    match servers.protocol {
        _ if !is_http => {}
        Protocol::Http2 if servers.tls.is_some() => text.push_str(" alpn h2 proto h2"),
        Protocol::Http2 => text.push_str(" proto h2"),
        Protocol::Any if servers.tls.is_some() && paths.capabilities.websockets_beside_http2() => {
            text.push_str(" alpn h2,http/1.1");
        }
        Protocol::Any | Protocol::Http1 => {}
    }
    if let Some(protocol) = servers.proxy_protocol {
        let _ = write!(text, " {}", protocol.keyword());
    }
    text
}

/// Servers that are part of the header of a backend: the one outside of the cluster, or one that never serves and only makes
/// HAProxy load the files that `add server` names (2.6 to 3.4: it takes no others). As templates, since what begins with
/// `server` is live.
pub(super) fn write_fixed(text: &mut Text, policy: &Policy, paths: &Paths<'_>) {
    let keywords = Keywords::new(policy, paths);
    if let Some(external) = &policy.servers.external {
        let words = format!("{}{}", keywords.common, keywords.live);
        let cookie = if keywords.named_cookies { " cookie external" } else { "" };
        match &external.host {
            // A name that cannot be resolved yet must not refuse a reload. The address is looked up once at the start, so that
            // a new worker has it for its first request, then by the resolvers.
            ExternalHost::Name(host) => text.line(format_args!(
                "server-template external 1 {}:{} resolvers {RESOLVERS} resolve-prefer ipv4 init-addr libc,none{words}{cookie}",
                escape::name(host),
                external.port
            )),
            ExternalHost::Address(address) => {
                let socket = socket(ServerKey { address: *address, port: external.port });
                text.line(format_args!("server-template external 1 {socket}{words}{cookie}"));
            }
        }
        return;
    }
    let has_files = policy.servers.tls.as_ref().is_some_and(|tls| tls.files().next().is_some());
    if has_files && paths.capabilities.dynamic_servers() {
        text.line(format_args!("server-template preload 1 {}{}", Slot::FREE, transport(policy, paths)));
    }
    if let Some(words) = keywords.comment() {
        text.line(format_args!("# servers: {}", escape::comment(words)));
    }
}
