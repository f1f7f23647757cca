//! Keys of TLS towards clients.

mod clients;
mod listener;
mod passthrough;

use crate::support::certificates::ecdsa;
use crate::support::manifests::{endpoints, ingress_with, service, tls_secret};

/// An Ingress `default/NAME` for one host, with a certificate of its own.
fn site(name: &str, host: &str, annotations: &str) -> String {
    let pair = ecdsa(host, &[host]);
    let secret = format!("{name}-tls");
    let tls = format!("  tls:\n  - hosts: [\"{host}\"]\n    secretName: {secret}\n");
    tls_secret(&secret, &pair.certificate, &pair.key) + &plain_site(name, host, annotations, &tls)
}

/// The same without certificate; `tls` are lines of `spec`.
fn plain_site(name: &str, host: &str, annotations: &str, tls: &str) -> String {
    let rules = [(host, "Prefix", "/", "app")];
    ingress_with(name, "2024-01-01T00:00:00Z", annotations, &rules, tls)
}

/// The Service `app` that all sites lead to.
fn app(address: std::net::SocketAddr) -> String {
    service("app") + &endpoints("app", &[address])
}
