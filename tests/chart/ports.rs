//! Ports: in the pod, on the Service, and below 1024.

use serde_json::{Value, json};

use super::helm::{Objects, array, render, texts, values_file};

/// Name, port and target of the Service's ports.
fn service(objects: &Objects) -> Vec<(String, u64, Value)> {
    let ports = array(&objects.get("Service", "outrigger")["spec"]["ports"]).iter();
    ports
        .map(|port| {
            (
                port["name"].as_str().unwrap().to_owned(),
                port["port"].as_u64().unwrap(),
                port["targetPort"].clone(),
            )
        })
        .collect()
}

/// The port of HAProxy's container with this name.
fn container(objects: &Objects, name: &str) -> u64 {
    let mut ports = array(&objects.container("haproxy")["ports"]).iter();
    ports.find(|port| port["name"] == name).unwrap()["containerPort"].as_u64().unwrap()
}

#[test]
fn the_usual_ports_are_in_front_of_high_ones() {
    let objects = render(&[]);
    let expected = [("http", 80), ("https", 443), ("stat", 1024)];
    assert_eq!(service(&objects), expected.map(|(name, port)| (name.to_owned(), port, json!(name))));
    let ports = ["http", "https", "stat", "healthz"].map(|name| container(&objects, name));
    assert_eq!(ports, [8080, 8443, 1024, 1042]);
    assert_eq!(objects.get("Service", "outrigger")["spec"]["type"], "NodePort");
}

#[test]
fn ports_of_the_config_map_move_the_container_and_the_service() {
    let objects = render(&["--set", "controller.config.http-port=80,controller.config.https-port=443"]);
    assert_eq!((container(&objects, "http"), container(&objects, "https")), (80, 443));
    assert_eq!(service(&objects)[0].2, json!("http"), "the Service leads to the port by its name");
    // The ConfigMap wins over the flag, as in the controller.
    let both = "controller.config.http-port=9000,controller.extraArgs={--http-bind-port=9001,--https-bind-port=9002}";
    let objects = render(&["--set", both]);
    assert_eq!((container(&objects, "http"), container(&objects, "https")), (9000, 9002));
}

#[test]
fn ports_that_users_of_a_separate_haproxy_write_work() {
    let objects = render(&[&values_file("high-ports")]);
    assert_eq!(
        service(&objects),
        [("http".to_owned(), 80, json!(8080)), ("https".to_owned(), 443, json!(8443))],
        "no statistics page for the internet"
    );
    assert_eq!(objects.get("Service", "outrigger")["spec"]["type"], "LoadBalancer");
}

#[test]
fn more_ports_have_names_of_their_own() {
    let objects = render(&[&values_file("everything")]);
    let ports = array(&objects.get("Service", "edge")["spec"]["ports"]);
    let names: Vec<_> = ports.iter().map(|port| port["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["http", "alternative", "https", "https-8443", "stat", "tcp-5432", "tcp-6379"]);
    assert_eq!((container(&objects, "tcp-6379"), container(&objects, "tcp-5432")), (16379, 5432));
    assert_eq!(container(&objects, "http"), 9080);
}

#[test]
fn with_the_network_of_the_node_addresses_are_the_nodes() {
    let objects = render(&[&values_file("daemonset-hostnetwork")]);
    let spec = &objects.pod()["spec"];
    assert_eq!((&spec["hostNetwork"], &spec["dnsPolicy"]), (&json!(true), &json!("ClusterFirstWithHostNet")));
    assert_eq!(objects.get("Service", "outrigger")["spec"]["type"], "ClusterIP");
    let args = texts(&objects.container("controller")["args"]);
    assert!(!args.iter().any(|arg| arg.starts_with("--publish")), "{args:?}");
    for flag in ["--stats-bind-port=10240", "--healthz-bind-port=10420", "--controller-port=16060"] {
        assert!(args.contains(&flag), "{args:?}");
    }
}

#[test]
fn sysctls_on_the_container_become_those_of_the_pod() {
    for (file, value) in [("sysctl-map", "80"), ("sysctl-list", "0"), ("ports-sysctl", "0")] {
        let objects = render(&[&values_file(file)]);
        assert_eq!(
            objects.pod()["spec"]["securityContext"]["sysctls"],
            json!([{"name": "net.ipv4.ip_unprivileged_port_start", "value": value}]),
            "{file}"
        );
        assert!(objects.container("haproxy")["securityContext"]["sysctls"].is_null());
        assert_eq!(container(&objects, "http"), 80);
    }
    // Names as keys, and what stands on the pod wins.
    let objects = render(&[
        "--set-json",
        r#"controller.haproxy.securityContext.sysctls={"net.ipv4.ip_unprivileged_port_start": 0, "net.core.somaxconn": 4096}"#,
        "--set-json",
        r#"controller.podSecurityContext.sysctls=[{"name": "net.core.somaxconn", "value": "65535"}]"#,
    ]);
    assert_eq!(
        objects.pod()["spec"]["securityContext"]["sysctls"],
        json!([{"name": "net.core.somaxconn", "value": "65535"}, {"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}])
    );
}

#[test]
fn ports_of_the_node_lead_to_the_pod() {
    let objects = render(&[&values_file("ports-host")]);
    let ports = array(&objects.container("haproxy")["ports"]);
    assert_eq!(ports[0], json!({"name": "http", "containerPort": 8080, "hostPort": 80}));
    assert_eq!(ports[1], json!({"name": "https", "containerPort": 8443, "hostPort": 443}));
}
