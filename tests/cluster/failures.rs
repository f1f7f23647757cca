//! Parts that go away: a controller, a HAProxy, a pod, the API server.

use crate::support::process::kill_in_pod;
use crate::support::release::{Release, application};
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
    let release = Release::install(node, &[]);
    let demo = application(node);
    release.answers("outrigger.test");
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
    let release = Release::install(node, &["--set", "controller.replicaCount=1"]);
    let _demo = application(node);
    release.answers("outrigger.test");
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
    let release = Release::install(node, &[]);
    let _demo = application(node);
    release.answers("outrigger.test");
    let load = release.load();
    let stopped = node.without_api_server();
    load.more(500);
    drop(stopped);
    load.more(100);
    load.stop().assert_clean("an API server that was away");
}
