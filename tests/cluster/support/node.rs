//! The node: brought up by the first test that asks, ended when this process has.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use serde_json::Value;

use super::process::{command, output};

/// A running Kubernetes of one node.
pub(crate) struct Node {
    lab: PathBuf,
    netns: PathBuf,
}

/// A node that other tests use as well.
pub(crate) type Shared = (&'static Node, RwLockReadGuard<'static, ()>);
/// A node that no other test uses meanwhile.
pub(crate) type Alone = (&'static Node, RwLockWriteGuard<'static, ()>);

/// Address of the node, where node ports and the API server are.
pub(crate) const NODE_IP: std::net::Ipv4Addr = std::net::Ipv4Addr::new(10, 201, 0, 1);

static TURN: RwLock<()> = RwLock::new(());

impl Node {
    /// The node, together with other tests. Keep the guard until the end of the test.
    pub(crate) fn shared() -> Shared {
        // A test that failed says nothing about the next one.
        (Self::get(), TURN.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The node without other tests. Keep the guard until the end of the test.
    pub(crate) fn alone() -> Alone {
        (Self::get(), TURN.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn get() -> &'static Self {
        static NODE: OnceLock<Result<Node, String>> = OnceLock::new();
        // Not a panic inside: the others would only say that the cell is poisoned.
        NODE.get_or_init(Self::start).as_ref().unwrap_or_else(|e| panic!("no node: {e}"))
    }

    fn start() -> Result<Self, String> {
        // Short: sockets lie below, and their paths may have 107 bytes (Linux, unix(7)).
        let lab = std::env::temp_dir().join(format!("outrigger-node-{}", std::process::id()));
        forget_ended();
        let start = Instant::now();
        // By its owner's id the node ends when this process does, even by SIGKILL or a panic while panicking.
        output(
            command("scripts/cluster/node-up.sh")
                .env("LAB", &lab)
                .env("OWNER", std::process::id().to_string()),
            "",
        )?;
        eprintln!(
            "the node is up after {:.1} s; its logs are in {}/log",
            start.elapsed().as_secs_f32(),
            lab.display()
        );
        let name = fs::read_to_string(lab.join("netns")).map_err(|e| format!("{}: {e}", lab.display()))?;
        Ok(Self { netns: Path::new("/run/netns").join(name.trim()), lab })
    }

    /// Its network namespace, open.
    pub(crate) fn network(&self) -> File {
        File::open(&self.netns).unwrap_or_else(|e| panic!("{}: {e}", self.netns.display()))
    }

    /// The administrator's kubeconfig.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.lab.join("kubeconfig")
    }

    /// What the API server was asked: one JSON object a line, level `Metadata`.
    pub(crate) fn audit_log(&self) -> PathBuf {
        self.lab.join("audit.log")
    }

    /// The images that the node has: archive and names of each.
    pub(crate) fn images(&self) -> Vec<(PathBuf, Vec<String>)> {
        let list = fs::read_to_string(self.lab.join("images")).unwrap();
        let image = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            (PathBuf::from(words.next().unwrap()), words.filter(|word| !word.is_empty()).collect())
        };
        list.lines().map(image).collect()
    }

    /// Runs a program in the network of the node, with `KUBECONFIG` set.
    pub(crate) fn run(&self, program: &str, arguments: &[&str], input: &str) -> Result<String, String> {
        let network = format!("--net={}", self.netns.display());
        let mut command = command("nsenter");
        command.arg(network).arg(program).args(arguments).env("KUBECONFIG", self.kubeconfig());
        output(&mut command, input)
    }

    /// `kubectl` that must succeed.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        self.run("kubectl", arguments, "").unwrap_or_else(|e| panic!("{e}"))
    }

    /// `kubectl apply` of these manifests.
    pub(crate) fn apply(&self, manifests: &str) -> String {
        self.run("kubectl", &["apply", "-f", "-"], manifests).unwrap_or_else(|e| panic!("{e}"))
    }

    /// `kubectl get` of these, as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Result<Value, String> {
        let text = self.run("kubectl", &[&["get", "-o", "json"], arguments].concat(), "")?;
        serde_json::from_str(&text).map_err(|e| format!("kubectl get {arguments:?}: {e}"))
    }

    /// Takes the API server away, until the guard is dropped.
    pub(crate) fn without_api_server(&self) -> ApiServerStopped<'_> {
        fs::write(self.lab.join("apiserver.stop"), "").unwrap();
        let stopped = ApiServerStopped(self);
        super::until("the API server to end", super::DEADLINE, || {
            match self.run("kubectl", &["get", "--raw", "/readyz", "--request-timeout=2s"], "") {
                Ok(_) => Err("it still answers".to_owned()),
                Err(_) => Ok(()),
            }
        });
        stopped
    }
}

/// Removes what nodes of processes that have ended left behind: their logs.
fn forget_ended() {
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix("outrigger-node-"));
        // A folder that still has a node is that of a keeper at work.
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists())
            && !entry.path().join("node.pid").exists()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// While this lives, the API server does not.
pub(crate) struct ApiServerStopped<'a>(&'a Node);

impl Drop for ApiServerStopped<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0.lab.join("apiserver.stop"));
        let start = Instant::now();
        // No panic in a drop: what comes next would fail by itself.
        while self.0.run("kubectl", &["get", "--raw", "/readyz", "--request-timeout=2s"], "").is_err() {
            if start.elapsed() > super::DEADLINE {
                eprintln!("the API server does not come back");
                return;
            }
        }
    }
}
