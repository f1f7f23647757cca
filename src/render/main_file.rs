//! `haproxy.cfg`: global, defaults, frontends, fixed backends.
//!
//! Never `chroot`, `user`, `group`, `daemon`, `pidfile` (the container's uid cannot), `master-worker` or `program`.

use super::frontend::Frontends;
use super::text::Text;
use super::{Paths, escape, fixed};
use crate::model::{Capabilities, Global};

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
    let mut text = Text::default();
    text.section(format_args!("global"));
    text.lines(&["log stdout format raw local0", "hard-stop-after 30m", "mworker-max-reloads 50"]);
    if capabilities.fd_hard_limit() {
        // Container runtimes set no limit, and HAProxy sizes its tables by it; the default of newer versions.
        text.line(format_args!("fd-hard-limit 1048576"));
    }
    if !capabilities.inherits_listeners() {
        let socket = escape::word(&volumes.worker_socket().to_string_lossy());
        text.line(format_args!("stats socket {socket} mode 660 level admin expose-fd listeners"));
    }
    text.lines(&["stats maxconn 50", "ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets"]);
    text.snippet(global.snippets.global.as_ref(), paths);

    text.section(format_args!("defaults {DEFAULTS}"));
    text.lines(&[
        "mode http",
        "log global",
        "option dontlognull",
        "option http-keep-alive",
        "option redispatch",
        "retries 3",
        "retry-on conn-failure",
        "timeout connect 5s",
        "timeout client 50s",
        "timeout server 50s",
        "timeout http-request 5s",
        "timeout http-keep-alive 1m",
        "timeout queue 5s",
        "timeout tunnel 1h",
    ]);

    let from = from(capabilities);
    Frontends { global, paths, from: &from }.write(&mut text);
    fixed::write(&mut text, &from);
    text.finish()
}
