//! TLS that is passed through: a listener that only reads the server name, and the way back to the HTTPS listener.

use super::frontend::Frontends;
use super::text::Text;
use super::{clients, escape, logs};
use crate::plan::MapId;

/// Name of the backend that leads to the HTTPS listener. One part: no backend of a Service has it.
const LOOP: &str = "tls-terminated";

/// Goes on in the frontend of the HTTPS port, then opens the frontend that terminates TLS with a socket of its own and these
/// options. The PROXY protocol keeps the addresses of clients.
pub(super) fn write(text: &mut Text, frontends: &Frontends<'_>, tls: &str) {
    let Frontends { global, paths, from } = frontends;
    let map = paths.map(MapId::Sni);
    let socket = escape::word(&paths.volumes.https_socket().to_string_lossy());
    text.line(format_args!("mode tcp"));
    clients::connections(text, global, paths);
    logs::tcp_lines(text, global.logs.tcp.as_ref(), global.defaults.logasap, paths.capabilities);
    text.lines(&[
        "tcp-request inspect-delay 5s",
        // Waits for a whole hello; what is none is no TLS, and the HTTPS listener says so.
        "tcp-request content accept unless { req.ssl_hello_type 1 }",
    ]);
    text.line(format_args!("tcp-request content set-var(sess.passed) req.ssl_sni,lower,map_str({map})"));
    text.line(format_args!(
        "tcp-request content set-var(sess.passed) req.ssl_sni,lower,regsub(^[^.]*,),map_str({map}) unless {{ var(sess.passed) -m found }}"
    ));
    if paths.capabilities.silences_connections() {
        // The HTTPS listener logs these.
        text.line(format_args!(
            "tcp-request content set-log-level silent unless {{ var(sess.passed) -m found }}"
        ));
    }
    text.line(format_args!("use_backend %[var(sess.passed)] if {{ var(sess.passed) -m found }}"));
    text.line(format_args!("default_backend {LOOP}"));

    text.section(format_args!("backend {LOOP}{from}"));
    text.line(format_args!("mode tcp"));
    text.line(format_args!("server https unix@{socket} send-proxy-v2"));

    text.section(format_args!("frontend https{from}"));
    text.line(format_args!("bind unix@{socket} mode 600 accept-proxy{tls}"));
}
