//! `helm install` with no option set, on a node that enforces Pod Security "restricted".

use crate::support::release::{Release, application, serving};
use crate::support::{DEADLINE, Node, Space, get, until};

/// What the status of the first application says.
fn published(demo: &Space) -> Result<String, String> {
    let path = "{.status.loadBalancer.ingress[*].ip}{.status.loadBalancer.ingress[*].hostname}";
    demo.value("ingress/echo", path)
}

fn until_published(demo: &Space) {
    until("the address of the Ingress", DEADLINE, || match published(demo)?.as_str() {
        "" => Err("no address".to_owned()),
        _ => Ok(()),
    });
}

#[test]
fn helm_installs_with_no_option_and_the_first_application_answers() {
    let (node, _turn) = Node::alone();
    let release = Release::install(node, &[]);
    let address = release.http();
    assert_eq!(get(node, address, "outrigger.test", "/").unwrap().status, 404, "nothing is there yet");

    let demo = application(node);
    release.answers("outrigger.test");
    let answer = get(node, address, "outrigger.test", "/x").unwrap();
    assert!(demo.pods("app=echo").unwrap().contains(&answer.pod().to_owned()), "{answer:?}");

    // kubectl get ingress shows where.
    until_published(&demo);
    let table = demo.kubectl(&["get", "ingress", "echo"]);
    assert!(table.lines().nth(1).is_some_and(|line| line.split_whitespace().count() >= 6), "{table}");

    // A setting of the chart's ConfigMap is taken by the running pods.
    release.upgrade(&[
        "--set-string",
        "controller.config.servers-increment=42,controller.config.ssl-redirect=OFF",
    ]);
    release.answers("outrigger.test");

    let tested = release.helm(&["test", "outrigger", "--timeout=3m"], &[]);
    assert!(tested.contains("Phase:          Succeeded"), "{tested}");

    // Nothing had to start twice.
    let path = "{.items[*].status.containerStatuses[*].restartCount}";
    let restarts = release.space.value("pods", path).unwrap();
    assert!(restarts.chars().all(|c| c == '0' || c == ' '), "restarts: {restarts}");
}

#[test]
fn an_uninstall_takes_the_addresses_back_where_that_is_asked_for() {
    let (node, _turn) = Node::alone();
    let (release, demo) = serving(node, &["--set", "controller.clearStatusOnUninstall=true"]);
    until_published(&demo);
    release.helm(&["uninstall", "outrigger", "--timeout=3m"], &[]);
    assert_eq!(published(&demo).unwrap(), "");
    // Nor does a controller that has not ended yet write it again.
    until("the controllers to end", DEADLINE, || match release.pods().len() {
        0 => Ok(()),
        some => Err(format!("{some} pods")),
    });
    assert_eq!(published(&demo).unwrap(), "");
}
