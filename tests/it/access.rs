//! Who may, and how often: every key of the family, by requests.

mod basic_auth;
mod cors;
mod limits;
mod lists;
mod rate_limit;

use std::net::{Ipv4Addr, SocketAddr};

use crate::support::client::{Answer, Call};
use crate::support::manifests::{endpoints, ingress_with, service};
use crate::support::{Bed, until};

/// An Ingress `default/NAME` for the host `NAME.test` with these annotations (`key: value` a line, without prefix).
fn site(name: &str, keys: &str) -> String {
    let annotations: Vec<String> = keys.lines().map(|line| format!("haproxy.org/{}", line.trim())).collect();
    let host = format!("{name}.test");
    ingress_with(name, "2024-01-01T00:00:00Z", &annotations.join("\n"), &[(&host, "Prefix", "/", "app")], "")
}

/// The Service `app` with an endpoint.
fn app(address: SocketAddr) -> String {
    service("app") + &endpoints("app", &[address])
}

/// A ConfigMap `default/NAME`; values may have several lines.
fn config_map(name: &str, data: &[(&str, &str)]) -> String {
    let entry = |(key, value): &(&str, &str)| format!("  {key}: \"{}\"\n", value.escape_default());
    let data: String = data.iter().map(entry).collect();
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: default\ndata:\n{data}---\n"
    )
}

/// A Secret `default/NAME`.
fn secret(name: &str, data: &[(&str, &str)]) -> String {
    let entry = |(key, value): &(&str, &str)| format!("  {key}: \"{}\"\n", value.escape_default());
    let data: String = data.iter().map(entry).collect();
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  namespace: default\nstringData:\n{data}---\n"
    )
}

/// 127.0.0.N.
fn source(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, n)
}

async fn call(bed: &Bed, call: &Call<'_>) -> Answer {
    bed.until_alone().await;
    call.send(bed.http()).await.unwrap_or_else(|e| panic!("{call:?}: {e}\n{}", bed.log_tail()))
}

/// Status of `GET /` from 127.0.0.N.
async fn status(bed: &Bed, host: &str, from: u8) -> u16 {
    call(bed, &Call { host, source: source(from), ..Call::default() }).await.status
}

/// Waits until `GET /` from 127.0.0.N has this status.
async fn until_status(bed: &Bed, host: &str, from: u8, wanted: u16) {
    until(&format!("{wanted} for {host} from {from}"), || async {
        let answer = Call { host, source: source(from), ..Call::default() }.send(bed.http()).await?;
        if answer.status == wanted { Ok(()) } else { Err(format!("{}", answer.status)) }
    })
    .await;
}
