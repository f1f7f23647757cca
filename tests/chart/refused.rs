//! Values that cannot work are refused with the reason and what to do.

use super::helm::{refusal, values_file};

#[test]
fn an_embedded_haproxy_is_explained() {
    let said = refusal(&["--set", "controller.haproxy.enabled=false"]);
    for part in ["There is none", "container beside it", "controller.haproxy.image.repository"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn combinations_that_cannot_work_say_why() {
    for (flags, expected) in [
        ("controller.terminationGracePeriodSeconds=15", "has to be longer than controller.preStopSeconds"),
        ("controller.haproxy.preStopSeconds=60", "has to be longer than controller.preStopSeconds"),
        ("controller.hostNetwork=true,controller.hostPorts.http=80", "on the node's network already"),
        ("controller.kind=DaemonSet,controller.autoscaling.enabled=true", "one pod for each node"),
        ("controller.autoscaling.enabled=true,controller.autoscaling.minReplicas=11", "above maxReplicas"),
        (
            "controller.podDisruptionBudget.minAvailable=1,controller.podDisruptionBudget.maxUnavailable=1",
            "not both",
        ),
        ("controller.scope.namespaces={shop}", "in namespaced mode only"),
        ("controller.scope.namespaced=true,controller.publishService=false", "addresses of the nodes"),
        ("controller.extraArgs={--external}", "its image holds none"),
        ("controller.config.http-port=http", "no port between 1 and 65535"),
        ("controller.config.https-port=65536", "no port between 1 and 65535"),
    ] {
        let said = refusal(&["--set", flags]);
        assert!(said.contains(expected), "{flags}: {said}");
    }
    let said = refusal(&["--set", "controller.hostNetwork=true", &values_file("ports-sysctl")]);
    assert!(said.contains("exclude each other"), "{said}");
    let said = refusal(&["--kube-version", "1.29.9"]);
    assert!(said.contains("v1.29.9 is too old"), "{said}");
}
