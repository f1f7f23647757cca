//! The chart of this checkout, installed on the node.

use std::net::SocketAddr;

use super::load::{Load, Plan};
use super::node::NODE_IP;
use super::{DEADLINE, Node, Security, Space, get, until};

const CHART: &str = "charts/outrigger";
/// Label of the pods with HAProxy and the controller.
pub(crate) const CONTROLLERS: &str =
    "app.kubernetes.io/instance=outrigger,app.kubernetes.io/component=controller";

/// A release `outrigger` in a namespace `outrigger` that enforces Pod Security "restricted". One at a time: take [`Node::alone`].
pub(crate) struct Release {
    node: &'static Node,
    pub(crate) space: Space,
    workload: &'static str,
}

impl Release {
    /// `helm install`, with these arguments further to the command of the README.
    pub(crate) fn install(node: &'static Node, further: &[&str]) -> Self {
        Self::install_in(node, Security::Restricted, "deployment/outrigger", further)
    }

    /// The same where Pod Security enforces this, and the values make such a workload.
    pub(crate) fn install_in(
        node: &'static Node,
        security: Security,
        workload: &'static str,
        further: &[&str],
    ) -> Self {
        let space = Space::named(node, "outrigger", security);
        let release = Self { node, space, workload };
        // Without --wait: that would also wait for the address of a load balancer, which nobody gives here.
        release.helm(&["install", "outrigger", CHART], further);
        release.space.rolled_out(workload);
        release
    }

    /// `helm upgrade` with these further values; comes back when all pods are those of the new revision.
    pub(crate) fn upgrade(&self, further: &[&str]) {
        self.helm(&["upgrade", "outrigger", CHART, "--reuse-values", "--wait", "--timeout=5m"], further);
        self.space.rolled_out(self.workload);
    }

    /// The same where `--wait` would wait for the address of a load balancer, which nobody gives here.
    pub(crate) fn upgrade_without_waiting(&self, further: &[&str]) {
        self.helm(&["upgrade", "outrigger", CHART, "--reuse-values"], further);
        self.space.rolled_out(self.workload);
    }

    /// `helm rollback` to the revision before.
    pub(crate) fn rollback(&self) {
        self.helm(&["rollback", "outrigger", "--wait", "--timeout=5m"], &[]);
        self.space.rolled_out(self.workload);
    }

    pub(crate) fn helm(&self, arguments: &[&str], further: &[&str]) -> String {
        self.try_helm(arguments, further).unwrap_or_else(|e| panic!("{e}"))
    }

    /// `helm` in the release's namespace, with what it says when it fails.
    pub(crate) fn try_helm(&self, arguments: &[&str], further: &[&str]) -> Result<String, String> {
        self.node.run("helm", &[arguments, &["--namespace", "outrigger"], further].concat(), "")
    }

    /// Names of the pods with HAProxy that do not end already.
    pub(crate) fn pods(&self) -> Vec<String> {
        self.space.pods(CONTROLLERS).unwrap()
    }

    /// Where the node serves clear text.
    pub(crate) fn http(&self) -> SocketAddr {
        let path = "{.spec.ports[?(@.name==\"http\")].nodePort}";
        SocketAddr::from((NODE_IP, self.space.value("service/outrigger", path).unwrap().parse().unwrap()))
    }

    /// Waits for 200 from this host, through the Service.
    pub(crate) fn answers(&self, host: &str) {
        self.answers_at(self.http(), host);
    }

    /// Waits for 200 from this host at this address.
    pub(crate) fn answers_at(&self, address: SocketAddr, host: &str) {
        until(&format!("http://{host}/"), DEADLINE, || match get(self.node, address, host, "/") {
            Ok(answer) if answer.status == 200 => Ok(()),
            other => Err(format!("{other:?}")),
        });
    }

    /// Constant load on [`application`] through the Service.
    pub(crate) fn load(&self) -> Load {
        let host = "outrigger.test".to_owned();
        Load::start(self.node, Plan { target: self.http(), host, path: "/".to_owned(), per_second: 50 })
    }

    /// What every controller of the release says it did.
    pub(crate) fn controllers_log(&self) -> String {
        self.space.kubectl(&["logs", "-l", CONTROLLERS, "-c", "controller", "--tail=-1", "--prefix"])
    }

    /// What every HAProxy of the release says.
    pub(crate) fn haproxys_log(&self) -> String {
        self.space.kubectl(&["logs", "-l", CONTROLLERS, "-c", "haproxy", "--tail=-1"])
    }

    /// Reloads that any controller asked for so far.
    pub(crate) fn reloads(&self) -> usize {
        self.controllers_log().matches("reloading haproxy because").count()
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        // Cluster-wide objects go with it. When the test failed, the namespace tells first what its pods are up to.
        if std::thread::panicking() {
            for kind in ["clusterrole", "clusterrolebinding", "ingressclass"] {
                let _ = self.node.run("kubectl", &["delete", kind, "outrigger", "--ignore-not-found"], "");
            }
        } else {
            let _ = self.node.run("helm", &["uninstall", "outrigger", "--namespace", "outrigger"], "");
        }
    }
}

/// A release with these further arguments, and the application of [`application`], which answers.
pub(crate) fn serving(node: &'static Node, further: &[&str]) -> (Release, Space) {
    let release = Release::install(node, further);
    let demo = application(node);
    release.answers("outrigger.test");
    (release, demo)
}

/// The echo application behind `outrigger.test`, in a namespace of its own.
pub(crate) fn application(node: &'static Node) -> Space {
    let space = Space::new(node, "demo", Security::Restricted);
    space.apply(&include_str!("../manifests/echo.yaml").replace("CLASS", "outrigger"));
    space.rolled_out("deployment/echo");
    space
}
