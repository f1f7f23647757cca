//! A Kubernetes namespace of one test.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::{DEADLINE, Node, until};

/// What Pod Security admission enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Security {
    Restricted,
    Baseline,
    Privileged,
}

/// A namespace, deleted at the end of the test. When the test fails, it says first what its pods are up to.
pub(crate) struct Space {
    node: &'static Node,
    pub(crate) name: String,
}

impl Space {
    /// A new one; its name starts with this.
    pub(crate) fn new(node: &'static Node, prefix: &str, security: Security) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{prefix}-{}", NEXT.fetch_add(1, Ordering::SeqCst));
        let space = Self { node, name };
        space.create(security);
        space
    }

    /// One of exactly this name, as a chart or an example wants it. Only for tests that have the node alone, or own the name.
    pub(crate) fn named(node: &'static Node, name: &str, security: Security) -> Self {
        let space = Self { node, name: name.to_owned() };
        // A test before this one may have had it.
        until("the namespace of an earlier test to go", DEADLINE, || {
            match node.run("kubectl", &["get", "namespace", name, "--ignore-not-found", "-o", "name"], "") {
                Ok(found) if found.is_empty() => Ok(()),
                other => Err(format!("{other:?}")),
            }
        });
        space.create(security);
        space
    }

    fn create(&self, security: Security) {
        let level = match security {
            Security::Restricted => "restricted",
            Security::Baseline => "baseline",
            Security::Privileged => "privileged",
        };
        self.node.apply(&format!(
            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {}\n  labels:\n    \
             pod-security.kubernetes.io/enforce: {level}\n    pod-security.kubernetes.io/enforce-version: latest\n",
            self.name
        ));
        // Pods are refused until the controller has made it.
        until("the default service account", DEADLINE, || {
            self.try_kubectl(&["get", "serviceaccount", "default"]).map(|_| ())
        });
    }

    /// `kubectl` in this namespace that must succeed.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        self.try_kubectl(arguments).unwrap_or_else(|e| panic!("{e}"))
    }

    /// `kubectl` in this namespace, with what it says when it fails.
    pub(crate) fn try_kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        self.node.run("kubectl", &[&["--namespace", &self.name], arguments].concat(), "")
    }

    /// `kubectl apply` of manifests that name no namespace.
    pub(crate) fn apply(&self, manifests: &str) {
        self.try_apply(manifests).unwrap_or_else(|e| panic!("{e}"));
    }

    /// The same, with what the API server says when it refuses them.
    pub(crate) fn try_apply(&self, manifests: &str) -> Result<String, String> {
        self.node.run("kubectl", &["--namespace", &self.name, "apply", "-f", "-"], manifests)
    }

    /// Whether the API server would take these manifests, with what it says when it refuses them.
    pub(crate) fn try_check(&self, manifests: &str) -> Result<String, String> {
        let arguments = ["--namespace", &self.name, "apply", "--dry-run=server", "-f", "-"];
        self.node.run("kubectl", &arguments, manifests)
    }

    /// `kubectl get` of these in this namespace, as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        self.node.json(&[&["--namespace", &self.name], arguments].concat())
    }

    /// A value that `kubectl get -o jsonpath=` shows; empty when there is none.
    pub(crate) fn value(&self, object: &str, path: &str) -> Result<String, String> {
        self.try_kubectl(&["get", object, "-o", &format!("jsonpath={path}")])
    }

    /// Waits for `kubectl rollout status` of a Deployment, DaemonSet or StatefulSet.
    pub(crate) fn rolled_out(&self, object: &str) {
        let timeout = format!("--timeout={}s", DEADLINE.as_secs());
        self.kubectl(&["rollout", "status", object, &timeout]);
    }

    /// Waits until all pods with this label are ready, and there is one at least.
    pub(crate) fn ready(&self, label: &str) {
        until("the pods to be there", DEADLINE, || match self.pods(label)?.as_slice() {
            [] => Err(format!("no pod with {label}")),
            [..] => Ok(()),
        });
        let timeout = format!("--timeout={}s", DEADLINE.as_secs());
        self.kubectl(&["wait", "--for=condition=Ready", "pod", "-l", label, &timeout]);
    }

    /// Names of the pods with this label that do not end already.
    pub(crate) fn pods(&self, label: &str) -> Result<Vec<String>, String> {
        let pods = self.json(&["pods", "-l", label])?;
        let alive = |pod: &&Value| pod["metadata"]["deletionTimestamp"].is_null();
        let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap_or("").to_owned();
        Ok(pods["items"].as_array().into_iter().flatten().filter(alive).map(name).collect())
    }

    /// Waits until this pod has ended, and gives its exit code and what it wrote.
    pub(crate) fn finished(&self, pod: &str, deadline: Duration) -> (i64, String) {
        let code = until(&format!("pod {pod} to end"), deadline, || {
            let pod = self.json(&["pod", pod])?;
            let state = &pod["status"]["containerStatuses"][0]["state"];
            state["terminated"]["exitCode"].as_i64().ok_or_else(|| pod["status"].to_string())
        });
        (code, self.kubectl(&["logs", pod]))
    }

    fn explain(&self) {
        eprintln!("--- namespace {} when the test failed", self.name);
        let show = |arguments: &[&str]| match self.try_kubectl(arguments) {
            Ok(text) | Err(text) => eprintln!("{text}"),
        };
        show(&["get", "all,ingresses", "-o", "wide"]);
        show(&["get", "events", "--sort-by=.lastTimestamp"]);
        let Ok(pods) = self.try_kubectl(&["get", "pods", "-o", "name"]) else { return };
        for pod in pods.lines() {
            show(&["logs", pod, "--all-containers", "--prefix", "--tail=40"]);
        }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.explain();
        }
        let _ = self.node.run("kubectl", &["delete", "namespace", &self.name, "--wait=false"], "");
        // Nobody is served any more: the waits of `preStop` would only hold up the next test.
        let _ = self.try_kubectl(&["delete", "pods", "--all", "--grace-period=0", "--force", "--wait=false"]);
    }
}
