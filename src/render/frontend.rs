//! The frontends: listeners, and the rules that find the backend of a request in the maps.

use super::route::KNOWN;
use super::text::Text;
use super::{Paths, escape};
use crate::model::{Global, Listeners, Table};
use crate::plan::MapId;

/// What the frontends are rendered from.
pub(super) struct Frontends<'a> {
    pub(super) global: &'a Global,
    pub(super) paths: &'a Paths<'a>,
    /// The text that names the defaults.
    pub(super) from: &'a str,
}

impl Frontends<'_> {
    /// All frontends.
    pub(super) fn write(&self, text: &mut Text) {
        if let Some(port) = self.global.listeners.http
            && self.open(text, "http", port, "")
        {
            self.traffic(text, "http", 80);
            // The last field is the backend on clear text when there is one, else the only one.
            text.line(format_args!("http-request set-var(txn.backend) var(txn.route),field(-1,|)"));
            text.line(format_args!(
                "http-request set-var(txn.backend) var(txn.route),field(1,|) if {{ path_beg /.well-known/acme-challenge/ }}"
            ));
            self.choose(text);
        }
        if let Some(port) = self.global.listeners.https {
            let list = escape::word(&self.paths.volumes.crt_list().to_string_lossy());
            if self.open(text, "https", port, &format!(" ssl crt-list {list} alpn h2,http/1.1")) {
                self.traffic(text, "https", 443);
                text.line(format_args!("http-request set-var(txn.backend) var(txn.route),field(1,|)"));
                self.choose(text);
            }
        }
        if self.open(text, "stats", self.global.listeners.stats, "") {
            text.lines(&[
                "http-request use-service prometheus-exporter if { path /metrics }",
                "stats enable",
                "stats uri /",
                "stats refresh 10s",
            ]);
            text.snippet(self.global.snippets.stats.as_ref(), self.paths);
        }
        if self.open(text, "healthz", self.global.listeners.healthz, "") {
            text.lines(&[
                "no log",
                "http-request return status 200 content-type text/plain string ok if { path /healthz /readyz }",
                "http-request return status 404 content-type text/plain string \"not found\"",
            ]);
        }
    }

    /// Opens a frontend with its bind; without any address family there is none (a frontend without bind is a warning).
    ///
    /// One line for both families: HAProxy keeps certificates once per line, not once per address.
    fn open(&self, text: &mut Text, name: &str, port: u16, options: &str) -> bool {
        let Listeners { ipv4, ipv6, .. } = self.global.listeners;
        let v6only = if ipv6.is_some() { " v6only" } else { "" };
        let addresses = [ipv4.map(|a| format!("{a}:{port}")), ipv6.map(|a| format!("[{a}]:{port}"))];
        let addresses: Vec<String> = addresses.into_iter().flatten().collect();
        if addresses.is_empty() {
            return false;
        }
        text.section(format_args!("frontend {name}{}", self.from));
        text.line(format_args!("bind {}{v6only}{options}", addresses.join(",")));
        true
    }

    /// What the HTTP and HTTPS frontends have in common, up to `txn.route`.
    fn traffic(&self, text: &mut Text, scheme: &str, port: u16) {
        text.lines(&["option httplog", "option forwardfor"]);
        if self.paths.capabilities.idle_close_on_response() {
            // Since 2.4 a stopping worker closes idle client connections at once; this waits for one more request.
            text.line(format_args!("option idle-close-on-response"));
        }
        text.lines(&[
            // `fhdr`: `hdr` would cut at a comma. An IPv6 literal ends with its bracket, so only a port is cut off.
            "http-request set-var(txn.host) req.fhdr(host),lower,regsub(:[0-9]*$,),regsub([.]$,)",
            // Marks of map keys: no request may name another host, the wildcard, any host or the default with them.
            "http-request deny deny_status 400 if { var(txn.host) -m sub / | * ! } || { var(txn.host) -m beg . }",
        ]);
        text.line(format_args!("http-request set-header X-Forwarded-Proto {scheme}"));
        text.lines(&["http-request set-header X-Forwarded-Host %[req.fhdr(host)]"]);
        text.line(format_args!("http-request set-header X-Forwarded-Port {port}"));
        text.lines(&[
            // The port that the client used: the one that is bound here is the pod's, not the Service's.
            "http-request set-header X-Forwarded-Port %[req.fhdr(host),regsub(^.*:,)] if { req.fhdr(host) -m reg :[0-9]+$ }",
        ]);
        self.routing(text);
    }

    /// Looks the route up: exact host, its parent domain, any host, the default; a lookup only when none before it hit.
    ///
    /// `concat` and not `set-var-fmt`, which 2.2 and 2.4 do not have.
    fn routing(&self, text: &mut Text) {
        let table = Table::ingress();
        let table = table.as_str();
        let (exact, prefix) = (self.paths.map(MapId::Exact), self.paths.map(MapId::Prefix));
        let unless = " unless { var(txn.route) -m found }";
        let lookup = |text: &mut Text, first: &str| {
            text.line(format_args!("http-request set-var(txn.route) var(txn.key),map_str({exact}){first}"));
            text.line(format_args!(
                "http-request set-var(txn.route) var(txn.key),concat(/),map_beg({prefix}){unless}"
            ));
        };
        text.line(format_args!("http-request set-var(txn.path) path"));
        text.line(format_args!(
            "http-request set-var(txn.key) str({table}|),concat(,txn.host,),concat(,txn.path,)"
        ));
        lookup(text, "");
        text.line(format_args!("http-request set-var(txn.domain) var(txn.host),regsub(^[^.]*,){unless}"));
        text.line(format_args!(
            "http-request set-var(txn.key) str({table}|),concat(,txn.domain,),concat(,txn.path,){unless}"
        ));
        lookup(text, unless);
        text.line(format_args!("http-request set-var(txn.key) str({table}|*),concat(,txn.path,){unless}"));
        lookup(text, unless);
        text.line(format_args!(
            "http-request set-var(txn.route) str({table}|!/),map_beg({prefix}) if !{{ var(txn.route) -m found }} || {{ var(txn.route) -m str -- {KNOWN} }}"
        ));
    }

    /// The end of a traffic frontend.
    fn choose(&self, text: &mut Text) {
        text.snippet(self.global.snippets.frontends.as_ref(), self.paths);
        // A dynamic name that no backend has falls back to the default backend too (all versions).
        text.line(format_args!(
            "use_backend %[var(txn.backend)] if {{ var(txn.backend) -m found }} !{{ var(txn.backend) -m str -- {KNOWN} }}"
        ));
        text.line(format_args!("default_backend fixed_404"));
    }
}
