//! Runs Helm on the chart, and finds things in what it renders.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The release and its namespace, as the documentation installs it.
pub(crate) const RELEASE: &str = "outrigger";

/// Objects, in the order in which they were rendered.
#[derive(Debug)]
pub(crate) struct Objects(pub(crate) Vec<Value>);

pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A program of the cache; missing is a failure.
pub(crate) fn helm() -> Command {
    let from = |key| std::env::var_os(key).map(PathBuf::from);
    let cache = from("OUTRIGGER_CACHE").unwrap_or_else(|| from("HOME").unwrap().join(".cache/outrigger"));
    let program = cache.join("tools/bin/helm");
    assert!(program.exists(), "{} is missing; scripts/parts/helm.sh builds it", program.display());
    Command::new(program)
}

/// All values files that lie beside the chart.
pub(crate) fn values_files() -> Vec<PathBuf> {
    let folder = repository("charts/outrigger/ci");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    files
}

/// A values file by the first part of its name.
pub(crate) fn values_file(name: &str) -> String {
    let file = repository(&format!("charts/outrigger/ci/{name}-values.yaml"));
    assert!(file.exists(), "{}", file.display());
    format!("--values={}", file.display())
}

/// `helm template` with more flags.
pub(crate) fn template(flags: &[&str]) -> Output {
    helm()
        .args(["template", RELEASE, "--namespace", RELEASE])
        .arg(repository("charts/outrigger"))
        .args(flags)
        .output()
        .unwrap()
}

/// What the chart renders with these flags.
pub(crate) fn render(flags: &[&str]) -> Objects {
    let output = template(flags);
    assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    Objects::parse(&String::from_utf8(output.stdout).unwrap())
}

/// What the chart says when it renders nothing with these flags.
pub(crate) fn refusal(flags: &[&str]) -> String {
    let output = template(flags);
    assert!(!output.status.success(), "{flags:?} renders");
    String::from_utf8(output.stderr).unwrap()
}

impl Objects {
    pub(crate) fn parse(yaml: &str) -> Self {
        let all: Vec<Value> = serde_saphyr::from_multiple(yaml).unwrap();
        Self(all.into_iter().filter(|object| !object.is_null()).collect())
    }

    /// The only object of this kind and name.
    pub(crate) fn get(&self, kind: &str, name: &str) -> &Value {
        let found: Vec<_> = self.of(kind).filter(|object| object["metadata"]["name"] == name).collect();
        assert_eq!(found.len(), 1, "{kind} {name} in {:?}", self.names());
        found[0]
    }

    /// All of a kind.
    pub(crate) fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |object| object["kind"] == kind)
    }

    /// The pod template of the controller.
    pub(crate) fn pod(&self) -> &Value {
        let workload = self.0.iter().find(|object| {
            ["Deployment", "DaemonSet"].iter().any(|kind| object["kind"] == *kind)
                && object["metadata"]["labels"]["app.kubernetes.io/component"] == "controller"
        });
        &workload.unwrap()["spec"]["template"]
    }

    /// A container of the controller's pod.
    pub(crate) fn container(&self, name: &str) -> &Value {
        let spec = &self.pod()["spec"];
        let mut all = array(&spec["containers"]).iter().chain(array(&spec["initContainers"]));
        all.find(|container| container["name"] == name).unwrap()
    }

    /// Kind and name of each.
    pub(crate) fn names(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.0.iter().map(|o| format!("{} {}", text(&o["kind"]), text(&o["metadata"]["name"]))).collect()
    }
}

/// The items of a list; none when it is not there.
pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The items of a list of texts.
pub(crate) fn texts(value: &Value) -> Vec<&str> {
    array(value).iter().map(|item| item.as_str().unwrap()).collect()
}
