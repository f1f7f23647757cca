//! Does what a README says, command by command, on a real Outrigger with a real HAProxy.
//!
//! There is no cluster: `kubectl apply` writes manifests that the controller reads, `kubectl create` is the real program with
//! `--dry-run=client`, and `helm` leaves flags and a ConfigMap. Everything else is run as it stands.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use tokio::process::Command;

use super::pods::Pods;
use super::readme::{Step, folder, is_printed, read, root, steps};
use super::values::{Values, named_by};
use crate::cluster::apiserver::program;
use crate::support::{Bed, Branch, free_port, until};

/// An example that is being tried.
pub(super) struct Walk {
    pub(super) bed: Bed,
    /// HAProxy's worker before anything was applied.
    pub(super) first_worker: u32,
    variables: BTreeMap<String, String>,
    /// Ports that manifests name, and those that are free here.
    ports: BTreeMap<String, u16>,
    applied: usize,
    objects: Vec<Value>,
    pods: Pods,
}

impl Walk {
    /// Follows the README of an example to its end.
    pub(super) async fn through(branch: Branch, example: &str) -> Self {
        let steps = steps(example);
        let mut walk = Self::start(branch, &steps).await;
        if steps.iter().all(|step| !step.command.starts_with("kubectl apply -f examples/quickstart")) {
            walk.apply("examples/quickstart").await;
        }
        for step in &steps {
            walk.step(step).await;
        }
        walk
    }

    async fn start(branch: Branch, steps: &[Step]) -> Self {
        let mut flags =
            vec!["--configmap=outrigger/outrigger".to_owned(), "--reload-interval=10ms".to_owned()];
        for step in steps.iter().filter(|step| step.command.starts_with("helm ")) {
            flags.extend(Values::load(named_by(&step.command).unwrap()).flags);
        }
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let bed = Bed::start(branch, &flags).await;
        let ports: BTreeMap<String, u16> =
            ["6379", "6380"].map(|port| (port.to_owned(), free_port())).into_iter().collect();
        let variables = [
            ("HTTP", bed.ports.http),
            ("HTTPS", bed.ports.https),
            ("REDIS", ports["6379"]),
            ("REDIS_TLS", ports["6380"]),
        ];
        let mut variables: BTreeMap<String, String> = variables
            .into_iter()
            .map(|(name, port)| (name.to_owned(), format!("127.0.0.1:{port}")))
            .collect();
        variables.insert("TMPDIR".to_owned(), bed.path("").display().to_string());
        // kubectl is built together with the API server.
        let kubectl = program("kubectl");
        let search = format!("{}:{}", kubectl.parent().unwrap().display(), std::env::var("PATH").unwrap());
        variables.insert("PATH".to_owned(), search);
        let first_worker = bed.worker().await;
        Self { bed, first_worker, variables, ports, applied: 0, objects: Vec::new(), pods: Pods::default() }
    }

    async fn step(&mut self, step: &Step) {
        let command = step.command.as_str();
        if let Some((name, value)) = command.strip_prefix("export ").and_then(|rest| rest.split_once('=')) {
            let value = self.succeeds(&format!("printf %s {value}")).await;
            self.variables.insert(name.to_owned(), value);
        } else if let Some(path) = command.strip_prefix("kubectl apply -f ") {
            self.apply(path.trim()).await;
        } else if command.starts_with("helm ") {
            let values = Values::load(named_by(command).unwrap());
            self.put(&values.config_map()).await;
        } else if command.starts_with("kubectl") && command.contains(" create ") {
            let create = command.trim_end_matches("--dry-run=client -o yaml | kubectl apply -f -");
            let manifest = self.succeeds(&format!("{create} --dry-run=client -o yaml")).await;
            self.put(&manifest).await;
        } else if command.starts_with("kubectl") && command.contains(" rollout status ") {
            // The pods of this cluster run when they are applied.
        } else if command.starts_with("kubectl") {
            panic!("nobody plays `{command}`");
        } else if step.prints.is_empty() {
            self.succeeds(command).await;
        } else {
            self.prints(command, &step.prints).await;
        }
    }

    /// The manifests of a folder, those of its subfolders excluded, as kubectl does without `-R`.
    pub(super) async fn apply(&mut self, path: &str) {
        let path = root().join(path);
        assert!(path.starts_with(folder()) && path.is_dir(), "{} is no example", path.display());
        let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> =
            entries.filter(|file| file.extension().is_some_and(|e| e == "yaml")).collect();
        files.sort();
        let text: String = files.iter().map(|file| format!("{}\n---\n", read(file))).collect();
        self.put(&text).await;
    }

    /// Objects come, or take the place of those with their names.
    async fn put(&mut self, text: &str) {
        let mut text = text.to_owned();
        for (port, free) in &self.ports {
            text = text.replace(&format!("\"{port}\":"), &format!("\"{free}\":"));
        }
        for document in text.split("\n---\n").filter(|document| !document.trim().is_empty()) {
            let object: Value = serde_saphyr::from_str(document).unwrap();
            let id = |object: &Value| {
                let metadata = &object["metadata"];
                [&object["kind"], &metadata["namespace"], &metadata["name"]].map(Value::to_string)
            };
            let namespace = object["metadata"]["namespace"].as_str();
            assert!(
                object["kind"] == "Namespace" || namespace == Some("demo") || namespace == Some("outrigger"),
                "examples live in `demo`, settings in `outrigger`: {object}"
            );
            self.objects.retain(|other| id(other) != id(&object));
            self.objects.push(object);
        }
        self.pods.follow(&self.objects, &self.bed.path("pods")).await;
        self.bed.put("endpoints.yaml", &self.pods.endpoint_slices(&self.objects));
        self.applied += 1;
        self.bed.put(&format!("objects-{:03}.yaml", self.applied), &text);
    }

    async fn run(&self, command: &str) -> (bool, String) {
        let output = Command::new("timeout")
            .args(["20", "bash", "-o", "pipefail", "-c", command])
            .current_dir(root())
            .envs(&self.variables)
            .env("no_proxy", "*")
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        if !output.stderr.is_empty() {
            eprintln!("{command}\n{}", text(&output.stderr));
        }
        (output.status.success(), text(&output.stdout))
    }

    async fn succeeds(&self, command: &str) -> String {
        let (is_success, printed) = self.run(command).await;
        assert!(is_success, "`{command}` failed: {printed}");
        printed
    }

    /// A user would type it again until HAProxy has heard of what was applied; so do we.
    pub(super) async fn prints(&self, command: &str, promised: &[String]) {
        until(&format!("`{command}` to print {promised:?}"), || async {
            let (_, printed) = self.run(command).await;
            if is_printed(promised, &printed) {
                Ok(())
            } else {
                Err(format!("{printed}\n{}", self.bed.log_tail()))
            }
        })
        .await;
    }

    /// Nothing else was wrong with the objects.
    pub(super) fn expect_problems(&self, expected: &[&str]) {
        let log = self.bed.log();
        let code = |line: &str| Some(line.rsplit_once("]; hint: ")?.0.rsplit_once('[')?.1.to_owned());
        let unexpected: Vec<&str> = log
            .lines()
            .filter(|line| code(line).is_some_and(|code| !expected.contains(&code.as_str())))
            .collect();
        assert!(unexpected.is_empty(), "{unexpected:#?}");
    }
}
