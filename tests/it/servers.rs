//! Servers and the way to them: algorithms, limits, checks, cookies, TLS, HTTP/2, the PROXY protocol, names outside.

mod checks;
mod external;
mod pods;
mod spread;
mod stickiness;
mod transport;

use std::net::SocketAddr;

use crate::support::manifests::{endpoints, ingress_with, service};

/// Service, endpoints and Ingress `NAME` for the host `NAME.test`, with annotation lines on the Ingress.
fn app(name: &str, annotations: &str, addresses: &[SocketAddr]) -> String {
    let host = format!("{name}.test");
    service(name)
        + &endpoints(name, addresses)
        + &ingress_with(name, "2024-01-01T00:00:00Z", annotations, &[(&host, "Prefix", "/", name)], "")
}

/// The ConfigMap `default/settings`.
fn config_map(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: default\ndata:\n{lines}---\n"
    )
}
