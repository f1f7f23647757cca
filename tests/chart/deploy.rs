//! `deploy/outrigger.yaml`: what `kubectl apply` needs is what the chart renders.

use std::fs;
use std::process::Command;

use super::helm::{Objects, array, repository};

#[test]
fn the_manifest_is_the_chart() {
    let output = Command::new(repository("scripts/deploy.sh")).arg("-").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = fs::read_to_string(repository("deploy/outrigger.yaml")).unwrap();
    assert!(
        String::from_utf8(output.stdout).unwrap() == written,
        "deploy/outrigger.yaml is not what the chart renders; run scripts/deploy.sh"
    );
}

#[test]
fn the_manifest_holds_all_that_is_needed() {
    let objects = Objects::parse(&fs::read_to_string(repository("deploy/outrigger.yaml")).unwrap());
    for kind in
        ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "IngressClass"]
    {
        objects.get(kind, "outrigger");
    }
    assert_eq!(objects.0[0]["kind"], "Namespace", "the others are in it");
    objects.get("Deployment", "outrigger");
    objects.get("Deployment", "outrigger-default-backend");
    objects.get("Service", "outrigger-default-backend");
    let service = &objects.get("Service", "outrigger")["spec"];
    assert_eq!(service["type"], "NodePort");
    let ports: Vec<_> = array(&service["ports"]).iter().map(|port| port["port"].as_u64().unwrap()).collect();
    assert_eq!(ports, [80, 443, 1024]);
    for object in &objects.0 {
        let labels = object["metadata"]["labels"].to_string();
        assert!(!labels.to_lowercase().contains("helm"), "Helm manages nothing here: {labels}");
    }
}
