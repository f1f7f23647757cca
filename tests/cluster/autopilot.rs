//! GKE Autopilot's published restrictions as an admission policy of the node: the chart passes, and what must not pass does not.

use crate::support::release::serving;
use crate::support::{DEADLINE, Node, Security, Space, until};

const POLICY: &str = include_str!("manifests/autopilot.yaml");

/// A pod that breaks one rule: further fields of its spec and of its only container.
fn pod(spec: &str, container: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: bad}}\nspec: {{{spec} containers: [{{name: a, image: localhost/echo:test {container}}}]}}\n"
    )
}

/// What breaks each rule, and the words of the refusal.
fn broken() -> Vec<(String, &'static str)> {
    let host_path = |path: &str, read_only: bool| {
        pod(
            &format!("volumes: [{{name: v, hostPath: {{path: {path}}}}}],"),
            &format!(", volumeMounts: [{{name: v, mountPath: /v, readOnly: {read_only}}}]"),
        )
    };
    vec![
        (pod("hostNetwork: true,", ""), "hostnamespaces"),
        (pod("hostPID: true,", ""), "hostnamespaces"),
        (pod("", ", securityContext: {privileged: true}"), "disallow-privilege"),
        (pod("", ", ports: [{containerPort: 80, hostPort: 80}]"), "no-host-port"),
        (host_path("/etc", true), "hostpath"),
        (host_path("/var/log/pods", false), "hostpath"),
        (pod("", ", securityContext: {capabilities: {add: [NET_ADMIN]}}"), "linux-capabilities"),
        (pod("securityContext: {sysctls: [{name: net.core.somaxconn, value: '9'}]},", ""), "sysctls"),
    ]
}

/// The policy, until the end of the test.
struct Policy(&'static Node);

impl Policy {
    fn start(node: &'static Node) -> Self {
        node.apply(POLICY);
        let policy = Self(node);
        // The API server takes a while to see its own policy.
        let space = Space::new(node, "policy", Security::Privileged);
        for (manifest, words) in broken() {
            until(&format!("a refusal because of {words}"), DEADLINE, || match space.try_check(&manifest) {
                Err(refusal) if refusal.contains(words) => Ok(()),
                other => Err(format!("{other:?}")),
            });
        }
        let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {externalIPs: [192.0.2.1], ports: [{port: 80}]}\n";
        until("a refusal of external addresses", DEADLINE, || match space.try_check(service) {
            Err(refusal) if refusal.contains("ExternalIPs") => Ok(()),
            other => Err(format!("{other:?}")),
        });
        policy
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        for kind in ["validatingadmissionpolicybinding", "validatingadmissionpolicy"] {
            let _ = self.0.run("kubectl", &["delete", kind, "autopilot", "autopilot-cluster"], "");
        }
    }
}

#[test]
fn the_chart_with_no_option_and_with_the_values_for_autopilot_runs_under_its_policy() {
    let (node, _turn) = Node::alone();
    let _policy = Policy::start(node);
    let (release, _demo) = serving(node, &[]);
    let values = "charts/outrigger/ci/gke-autopilot-values.yaml";
    // The load balancer has nodes of its own there; here the node port is asked.
    release.upgrade_without_waiting(&[
        "--values",
        values,
        "--set",
        "controller.service.externalTrafficPolicy=Cluster",
    ]);
    release.answers("outrigger.test");
    let refused = release.try_helm(
        &["upgrade", "outrigger", "charts/outrigger", "--reuse-values"],
        &["--values", "charts/outrigger/ci/daemonset-hostnetwork-values.yaml"],
    );
    assert!(
        refused.as_ref().is_err_and(|why| why.contains("autogke-disallow-hostnamespaces")),
        "{refused:?}"
    );
}
