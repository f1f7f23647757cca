//! The three containers in one pod, under Pod Security "restricted".

use crate::support::node::NODE_IP;
use crate::support::{DEADLINE, Node, Security, Space, get, until};

#[test]
fn three_users_share_one_pod() {
    let (node, _turn) = Node::shared();
    let space = Space::named(node, "bare", Security::Restricted);
    let of_bare = |manifests: &str| manifests.replace("CLASS", "bare");
    space.apply(&of_bare(include_str!("manifests/echo.yaml")));
    space.apply(&of_bare(include_str!("manifests/outrigger.yaml")));
    space.rolled_out("deployment/outrigger");
    space.rolled_out("deployment/echo");

    let port = space.value("service/outrigger", "{.spec.ports[0].nodePort}").unwrap().parse().unwrap();
    let answer =
        until("the Ingress to answer", DEADLINE, || match get(node, (NODE_IP, port), "bare.test", "/x") {
            Ok(answer) if answer.status == 200 => Ok(answer),
            other => Err(format!("{other:?}")),
        });
    assert!(space.pods("app=echo").unwrap().contains(&answer.pod().to_owned()), "{answer:?}");
    assert_eq!(get(node, (NODE_IP, port), "other.test", "/").unwrap().status, 404);

    // Ready at the first try, and nothing had to start twice.
    let restarts = space
        .value("pods", "{.items[*].status.containerStatuses[*].restartCount}{.items[*].status.initContainerStatuses[*].restartCount}")
        .unwrap();
    assert!(restarts.chars().all(|c| c == '0' || c == ' '), "restarts: {restarts}");
    let modes = space.kubectl(&[
        "exec",
        "deployment/outrigger",
        "-c",
        "haproxy",
        "--",
        "ls",
        "-ln",
        "/etc/haproxy",
        "/var/lib/haproxy/certs",
        "/var/run/haproxy",
    ]);
    for line in modes.lines().filter(|line| line.contains(".cfg") || line.contains(".pem")) {
        assert!(line.starts_with("-rw-r-----") && line.contains(" 1000 1000 "), "{modes}");
    }
    let socket =
        modes.lines().find(|line| line.ends_with("master.sock")).unwrap_or_else(|| panic!("{modes}"));
    assert!(socket.starts_with("srw-rw----") && socket.contains(" 99 1000 "), "{modes}");
    for name in ["clusterrole", "clusterrolebinding", "ingressclass"] {
        node.kubectl(&["delete", name, "bare"]);
    }
}
