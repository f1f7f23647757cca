//! Profiles of the controller in its own image: static, of musl, with an allocator of its own.

use crate::support::release::serving;
use crate::support::{DEADLINE, Node, until};

#[test]
fn go_reads_the_profiles_of_the_controller_in_its_image() {
    let (node, _turn) = Node::alone();
    let (release, _demo) =
        serving(node, &["--set", "controller.pprof.enabled=true,controller.replicaCount=1"]);
    let pod = format!("pod/{}", release.pods()[0]);
    let address = release.space.value(&pod, "{.status.podIP}").unwrap();
    let top = |page: &str| {
        let url = format!("http://{address}:6060/debug/pprof/{page}");
        let program = ["GOTOOLCHAIN=local", "PPROF_TMPDIR=/tmp/outrigger-pprof", "go", "tool", "pprof"];
        node.run("env", &[&program[..], &["-top", "-cum", "-nodecount=500", &url]].concat(), "")
    };
    let heap = until("the heap profile", DEADLINE, || top("heap"));
    assert!(heap.contains("Type: inuse_space") && heap.contains("outrigger::"), "{heap}");
    // Somebody has to be at work while it is watched.
    release.space.kubectl(&["annotate", "configmap", "outrigger", "touched=1"]);
    let cpu = top("profile?seconds=2").unwrap();
    assert!(cpu.contains("Type: cpu"), "{cpu}");
}
