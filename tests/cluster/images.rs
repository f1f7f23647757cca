//! What is in the images, and that the static controller works in an empty one.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::dns::NameServer;
use crate::support::node::NODE_IP;
use crate::support::process::output;
use crate::support::{DEADLINE, Node, Security, Space};

/// Entries of an image's files, and its configuration.
fn contents(archive: &Path) -> (Vec<String>, Value) {
    let archive = archive.to_str().unwrap();
    let inside = |member: &str| {
        output(Command::new("sh").args(["-c", "tar -xOf \"$1\" \"$2\"", "sh", archive, member]), "").unwrap()
    };
    let manifest: Value = serde_json::from_str(&inside("manifest.json")).unwrap();
    let mut entries = Vec::new();
    for layer in manifest[0]["Layers"].as_array().unwrap() {
        let list = "tar -xOf \"$1\" \"$2\" | tar -t";
        let layer = layer.as_str().unwrap();
        let listed = output(Command::new("sh").args(["-c", list, "sh", archive, layer]), "").unwrap();
        entries.extend(listed.lines().map(str::to_owned));
    }
    let config = serde_json::from_str(&inside(manifest[0]["Config"].as_str().unwrap())).unwrap();
    (entries, config)
}

fn files(entries: &[String]) -> Vec<&str> {
    entries.iter().map(|entry| entry.trim_start_matches("./")).filter(|entry| !entry.ends_with('/')).collect()
}

fn archive(node: &Node, name: &str) -> PathBuf {
    node.images().into_iter().find(|(_, names)| names.iter().any(|n| n == name)).unwrap().0
}

#[test]
fn the_images_hold_one_small_program_each_and_no_root() {
    let (node, _turn) = Node::shared();
    for (image, program, mebibytes) in [
        ("localhost/outrigger:test", "outrigger", 30),
        ("localhost/outrigger-init:test", "outrigger-init", 2),
    ] {
        let archive = archive(node, image);
        let (entries, config) = contents(&archive);
        assert_eq!(files(&entries), [format!("usr/local/bin/{program}")], "{image}");
        assert_eq!(config["config"]["User"], "1000:1000", "{image}");
        // Not compressed: a registry's is smaller.
        let size = archive.metadata().unwrap().len();
        assert!(size < mebibytes << 20, "{image} has {size} bytes");
    }
}

#[test]
fn the_images_of_haproxy_are_made_like_the_official_one() {
    let (node, _turn) = Node::shared();
    for branch in ["2.6", "3.0", "3.2"] {
        let (entries, config) = contents(&archive(node, &format!("localhost/haproxy:{branch}")));
        assert_eq!(config["config"]["User"], "haproxy", "a named user");
        assert_eq!(config["config"]["StopSignal"], "SIGUSR1");
        assert!(files(&entries).contains(&"usr/bin/sh"), "{entries:#?}");
    }
}

/// A pod of one container of the controller's image, locked down as the chart does.
fn controller_pod(name: &str, arguments: &str, further: &str) -> String {
    format!(
        "apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  containers:
    - name: controller
      image: localhost/outrigger:test
      args: {arguments}
      securityContext:
        allowPrivilegeEscalation: false
        capabilities: {{drop: [ALL]}}
        readOnlyRootFilesystem: true
        runAsNonRoot: true
        seccompProfile: {{type: RuntimeDefault}}
{further}"
    )
}

#[test]
fn the_controller_runs_in_its_empty_image() {
    let (node, _turn) = Node::shared();
    let space = Space::new(node, "version", Security::Restricted);
    space.apply(&controller_pod("version", "[version]", ""));
    let (code, log) = space.finished("version", DEADLINE);
    assert_eq!(code, 0, "{log}");
    assert!(log.contains(concat!("outrigger ", env!("CARGO_PKG_VERSION"))), "{log}");
}

/// A static program of another libc could not: its resolver is loaded from files that an empty image does not have.
#[test]
fn a_host_name_in_a_kubeconfig_resolves_in_the_empty_image() {
    let (node, _turn) = Node::shared();
    let space = Space::new(node, "names", Security::Restricted);
    let kubeconfig = std::fs::read_to_string(node.kubeconfig()).unwrap();
    let authority =
        kubeconfig.split("certificate-authority: ").nth(1).unwrap().split('}').next().unwrap().to_owned();
    let kubeconfig = kubeconfig
        .replace(&NODE_IP.to_string(), "api.outrigger.test")
        .replace(&format!("certificate-authority: {authority}"), "certificate-authority: /kube/ca.crt");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, kubeconfig).unwrap();
    space.kubectl(&[
        "create",
        "secret",
        "generic",
        "kube",
        &format!("--from-file=config={}", path.display()),
        &format!("--from-file=ca.crt={authority}"),
    ]);
    let _server = NameServer::start(node, "api.outrigger.test", NODE_IP);
    let kube = "  volumes: [{name: kube, secret: {secretName: kube}}]\n";
    let by_server = format!("{kube}  dnsPolicy: None\n  dnsConfig: {{nameservers: [{NODE_IP}]}}\n");
    // The name server would answer, too: this address is of no use.
    let nowhere = Ipv4Addr::new(10, 201, 0, 9);
    let by_hosts = format!(
        "{kube}  dnsPolicy: None\n  dnsConfig: {{nameservers: [{nowhere}]}}\n  \
         hostAliases: [{{ip: {NODE_IP}, hostnames: [api.outrigger.test]}}]\n"
    );
    for (name, further) in [("by-server", by_server), ("by-hosts", by_hosts)] {
        let pod = controller_pod(name, "[render, --kubeconfig=/kube/config]", &further);
        let mounted = pod.replace(
            "      securityContext:",
            "      volumeMounts: [{name: kube, mountPath: /kube}]\n      securityContext:",
        );
        space.apply(&mounted);
        let (code, log) = space.finished(name, DEADLINE);
        assert!(code == 0 && log.contains("frontend https"), "{name}: {code}\n{log}");
    }
}
