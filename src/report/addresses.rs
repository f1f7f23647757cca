//! The addresses that Ingresses are reached at.

use k8s_openapi::api::core::v1::{Node, Service};
use k8s_openapi::api::networking::v1::{IngressLoadBalancerIngress, IngressPortStatus};
use kube::Client;
use kube::api::{Api, ListParams};

use crate::cluster::ObjectName;

/// Where the addresses come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Publish {
    /// `--publish-service`: its load balancer, else its external addresses, else its own.
    Service(ObjectName),
    /// `--publish-address`: these.
    Addresses(Vec<String>),
    /// Neither: the nodes, by external address, else internal.
    Nodes,
}

impl Publish {
    /// The addresses now, sorted, as they stand in the status of an Ingress.
    pub(super) async fn look(&self, client: &Client) -> Result<Vec<IngressLoadBalancerIngress>, kube::Error> {
        let mut addresses = match self {
            Self::Addresses(addresses) => addresses.iter().map(|address| entry(address)).collect(),
            Self::Service(name) => {
                let services: Api<Service> = Api::namespaced(client.clone(), &name.namespace);
                services.get_opt(&name.name).await?.map(|service| of_service(&service)).unwrap_or_default()
            }
            Self::Nodes => {
                let nodes: Api<Node> = Api::all(client.clone());
                nodes.list(&ListParams::default()).await?.iter().filter_map(of_node).collect()
            }
        };
        addresses
            .sort_by(|a: &IngressLoadBalancerIngress, b| (&a.ip, &a.hostname).cmp(&(&b.ip, &b.hostname)));
        addresses.dedup();
        Ok(addresses)
    }
}

/// An address is an IP address or a name.
fn entry(address: &str) -> IngressLoadBalancerIngress {
    let is_ip = address.parse::<std::net::IpAddr>().is_ok();
    let text = Some(address.to_owned());
    let (ip, hostname) = if is_ip { (text, None) } else { (None, text) };
    IngressLoadBalancerIngress { ip, hostname, ports: None }
}

fn of_service(service: &Service) -> Vec<IngressLoadBalancerIngress> {
    let balancers = service
        .status
        .as_ref()
        .and_then(|status| status.load_balancer.as_ref())
        .and_then(|balancer| balancer.ingress.clone())
        .unwrap_or_default();
    if !balancers.is_empty() {
        return balancers
            .into_iter()
            .map(|balancer| IngressLoadBalancerIngress {
                ip: balancer.ip,
                hostname: balancer.hostname,
                ports: balancer.ports.map(|ports| {
                    let port = |port: k8s_openapi::api::core::v1::PortStatus| IngressPortStatus {
                        port: port.port,
                        protocol: port.protocol,
                        error: port.error,
                    };
                    ports.into_iter().map(port).collect()
                }),
            })
            .collect();
    }
    let Some(spec) = &service.spec else { return Vec::new() };
    // A load balancer that has no address yet is not reached at the address inside the cluster.
    if spec.type_.as_deref() == Some("LoadBalancer") {
        return Vec::new();
    }
    if let Some(name) = spec.external_name.as_deref().filter(|name| !name.is_empty()) {
        return vec![entry(name)];
    }
    let external = spec.external_ips.iter().flatten();
    let own = spec.cluster_ips.iter().flatten().filter(|address| *address != "None");
    let external: Vec<_> = external.map(|address| entry(address)).collect();
    if external.is_empty() { own.map(|address| entry(address)).collect() } else { external }
}

/// A node that takes pods, by external address, else internal.
fn of_node(node: &Node) -> Option<IngressLoadBalancerIngress> {
    let addresses = node.status.as_ref()?.addresses.as_ref()?;
    let of_type = |wanted: &str| addresses.iter().find(|address| address.type_ == wanted);
    of_type("ExternalIP").or_else(|| of_type("InternalIP")).map(|address| entry(&address.address))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ServiceSpec;

    use super::*;

    fn service(spec: ServiceSpec) -> Service {
        Service { spec: Some(spec), ..Service::default() }
    }

    fn said(entries: &[IngressLoadBalancerIngress]) -> Vec<&str> {
        entries.iter().filter_map(|e| e.ip.as_deref().or(e.hostname.as_deref())).collect()
    }

    #[test]
    fn a_service_without_load_balancer_gives_what_it_has() {
        let cluster = || Some(vec!["10.96.0.9".to_owned()]);
        let both = ServiceSpec {
            cluster_ips: cluster(),
            external_ips: Some(vec!["192.0.2.1".to_owned()]),
            ..ServiceSpec::default()
        };
        assert_eq!(said(&of_service(&service(both))), ["192.0.2.1"]);
        let own = ServiceSpec { cluster_ips: cluster(), ..ServiceSpec::default() };
        assert_eq!(said(&of_service(&service(own))), ["10.96.0.9"]);
        let headless = ServiceSpec { cluster_ips: Some(vec!["None".to_owned()]), ..ServiceSpec::default() };
        assert!(of_service(&service(headless)).is_empty());
        let waiting = ServiceSpec {
            cluster_ips: cluster(),
            type_: Some("LoadBalancer".to_owned()),
            ..ServiceSpec::default()
        };
        assert!(of_service(&service(waiting)).is_empty(), "it is not there yet");
    }

    #[test]
    fn an_address_is_a_number_or_a_name() {
        assert_eq!(entry("2001:db8::1").ip.as_deref(), Some("2001:db8::1"));
        assert_eq!(entry("lb.example.org").hostname.as_deref(), Some("lb.example.org"));
    }
}
