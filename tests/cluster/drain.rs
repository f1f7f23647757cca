//! `kubectl drain`, with what PodDisruptionBudgets leave: requests go on.

use std::thread;

use crate::support::release::{CONTROLLERS, serving};
use crate::support::{DEADLINE, Node, until};

const BUDGET: &str = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: echo}\nspec: {minAvailable: 1, selector: {matchLabels: {app: echo}}}\n";

/// Drains the node of the pods with this label. It is the only node, so it takes pods again as soon as the first one is evicted;
/// the drain goes on until the last of the pods that it found has gone.
fn drain(node: &'static Node, label: &str) {
    let selector = format!("--pod-selector={label}");
    let arguments = move |selector: &str| {
        node.run(
            "kubectl",
            &["drain", "node", selector, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=5m"],
            "",
        )
    };
    let drain = thread::spawn(move || arguments(&selector));
    until("the first eviction", DEADLINE, || {
        let pods = node.json(&["pods", "--all-namespaces", "-l", label])?;
        let pods = pods["items"].as_array().cloned().unwrap_or_default();
        let going = pods.iter().any(|pod| !pod["metadata"]["deletionTimestamp"].is_null());
        if going { Ok(()) } else { Err(format!("{} pods", pods.len())) }
    });
    node.kubectl(&["uncordon", "node"]);
    drain.join().unwrap().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn a_drain_of_the_application_and_then_of_the_controllers_takes_no_request_with_it() {
    let (node, _turn) = Node::alone();
    let (release, demo) = serving(node, &[]);
    demo.apply(BUDGET);
    let (before, pods) = (release.reloads(), release.pods());
    let load = release.load();
    drain(node, "app=echo");
    demo.rolled_out("deployment/echo");
    load.more(100);
    assert_eq!(release.reloads(), before, "{}", release.controllers_log());
    drain(node, CONTROLLERS);
    release.space.rolled_out("deployment/outrigger");
    load.more(100);
    load.stop().assert_clean("a drain");
    assert!(release.pods().iter().all(|pod| !pods.contains(pod)), "all of them are new");
}
