//! The frontends: listeners, and the rules that find the backend of a request in the maps.

use super::route::KNOWN;
use super::routing::Routing;
use super::text::Text;
use super::{Paths, certificate, clients, defaults, escape, logs, passthrough};
use crate::model::global::tls::TlsListener;
use crate::model::{Global, Listeners, Need, Table};
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
            if let Some(routing) = self.more_routing() {
                routing.write(text);
                clients::keep(text, self.global);
                routing.clear_text(text);
                clients::no_redirect(text, self.global, "var(txn.kept)");
            } else {
                // The last field is the backend on clear text when there is one, else the only one.
                text.line(format_args!("http-request set-var(txn.backend) var(txn.route),field(-1,|)"));
                text.line(format_args!(
                    "http-request set-var(txn.backend) var(txn.route),field(1,|) if {{ path_beg /.well-known/acme-challenge/ }}"
                ));
                clients::no_redirect(text, self.global, "var(txn.route),field(1,|)");
            }
            self.choose(text);
        }
        if let Some(port) = self.global.listeners.https {
            let tls = self.tls_options();
            // Connections whose TLS is not passed through come back in over a socket.
            let opened = if self.global.needs.contains(&Need::Passthrough) {
                let opened = self.open(text, "tls", port, "");
                if opened {
                    passthrough::write(text, self, &tls);
                }
                opened
            } else {
                self.open(text, "https", port, &tls)
            };
            if opened {
                self.traffic(text, "https", 443);
                if self.global.tls.check.is_some() && self.global.needs.contains(&Need::ClientChecks) {
                    // A certificate that was checked for a host with an authority of its own says nothing about the others.
                    text.line(format_args!(
                        "http-request return status 421 content-type text/plain string \"this host needs a connection of its own\" if {{ ssl_fc_has_sni }} !{{ ssl_fc_sni,lower,strcmp(txn.host) eq 0 }}"
                    ));
                }
                match self.more_routing() {
                    Some(routing) => routing.write(text),
                    None => {
                        text.line(format_args!(
                            "http-request set-var(txn.backend) var(txn.route),field(1,|)"
                        ));
                    }
                }
                self.choose(text);
            }
        }
        self.write_tcp(text);
        self.write_endpoints(text);
    }

    /// What stands behind the address of the HTTPS listener.
    fn tls_options(&self) -> String {
        let TlsListener { alpn, strict_sni, check, signer, .. } = &self.global.tls;
        let list = escape::word(&self.paths.volumes.crt_list().to_string_lossy());
        let mut options = format!(" ssl crt-list {list} alpn {}", alpn.join(","));
        if *strict_sni {
            options.push_str(" strict-sni");
        }
        if let Some(check) = check {
            options.extend([" ", &certificate::options(check, self.paths)]);
        }
        if let Some(signer) = signer {
            options.extend([" ca-sign-file ", &self.paths.asset(signer), " generate-certificates"]);
        }
        options
    }

    /// What routes need that are more than a backend.
    fn more_routing(&self) -> Option<Routing<'_>> {
        Routing::of(&self.global.needs, self.paths, Table::ingress())
    }

    /// Opens a frontend with its bind; without any address family there is none (a frontend without bind is a warning).
    ///
    /// One line for both families: HAProxy keeps certificates once per line, not once per address.
    pub(super) fn open(&self, text: &mut Text, name: &str, port: u16, options: &str) -> bool {
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
        // Where TLS is passed through, the listener in front of it reads the PROXY protocol.
        if scheme == "http" || !self.global.needs.contains(&Need::Passthrough) {
            clients::connections(text, self.global, self.paths);
        }
        logs::http_lines(text, self.global, self.paths.capabilities);
        clients::declarations(text, self.global);
        if let Some(compression) = &self.global.defaults.compression {
            defaults::compression(text, compression);
        }
        if self.paths.capabilities.idle_close_on_response() {
            // Since 2.4 a stopping worker closes idle client connections at once; this waits for one more request.
            text.line(format_args!("option idle-close-on-response"));
        }
        text.lines(&[
            // `fhdr`: `hdr` would cut at a comma. An IPv6 literal ends with its bracket, so only a port is cut off.
            "http-request set-var(txn.host) req.fhdr(host),lower,regsub(:[0-9]*$,),regsub([.]$,)",
            // Marks of map keys: no request may name another host, the wildcard, any host or the default with them.
            "http-request deny deny_status 400 if { var(txn.host) -m sub / | * ! } || { var(txn.host) -m beg . }",
            // Idempotent methods (RFC 9110 9.2.2). Any other request is tried again only when no pod can have seen it.
            "http-request disable-l7-retry unless { method GET HEAD OPTIONS PUT DELETE TRACE }",
        ]);
        clients::identity(text, self.global, self.paths, scheme, port);
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
