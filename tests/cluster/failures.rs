//! Parts that go away: a controller, a HAProxy, a pod, the API server.

use std::net::IpAddr;

use serde_json::Value;

use crate::support::process::kill_in_pod;
use crate::support::release::{CONTROLLERS, Release, serving};
use crate::support::{DEADLINE, Node, get, until};

/// The first pod of the release, and how often that container of it was started again.
fn restarts(release: &Release, container: &str) -> (String, u64) {
    let mut pods = release.space.pods("app.kubernetes.io/component=controller").unwrap();
    pods.sort();
    let path = format!("{{.status.containerStatuses[?(@.name==\"{container}\")].restartCount}}");
    let count = release.space.value(&format!("pod/{}", pods[0]), &path).unwrap().parse().unwrap();
    (pods[0].clone(), count)
}

fn kill(release: &Release, container: &str, program: &str) {
    let (pod, before) = restarts(release, container);
    kill_in_pod(program, &pod);
    until(&format!("{container} to be started again"), DEADLINE, || match restarts(release, container).1 {
        count if count > before => Ok(()),
        count => Err(format!("{count} restarts")),
    });
}

/// Of two pods: Kubernetes takes a pod out of its Service while one of its containers does not run, whatever its probes say
/// (`ContainersReady`), so the other pod gets new connections; those that this one has go on.
#[test]
fn a_controller_that_dies_takes_no_request_with_it_and_catches_up() {
    let (node, _turn) = Node::alone();
    let (release, demo) = serving(node, &[]);
    let load = release.load();
    kill(&release, "controller", "outrigger");
    demo.kubectl(&["scale", "deployment/echo", "--replicas=3"]);
    demo.rolled_out("deployment/echo");
    load.more(100);
    load.stop().assert_clean("a controller that was killed");
    // The one that runs now found HAProxy as it should be; pods that came meanwhile are added live.
    until("the controller to be at work again", DEADLINE, || {
        let log = release.controllers_log();
        if log.contains("finish haproxy update") { Ok(()) } else { Err(log) }
    });
    // What is seen is the log since the start of each controller: the other one reloaded once, for its first configuration.
    assert!(release.reloads() <= 1, "{}", release.controllers_log());
}

#[test]
fn a_haproxy_that_dies_comes_back_with_the_last_configuration() {
    let (node, _turn) = Node::alone();
    let (release, _demo) = serving(node, &["--set", "controller.replicaCount=1"]);
    let ((pod, before), address) = (restarts(&release, "haproxy"), release.http());
    // Without the API server, so that nobody but the files can tell it what to serve.
    let stopped = node.without_api_server();
    kill_in_pod("haproxy", &pod);
    until("HAProxy to serve again", DEADLINE, || match get(node, address, "outrigger.test", "/") {
        Ok(answer) if answer.status == 200 => Ok(()),
        other => Err(format!("{other:?}")),
    });
    drop(stopped);
    until("the restart to be known", DEADLINE, || match restarts(&release, "haproxy") {
        (same, count) if same == pod && count == before + 1 => Ok(()),
        other => Err(format!("{other:?}")),
    });
}

#[test]
fn requests_and_known_endpoints_go_on_without_the_api_server() {
    let (node, _turn) = Node::alone();
    let (release, _demo) = serving(node, &[]);
    let load = release.load();
    let stopped = node.without_api_server();
    // A minute: longer than the node counts as healthy without a word from it (40 s).
    load.more(3000);
    drop(stopped);
    load.more(100);
    load.stop().assert_clean("an API server that was away");
}

/// Requests of a method that may be sent twice, as GET may (RFC 9110 9.2.2), under the retries that nobody has set.
#[test]
fn pods_that_are_killed_cost_no_idempotent_request() {
    let (node, _turn) = Node::alone();
    let (release, demo) = serving(node, &[]);
    let before = release.reloads();
    let load = release.load();
    let mut pods = demo.pods("app=echo").unwrap();
    pods.sort();
    // A crash, and a pod that goes without a word.
    kill_in_pod("echo", &pods[0]);
    let restarts = "{.status.containerStatuses[0].restartCount}";
    until("the application to be started again", DEADLINE, || {
        match demo.value(&format!("pod/{}", pods[0]), restarts)?.as_str() {
            "0" => Err("not yet".to_owned()),
            _ => Ok(()),
        }
    });
    until("it to be asked again", DEADLINE, || {
        match get(node, release.http(), "outrigger.test", "/")?.pod() {
            pod if pod == pods[0] => Ok(()),
            pod => Err(pod.to_owned()),
        }
    });
    load.more(100);
    demo.kubectl(&["delete", "pod", &pods[1], "--grace-period=0", "--force", "--wait=false"]);
    demo.rolled_out("deployment/echo");
    load.more(100);
    load.stop().assert_clean("pods that were killed");
    assert_eq!(release.reloads(), before, "{}", release.controllers_log());
}

#[test]
fn a_pod_that_replaces_another_is_ready_only_when_it_serves() {
    let (node, _turn) = Node::alone();
    let (release, _demo) = serving(node, &["--set", "controller.replicaCount=1"]);
    for _ in 0..3 {
        let old = release.pods();
        release.space.kubectl(&["delete", "pod", &old[0], "--wait=false"]);
        // At the first moment at which Kubernetes would send it requests.
        let new = until("the new pod to be ready", DEADLINE, || {
            let pods = release.space.json(&["pods", "-l", CONTROLLERS])?;
            let ready = |pod: &&Value| {
                let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
                pod["metadata"]["name"] != old[0].as_str()
                    && conditions.clone().any(|is| is["type"] == "Ready" && is["status"] == "True")
            };
            let found = pods["items"].as_array().into_iter().flatten().find(ready);
            let address = found.and_then(|pod| pod["status"]["podIP"].as_str()?.parse::<IpAddr>().ok());
            address.ok_or_else(|| "no pod is ready".to_owned())
        });
        let answer = get(node, (new, 8080), "outrigger.test", "/").unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}
