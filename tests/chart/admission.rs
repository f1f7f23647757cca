//! A real API server takes what the chart renders: every field, every object, and the pods under Pod Security.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::apiserver::ApiServer;
use super::helm::{Objects, helm, render, repository, values_files};

/// Values files whose pods Pod Security restricted refuses: what it says, and the level that takes them.
const REFUSED: [(&str, &str, &str); 4] = [
    ("haproxy-root", "runAsUser=0", "baseline"),
    ("ports-setcap", "allowPrivilegeEscalation != false", "baseline"),
    ("ports-host", "hostPort", "privileged"),
    ("daemonset-hostnetwork", "host namespaces", "privileged"),
];
const NAMESPACES: [&str; 8] =
    ["outrigger", "shop", "blog", "certificates", "pages", "lists", "edge", "elsewhere"];

/// kubectl on the server, with a list of objects as its input.
fn kubectl(kubeconfig: &Path, arguments: &[&str], objects: &[Value]) -> Output {
    let assets = std::env::var_os("KUBEBUILDER_ASSETS").map_or_else(
        || {
            let cache = std::env::var_os("OUTRIGGER_CACHE").map_or_else(
                || Path::new(&std::env::var_os("HOME").unwrap()).join(".cache/outrigger"),
                Into::into,
            );
            cache.join("kubebuilder/bin")
        },
        Into::into,
    );
    let mut child = Command::new(assets.join("kubectl"))
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    // Who asks for something else than to apply reads nothing, and may be gone already.
    let _unread = child.stdin.take().unwrap().write_all(list.to_string().as_bytes());
    child.wait_with_output().unwrap()
}

/// Applies for real, or as a dry run; what was refused otherwise.
fn apply(kubeconfig: &Path, flags: &[&str], objects: &[Value]) -> Result<String, String> {
    let output = kubectl(kubeconfig, &[&["apply", "-f", "-"][..], flags].concat(), objects);
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(said(&output.stdout)) } else { Err(said(&output.stderr)) }
}

fn namespace(name: &str, level: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": name, "labels": {"pod-security.kubernetes.io/enforce": level}}})
}

/// A pod of each template: Pod Security judges pods, for what makes them it only warns.
fn pods(objects: &Objects, namespace: &str) -> Vec<Value> {
    let mut pods = Vec::new();
    for object in &objects.0 {
        let (metadata, spec) = match object["kind"].as_str() {
            Some("Deployment" | "DaemonSet") => {
                (&object["spec"]["template"]["metadata"], &object["spec"]["template"]["spec"])
            }
            Some("Pod") => (&object["metadata"], &object["spec"]),
            _ => continue,
        };
        pods.push(json!({
            "apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"name": format!("pod-{}", pods.len()), "namespace": namespace, "labels": metadata["labels"]},
        }));
    }
    assert!(pods.len() >= 2, "the controller's and the one of helm test");
    pods
}

/// Starts a server with the namespaces of the values files, of which `outrigger` is restricted.
async fn server() -> ApiServer {
    let server = ApiServer::start().await;
    let levels =
        NAMESPACES.map(|name| namespace(name, if name == "outrigger" { "restricted" } else { "baseline" }));
    let more = [namespace("privileged", "privileged"), namespace("baseline", "baseline")];
    apply(&server.kubeconfig(), &[], &[&levels[..], &more[..]].concat()).unwrap();
    server
}

#[tokio::test]
async fn a_real_server_takes_every_values_file() {
    let server = server().await;
    let kubeconfig = server.kubeconfig();
    let dry = ["--dry-run=server", "--validate=strict"];
    let files = values_files();
    let cases = files.iter().map(|file| {
        (file.file_name().unwrap().to_str().unwrap(), vec![format!("--values={}", file.display())])
    });
    let mut refused = Vec::new();
    for (name, flags) in [("no option set", Vec::new())].into_iter().chain(cases) {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let mut objects = render(&flags);
        // Their definitions belong to the Prometheus operator.
        objects.0.retain(|object| object["apiVersion"] != "monitoring.coreos.com/v1");
        let pods_apart: Vec<_> = objects.0.iter().filter(|object| object["kind"] != "Pod").cloned().collect();
        apply(&kubeconfig, &dry, &pods_apart).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = REFUSED.iter().find(|(file, ..)| name.starts_with(file));
        match (apply(&kubeconfig, &dry, &pods(&objects, "outrigger")), expected) {
            (Ok(_), None) => {}
            (Err(error), Some((file, reason, level))) => {
                assert!(
                    error.contains("violates PodSecurity \"restricted") && error.contains(reason),
                    "{name}: {error}"
                );
                apply(&kubeconfig, &dry, &pods(&objects, level))
                    .unwrap_or_else(|error| panic!("{name} in {level}: {error}"));
                refused.push(*file);
            }
            (result, expected) => panic!("{name}: {result:?}, expected {expected:?}"),
        }
    }
    assert_eq!(refused.len(), REFUSED.len(), "{refused:?}");
}

#[tokio::test]
async fn helm_installs_and_its_notes_tell_how_to_test_and_what_to_mind() {
    let server = server().await;
    let notes = |flags: &[&str]| {
        let output = helm()
            .args(["install", "outrigger", "--namespace=outrigger", "--dry-run=server", "--kubeconfig"])
            .arg(server.kubeconfig())
            .arg(repository("charts/outrigger"))
            .args(flags)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        said.split_once("\nNOTES:\n").unwrap().1.to_owned()
    };
    let plain = notes(&[]);
    for part in [
        "helm test outrigger -n outrigger",
        "rollout status deployment/outrigger",
        "ingressClassName: outrigger",
    ] {
        assert!(plain.contains(part), "{plain}");
    }
    assert!(!plain.contains("WARNING"), "{plain}");
    for (flag, warning) in [
        (
            "controller.haproxy.securityContext.sysctls.name=net.ipv4.ip_unprivileged_port_start,controller.haproxy.securityContext.sysctls.value=0",
            "was moved to the pod",
        ),
        ("controller.haproxy.securityContext.runAsUser=0", "HAProxy runs as root"),
        ("controller.config.http-port=80", "the http port of HAProxy is 80, below 1024"),
        (
            "controller.service.httpPorts[0].port=80,controller.service.httpPorts[0].targetPort=8081",
            "leads port 80 to 8081",
        ),
        ("controller.replicaCount=1", "with one pod"),
    ] {
        let said = notes(&["--set", flag]);
        assert_eq!(said.matches("WARNING").count(), 1, "{flag}: {said}");
        assert!(said.contains(warning), "{flag}: {said}");
    }
}

#[tokio::test]
async fn the_role_allows_what_the_controller_asks_and_no_more() {
    let server = server().await;
    let kubeconfig = server.kubeconfig();
    let rights: Vec<_> = render(&[])
        .0
        .into_iter()
        .filter(|object| {
            object["apiVersion"] == "rbac.authorization.k8s.io/v1" || object["kind"] == "ConfigMap"
        })
        .collect();
    apply(&kubeconfig, &[], &rights).unwrap();
    let ask = |arguments: &[&str]| {
        let account = "--as=system:serviceaccount:outrigger:outrigger";
        let output = kubectl(&kubeconfig, &[&[account][..], arguments].concat(), &[]);
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // A list of one object by its name is what the watch of a ConfigMap asks (`src/watch/cluster_source/scope.rs`).
    let own = "/api/v1/namespaces/outrigger/configmaps?fieldSelector=metadata.name%3Doutrigger";
    // The server learns of roles by watching them, like everybody.
    let deadline = Instant::now() + Duration::from_secs(30);
    while !ask(&["get", "--raw", own]).0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for path in [own, &format!("{own}&watch=1&timeoutSeconds=1"), "/api/v1/secrets", "/api/v1/services"] {
        let (allowed, said) = ask(&["get", "--raw", path]);
        assert!(allowed, "{path}: {said}");
    }
    for path in [
        "/api/v1/namespaces/outrigger/configmaps",
        "/api/v1/configmaps",
        "/api/v1/namespaces/outrigger/configmaps/other",
        "/api/v1/nodes",
        "/api/v1/pods",
        "/apis/apps/v1/deployments",
        "/apis/coordination.k8s.io/v1/namespaces/outrigger/leases",
    ] {
        let (allowed, said) = ask(&["get", "--raw", path]);
        assert!(!allowed && said.contains("orbidden"), "{path}: {said}");
    }
    for (verb, resource, allowed) in [
        ("patch", "ingresses.networking.k8s.io/status", true),
        ("update", "ingresses.networking.k8s.io", false),
        ("create", "secrets", false),
        ("create", "events.events.k8s.io", true),
        ("delete", "leases.coordination.k8s.io", false),
    ] {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let subresource = format!("--subresource={subresource}");
        let said = ask(&["auth", "can-i", verb, resource, &subresource, "--namespace=outrigger", "--quiet"]);
        assert_eq!(said.0, allowed, "{verb} {resource}: {}", said.1);
    }
}
