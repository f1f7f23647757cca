//! `haproxy.cfg`: global, defaults, frontends, fixed backends.
//!
//! Never `chroot`, `user`, `group`, `daemon`, `pidfile` (the container's uid cannot), `master-worker` or `program`.

use super::backend::auth;
use super::frontend::Frontends;
use super::text::Text;
use super::{Paths, defaults, endpoints, escape, fixed, logs, needs, server};
use crate::model::global::tls::TlsListener;
use crate::model::{Capabilities, Global, Need};

/// Name of the defaults section.
const DEFAULTS: &str = "outrigger";

/// The text behind the name of a proxy that names its defaults. Before 2.4 the only defaults section applies, to the files
/// behind this one too.
pub(super) fn from(capabilities: Capabilities) -> String {
    if capabilities.named_defaults() { format!(" from {DEFAULTS}") } else { String::new() }
}

/// The main text.
pub(super) fn render(global: &Global, paths: &Paths<'_>) -> String {
    let Paths { volumes, capabilities, .. } = *paths;
    let process = &global.process;
    let mut text = Text::default();
    text.section(format_args!("global"));
    logs::targets(&mut text, &global.logs, capabilities);
    text.line(format_args!("hard-stop-after {}", defaults::duration(process.hard_stop_after)));
    if let Some(maxconn) = process.maxconn {
        text.line(format_args!("maxconn {maxconn}"));
    }
    if let Some(nbthread) = process.nbthread {
        text.line(format_args!("nbthread {nbthread}"));
    }
    text.lines(&["mworker-max-reloads 50"]);
    if capabilities.fd_hard_limit() {
        // Container runtimes set no limit, and HAProxy sizes its tables by it; the default of newer versions.
        text.line(format_args!("fd-hard-limit 1048576"));
    }
    if !capabilities.inherits_listeners() {
        let socket = escape::word(&volumes.worker_socket().to_string_lossy());
        text.line(format_args!("stats socket {socket} mode 660 level admin expose-fd listeners"));
    }
    text.line(format_args!("stats maxconn 50"));
    tls(&mut text, global);
    auth::write_global(&mut text, global, paths);
    needs::write_global(&mut text, global);
    text.snippet(global.snippets.global.as_ref(), paths);

    text.section(format_args!("defaults {DEFAULTS}"));
    defaults::write(&mut text, global, paths);

    endpoints::write_users(&mut text, &global.stats);
    if global.needs.contains(&Need::Resolvers) {
        text.section(format_args!("resolvers {}", server::RESOLVERS));
        text.lines(&[
            // Fatal when the file is missing, fine when it is empty (2.2 to 3.4); every pod has it.
            "parse-resolv-conf",
            "accepted_payload_size 8192",
            "hold valid 10s",
            // Name servers that are down are no reason to forget an address.
            "hold other 1h",
            "hold refused 1h",
            "hold timeout 1h",
        ]);
    }

    let from = from(capabilities);
    needs::write(&mut text, global, paths, &from);
    Frontends { global, paths, from: &from }.write(&mut text);
    fixed::write(&mut text, global, &from, paths);
    auth::write_sections(&mut text, global, paths, &from);
    text.finish()
}

/// What counts for every listener with TLS.
fn tls(text: &mut Text, global: &Global) {
    let TlsListener { min_version, ciphers, cipher_suites, signer, .. } = &global.tls;
    text.line(format_args!("ssl-default-bind-options ssl-min-ver {min_version} no-tls-tickets"));
    if !ciphers.is_empty() {
        text.line(format_args!("ssl-default-bind-ciphers {}", escape::word(ciphers)));
    }
    if !cipher_suites.is_empty() {
        text.line(format_args!("ssl-default-bind-ciphersuites {}", cipher_suites.join(":")));
    }
    if global.needs.contains(&Need::ClientChecks) {
        // TLS 1.3 resumes a session under another server name, and the certificate that another host's authority accepted with
        // it (2.2 to 3.0; 3.2 refuses).
        text.line(format_args!("tune.ssl.cachesize 0"));
    }
    if signer.is_some() {
        // Without it OpenSSL 3 refuses the parameters of generated certificates, and the first handshake of each fails (2.6 on).
        text.line(format_args!("tune.ssl.default-dh-param 2048"));
    }
}
