//! The release binary in external mode, and what the kernel and HAProxy say about it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that cannot go on ends")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use outrigger::haproxy::{Master, Processes};

/// A running controller with its HAProxy; dropping it stops both.
pub(crate) struct Controller {
    folder: tempfile::TempDir,
    /// A shell that ends the controller when our end of its pipe closes, however that happens.
    shell: Child,
    pid: u32,
    master: Master,
}

impl Controller {
    /// Starts it; waits for nothing.
    pub(crate) fn start(kubeconfig: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("outrigger-bench-").tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let log = File::create(path("log")).unwrap();
        let script =
            r#"exec 3>&1; trap '' INT; "$@" </dev/null >&2 3>&- & echo $! >&3; read -r _; kill $!; wait $!"#;
        let mut shell = Command::new("sh")
            .args([
                "-c",
                script,
                "sh",
                env!("CARGO_BIN_EXE_outrigger"),
                "run",
                "--external",
                "--grace-period=1s",
            ])
            .arg("--program")
            .arg(haproxy())
            .arg("--config-dir")
            .arg(path("etc"))
            .arg("--state-dir")
            .arg(path("lib"))
            .arg("--runtime-dir")
            .arg(path("run"))
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .env_remove("RUST_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut pid = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut pid).unwrap();
        let master = Master::connect(path("run").join("master.sock"));
        Self { pid: pid.trim().parse().unwrap(), folder, shell, master }
    }

    /// What it and HAProxy logged last.
    pub(crate) fn log_tail(&self) -> String {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    pub(crate) async fn processes(&self) -> Processes {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        self.master.processes(deadline).await.unwrap_or_else(|error| panic!("{error}\n{}", self.log_tail()))
    }

    /// Reloads of HAProxy so far.
    pub(crate) async fn reloads(&self) -> u32 {
        self.processes().await.master.reloads
    }

    /// Waits until it has nothing to do: what follows is measured without the rest of what was before.
    pub(crate) async fn settle(&self) {
        const QUIET: Duration = Duration::from_millis(500);
        loop {
            let before = self.cpu();
            tokio::time::sleep(QUIET).await;
            // Its watchdog looks at HAProxy each second.
            if self.cpu() - before < 0.005 {
                return;
            }
        }
    }

    /// Resident memory now and at its highest, in MiB.
    pub(crate) fn memory(&self) -> (f64, f64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let mib = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
        };
        (mib("VmRSS:"), mib("VmHWM:"))
    }

    /// CPU time of all its threads so far, in seconds; HAProxy's is not in it.
    pub(crate) fn cpu(&self) -> f64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid)).unwrap();
        let spent = tasks.flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<f64>().ok()
        });
        spent.sum::<f64>() / 1e9
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        if let Some(folder) = std::env::var_os("OUTRIGGER_BENCH_KEEP") {
            let _ = fs::copy(
                self.folder.path().join("log"),
                Path::new(&folder).join(format!("{}.log", self.pid)),
            );
        }
        drop(self.shell.stdin.take());
        let _ended = self.shell.wait();
    }
}

/// HAProxy 3.2, where `make parts` has put it.
pub(crate) fn haproxy() -> PathBuf {
    let from = |key| std::env::var_os(key).map(PathBuf::from);
    let binaries = from("HAPROXY_BINARIES").unwrap_or_else(|| {
        let cache = from("OUTRIGGER_CACHE").unwrap_or_else(|| from("HOME").unwrap().join(".cache/outrigger"));
        cache.join("haproxy")
    });
    let program = binaries.join("3.2/haproxy");
    assert!(program.exists(), "{} is missing; `make bench` builds it", program.display());
    program
}
