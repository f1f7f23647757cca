//! That the node is what the other tests take it for.

use std::net::SocketAddr;

use crate::support::load::{Load, Plan};
use crate::support::node::NODE_IP;
use crate::support::{DEADLINE, Node, Security, Space, get, until};

#[test]
fn pods_run_and_services_reach_them() {
    let (node, _turn) = Node::shared();
    let space = Space::new(node, "service", Security::Restricted);
    space.apply(&include_str!("manifests/echo.yaml").replace("CLASS", "nobody"));
    space.rolled_out("deployment/echo");
    let address: std::net::IpAddr =
        space.value("service/echo", "{.spec.clusterIP}").unwrap().parse().unwrap();
    let target = SocketAddr::new(address, 80);
    let pods = space.pods("app=echo").unwrap();
    let answer = until("the Service to answer", DEADLINE, || get(node, target, "any", "/a?b"));
    assert!(answer.status == 200 && pods.contains(&answer.pod().to_owned()), "{answer:?}");
    assert!(answer.body.contains("GET /a?b") && answer.headers.contains_key("date"), "{answer:?}");

    let load =
        Load::start(node, Plan { target, host: "any".to_owned(), path: "/".to_owned(), per_second: 100 });
    load.more(200);
    let report = load.stop();
    report.assert_clean("a Service at rest");
    assert_eq!(report.by_pod.len(), 2, "{report}");
    assert_eq!(report.by_pod.values().sum::<u64>(), report.answered);
}

#[test]
fn load_sees_what_fails() {
    let (node, _turn) = Node::shared();
    let space = Space::new(node, "failing", Security::Restricted);
    space.apply(&include_str!("manifests/echo.yaml").replace("CLASS", "nobody"));
    space.rolled_out("deployment/echo");
    let address: std::net::IpAddr =
        space.value("service/echo", "{.spec.clusterIP}").unwrap().parse().unwrap();
    let target = SocketAddr::new(address, 80);
    let load =
        Load::start(node, Plan { target, host: "any".to_owned(), path: "/".to_owned(), per_second: 100 });
    space.kubectl(&["delete", "pods", "-l", "app=echo", "--grace-period=0", "--force", "--wait=false"]);
    space.ready("app=echo");
    load.more(50);
    let report = load.stop();
    assert!(!report.failures.is_empty(), "{report}");
}

#[test]
fn restricted_namespaces_refuse_root() {
    let (node, _turn) = Node::shared();
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: root}\nspec:\n  containers:\n    \
               - {name: a, image: localhost/echo:test, securityContext: {runAsUser: 0}}\n";
    let restricted = Space::new(node, "restricted", Security::Restricted);
    let refusal = restricted.try_apply(pod).unwrap_err();
    assert!(refusal.contains("violates PodSecurity \"restricted:latest\""), "{refusal}");
    Space::new(node, "privileged", Security::Privileged).apply(pod);
}

#[test]
fn the_api_server_goes_and_comes_back() {
    let (node, _turn) = Node::alone();
    let stopped = node.without_api_server();
    assert!(get(node, (NODE_IP, 6443), "any", "/").is_err());
    drop(stopped);
    node.kubectl(&["get", "--raw", "/readyz"]);
    let log = std::fs::read_to_string(node.audit_log()).unwrap();
    assert!(log.lines().all(|line| line.starts_with("{\"kind\":\"Event\"")), "every request is a line");
}
