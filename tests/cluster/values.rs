//! The values that users of a separate HAProxy container have today (`charts/outrigger/ci`), on a node.

use crate::support::node::NODE_IP;
use crate::support::release::{Release, application};
use crate::support::{Node, Security};

/// Installs with these values, and asks for the first application.
fn serves(security: Security, file: &str, further: &[&str]) {
    let (node, _turn) = Node::alone();
    let file = format!("charts/outrigger/ci/{file}-values.yaml");
    let further = [&["--values", file.as_str()], further].concat();
    let release = Release::install_in(node, security, "deployment/outrigger", &further);
    let _demo = application(node);
    release.answers("outrigger.test");
    let log = release.haproxys_log();
    assert!(log.contains("\"GET / HTTP/1.1\""), "requests are logged on standard output: {log}");
}

#[test]
fn haproxy_enabled_alone() {
    serves(Security::Restricted, "haproxy-enabled", &[]);
}

#[test]
fn haproxy_as_root_on_low_ports() {
    // Pod Security restricted refuses it, as it should.
    serves(Security::Privileged, "haproxy-root", &[]);
}

/// Ports 80 of the node itself, on every node.
fn serves_on_the_node(file: &str) {
    let (node, _turn) = Node::alone();
    let further = ["--values", &format!("charts/outrigger/ci/{file}-values.yaml")];
    let release = Release::install_in(node, Security::Privileged, "daemonset/outrigger", &further);
    let _demo = application(node);
    release.answers_at((NODE_IP, 80).into(), "outrigger.test");
}

#[test]
fn ports_of_the_node_lead_to_the_pod() {
    serves_on_the_node("ports-host");
}

#[test]
fn the_network_of_the_node() {
    serves_on_the_node("daemonset-hostnetwork");
}

/// HAProxy's file has the capability, and counts where privileges may grow: not under Pod Security restricted.
#[test]
fn an_image_with_a_file_capability() {
    let (node, _turn) = Node::alone();
    let image = "controller.haproxy.image.repository=localhost/haproxy-setcap,controller.haproxy.image.pullPolicy=IfNotPresent";
    let further = ["--values", "charts/outrigger/ci/ports-setcap-values.yaml", "--set-string", image];
    let release = Release::install_in(node, Security::Baseline, "deployment/outrigger", &further);
    let _demo = application(node);
    release.answers("outrigger.test");
    let ports =
        release.space.value("service/outrigger", "{.spec.ports[?(@.name==\"http\")].targetPort}").unwrap();
    let user = release.space.kubectl(&["exec", "deployment/outrigger", "-c", "haproxy", "--", "id", "-u"]);
    assert_eq!((ports.as_str(), user.trim()), ("http", "99"));
}

#[test]
fn high_ports_behind_a_load_balancer() {
    serves(Security::Restricted, "high-ports", &[]);
}

#[test]
fn an_image_of_haproxy_of_ones_own() {
    // Their registry is not reached from here.
    let here = "controller.haproxy.image.repository=localhost/haproxy,controller.haproxy.image.pullPolicy=IfNotPresent";
    serves(Security::Restricted, "own-image", &["--set-string", here]);
}

#[test]
fn the_unprivileged_port_start_as_a_map() {
    serves(Security::Restricted, "sysctl-map", &[]);
}

#[test]
fn the_unprivileged_port_start_as_a_list() {
    serves(Security::Restricted, "sysctl-list", &[]);
}

/// What OpenShift does: users and a group that nobody chose, other ones for each container.
#[test]
fn any_users_with_nothing_in_common_but_the_group() {
    let users = "controller.podSecurityContext.fsGroup=1000660000,controller.podSecurityContext.runAsUser=1000650000,\
                 controller.haproxy.securityContext.runAsUser=1000650007,controller.securityContext.runAsUser=1000650008,\
                 defaultBackend.podSecurityContext.runAsUser=1000650009";
    serves(Security::Restricted, "openshift", &["--set", users]);
}

#[test]
fn gke_autopilot() {
    serves(
        Security::Restricted,
        "gke-autopilot",
        &["--set", "controller.service.externalTrafficPolicy=Cluster"],
    );
}
