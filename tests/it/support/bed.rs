//! A test bed: the real `outrigger` binary in external mode with a folder of manifests and a HAProxy of one branch.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::client::{self, Answer, Handshake};
use super::{Branch, free_port, until};

/// Ports of a bed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) http: u16,
    pub(crate) https: u16,
    pub(crate) stats: u16,
    pub(crate) healthz: u16,
    pub(crate) default_backend: u16,
    pub(crate) controller: u16,
}

impl Ports {
    pub(crate) fn choose() -> Self {
        Self {
            http: free_port(),
            https: free_port(),
            stats: free_port(),
            healthz: free_port(),
            default_backend: free_port(),
            controller: free_port(),
        }
    }

    pub(crate) fn flags(&self) -> Vec<String> {
        vec![
            format!("--http-bind-port={}", self.http),
            format!("--https-bind-port={}", self.https),
            format!("--stats-bind-port={}", self.stats),
            format!("--healthz-bind-port={}", self.healthz),
            format!("--default-backend-port={}", self.default_backend),
            format!("--controller-port={}", self.controller),
        ]
    }
}

/// A running controller with its HAProxy.
pub(crate) struct Bed {
    pub(crate) branch: Branch,
    pub(crate) ports: Ports,
    folder: tempfile::TempDir,
    flags: Vec<String>,
    controller: Mutex<Option<Child>>,
}

impl Bed {
    /// Starts with an empty folder of manifests, and waits until HAProxy is ready.
    pub(crate) async fn start(branch: Branch, flags: &[&str]) -> Self {
        Self::start_with(branch, flags, &[]).await
    }

    /// The same with these manifests (file name, text) already there.
    pub(crate) async fn start_with(branch: Branch, flags: &[&str], manifests: &[(&str, &str)]) -> Self {
        let bed = Self::prepare(branch, flags);
        for (name, text) in manifests {
            bed.put(name, text);
        }
        bed.start_controller();
        bed.until_ready().await;
        bed
    }

    /// Starts and does not wait.
    pub(crate) fn start_unready(branch: Branch, flags: &[&str]) -> Self {
        let bed = Self::prepare(branch, flags);
        bed.start_controller();
        bed
    }

    fn prepare(branch: Branch, flags: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("outrigger-it-").tempdir().unwrap();
        let ports = Ports::choose();
        std::fs::create_dir(folder.path().join("manifests")).unwrap();
        let flags = flags.iter().map(|f| (*f).to_owned()).collect();
        Self { branch, ports, folder, flags, controller: Mutex::new(None) }
    }

    /// Starts the controller (and with it HAProxy).
    pub(crate) fn start_controller(&self) {
        let program = self.branch.program();
        if self.overridden("--program") {
            self.spawn(&["--external"]);
        } else {
            self.spawn(&["--external", "--program", program.to_str().unwrap()]);
        }
    }

    /// Starts the controller for a HAProxy that runs already, as the other container of a pod does.
    pub(crate) fn start_sidecar(&self) {
        let socket = self.path("run/master.sock");
        self.spawn(&["--master-socket", socket.to_str().unwrap()]);
    }

    fn spawn(&self, mode: &[&str]) {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.log_file()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_outrigger"));
        command
            .args(["run", "--log-level=debug"])
            .args(mode)
            .args(["--config-dir", self.path("etc").to_str().unwrap()])
            .args(["--state-dir", self.path("lib").to_str().unwrap()])
            .args(["--runtime-dir", self.path("run").to_str().unwrap()])
            .args(self.ports.flags().iter().filter(|flag| !self.overridden(flag)))
            .args(&self.flags)
            .args(self.manifests())
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        *self.controller.lock().unwrap() = Some(command.spawn().unwrap());
    }

    /// The folder of manifests is the source, unless the test names a cluster.
    fn manifests(&self) -> Vec<PathBuf> {
        if self.flags.iter().any(|flag| flag.starts_with("--kubeconfig=")) {
            return Vec::new();
        }
        vec!["--manifests".into(), self.path("manifests")]
    }

    /// Whether a flag of the test's own replaces this `--name=value`.
    fn overridden(&self, flag: &str) -> bool {
        let name = flag.split('=').next();
        self.flags.iter().any(|own| own.split('=').next() == name)
    }

    /// Stops the controller in order (SIGTERM); HAProxy stops with it.
    pub(crate) async fn stop_controller(&self) {
        let Some(mut child) = self.controller.lock().unwrap().take() else { return };
        signal("TERM", child.id());
        let status = until("the controller to stop", || {
            let status = child.try_wait().unwrap();
            async move { status.ok_or_else(|| "still running".to_owned()) }
        })
        .await;
        assert!(status.success(), "the controller ended with {status}\n{}", self.log_tail());
    }

    /// Kills the controller (SIGKILL). HAProxy is a process of its own.
    pub(crate) fn kill_controller(&self) {
        if let Some(mut child) = self.controller.lock().unwrap().take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Waits until HAProxy says that it serves a proven configuration.
    pub(crate) async fn until_ready(&self) {
        until("HAProxy to be ready", || async {
            if let Some(status) = self.controller.lock().unwrap().as_mut().and_then(|c| c.try_wait().unwrap())
            {
                panic!("the controller ended with {status}\n{}", self.log_tail());
            }
            match client::get(self.address(self.ports.healthz), "x", "/readyz").await? {
                answer if answer.status == 200 => Ok(()),
                answer => Err(format!("{} {}", answer.status, answer.body)),
            }
        })
        .await;
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn log_file(&self) -> PathBuf {
        self.path("log")
    }

    /// What the controller and HAProxy logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    pub(crate) fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }

    /// Waits until the log has a line with all of these texts.
    pub(crate) async fn until_logged(&self, texts: &[&str]) -> String {
        until(&format!("a log line with {texts:?}"), || async {
            self.log()
                .lines()
                .find(|line| texts.iter().all(|text| line.contains(text)))
                .map(str::to_owned)
                .ok_or_else(|| self.log_tail())
        })
        .await
    }

    /// Waits until an update is under way, or a further one is finished.
    pub(crate) async fn until_started(&self) {
        let count = |log: &str, text: &str| log.matches(text).count();
        let before = count(&self.log(), "starting haproxy update");
        until("an update to start", || async {
            let log = self.log();
            let (started, finished) =
                (count(&log, "starting haproxy update"), count(&log, "finish haproxy update"));
            if started > finished || started > before { Ok(()) } else { Err(format!("{started}")) }
        })
        .await;
    }

    /// Waits until every update that was started is finished.
    pub(crate) async fn until_settled(&self) {
        until("the updates to finish", || async {
            let log = self.log();
            let count = |text: &str| log.matches(text).count();
            let (started, finished) = (count("starting haproxy update"), count("finish haproxy update"));
            if started == finished { Ok(()) } else { Err(format!("{finished} of {started}")) }
        })
        .await;
    }

    /// Writes a manifest by rename, as a careful user does.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let target = self.path("manifests").join(name);
        let temporary = self.path(&format!("{name}.tmp"));
        std::fs::write(&temporary, text).unwrap();
        std::fs::rename(temporary, target).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path("manifests").join(name)).unwrap();
    }

    pub(crate) fn address(&self, port: u16) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, port).into()
    }

    pub(crate) fn http(&self) -> SocketAddr {
        self.address(self.ports.http)
    }

    pub(crate) fn https(&self) -> SocketAddr {
        self.address(self.ports.https)
    }

    /// In 2.2 the worker from before a reload still accepts for a moment after the new one does (both listen on the port).
    /// Waits until it has gone; with requests under way it stays, and does not accept any more.
    pub(crate) async fn until_alone(&self) {
        if self.branch != Branch(2, 2) {
            return;
        }
        let end = Instant::now() + Duration::from_secs(1);
        while Instant::now() < end {
            let processes = self.master("show proc").unwrap_or_default();
            let old = processes.split("# old workers").nth(1).unwrap_or_default();
            if !old
                .lines()
                .skip(1)
                .take_while(|line| !line.starts_with('#'))
                .any(|line| line.contains("worker"))
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// `GET` in clear text.
    pub(crate) async fn get(&self, host: &str, path: &str) -> Answer {
        self.until_alone().await;
        client::get(self.http(), host, path)
            .await
            .unwrap_or_else(|e| panic!("{host}{path}: {e}\n{}", self.log_tail()))
    }

    /// `GET` over TLS.
    pub(crate) async fn get_tls(&self, host: &str, path: &str) -> (Answer, Handshake) {
        self.until_alone().await;
        client::get_tls(self.https(), host, path)
            .await
            .unwrap_or_else(|e| panic!("https://{host}{path}: {e}\n{}", self.log_tail()))
    }

    /// Waits until `GET` answers with this status.
    pub(crate) async fn until_status(&self, host: &str, path: &str, status: u16) -> Answer {
        until(&format!("{status} for {host}{path}"), || async {
            match client::get(self.http(), host, path).await? {
                answer if answer.status == status => Ok(answer),
                answer => Err(format!("{} {}", answer.status, answer.body)),
            }
        })
        .await
    }

    /// Waits until `GET` is answered by the echo server of this name.
    pub(crate) async fn until_name(&self, host: &str, path: &str, name: &str) -> Answer {
        until(&format!("{name} to answer {host}{path}"), || async {
            match client::get(self.http(), host, path).await? {
                answer if answer.status == 200 && answer.name() == name => Ok(answer),
                answer => Err(format!("{} {}", answer.status, answer.body)),
            }
        })
        .await
    }

    /// Waits until `GET` over TLS is answered by the echo server of this name.
    pub(crate) async fn until_tls_name(&self, host: &str, path: &str, name: &str) -> Answer {
        until(&format!("{name} to answer https://{host}{path}"), || async {
            match client::get_tls(self.https(), host, path).await? {
                (answer, _) if answer.status == 200 && answer.name() == name => Ok(answer),
                (answer, _) => Err(format!("{} {}", answer.status, answer.body)),
            }
        })
        .await
    }

    /// Waits until a handshake with this server name shows a certificate with this common name.
    pub(crate) async fn until_certificate(&self, server_name: &str, common_name: &str) -> Handshake {
        until(&format!("certificate {common_name} for {server_name}"), || async {
            let (_, handshake) =
                client::connect_tls(self.https(), Some(server_name), &client::Hello::default()).await?;
            if handshake.common_name == common_name { Ok(handshake) } else { Err(format!("{handshake:?}")) }
        })
        .await
    }

    /// One command on the master CLI, on a connection of its own.
    pub(crate) fn master(&self, command: &str) -> Result<String, String> {
        master(&self.path("run/master.sock"), command)
    }

    /// `(master pid, pid of the worker that serves, reloads of the master)`.
    pub(crate) async fn processes(&self) -> (u32, u32, u32) {
        until("show proc", || async { parse_processes(&self.master("show proc")?) }).await
    }

    /// Pid of the worker that serves. A new worker answers before `show proc` names it, so updates are waited for.
    pub(crate) async fn worker(&self) -> u32 {
        self.until_settled().await;
        self.until_alone().await;
        self.processes().await.1
    }

    /// Kills a process that belongs to this bed.
    pub(crate) fn kill(&self, pid: u32) {
        signal("KILL", pid);
    }

    /// Notes that requests through this branch showed what these keys say. `scripts/matrix.sh` makes the table of keys and
    /// branches of the notes, and fails when one is missing; so this is the last line of a test, after what it asserts.
    pub(crate) fn proves(&self, keys: &[&str]) {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("matrix");
        std::fs::create_dir_all(&folder).unwrap();
        let Branch(major, minor) = self.branch;
        for key in keys {
            std::fs::write(folder.join(format!("{key}@{major}.{minor}")), "").unwrap();
        }
    }

    /// What must hold after every test: the controller lives and nothing went wrong inside it.
    pub(crate) async fn check_after_test(&self) {
        if self.controller.lock().unwrap().is_some() {
            self.stop_controller().await;
        }
        let log = self.log();
        assert!(!log.contains("panicked at"), "the controller panicked:\n{log}");
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- log of {:?}\n{}", self.branch, self.log_tail());
        }
        let haproxy = self.master("show proc").ok().and_then(|text| parse_processes(&text).ok());
        self.kill_controller();
        if let Some((master, ..)) = haproxy {
            // Its own child, found over its own socket: it must not outlive the test.
            signal("KILL", master);
        }
    }
}

fn signal(name: &str, pid: u32) {
    let _ = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status();
}

fn master(socket: &Path, command: &str) -> Result<String, String> {
    let mut stream = UnixStream::connect(socket).map_err(|e| e.to_string())?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    // `quit` behind the command makes the master close, so that the answer has an end.
    stream.write_all(format!("{command};quit\n").as_bytes()).map_err(|e| e.to_string())?;
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(|e| e.to_string())?;
    Ok(text)
}

fn parse_processes(text: &str) -> Result<(u32, u32, u32), String> {
    // A row of an old worker up to 2.4 has `[was: 1]` for its relative pid.
    let text = text.replace("[was: ", "[was:");
    let rows: Vec<Vec<&str>> =
        text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split_whitespace().collect()).collect();
    // Up to 2.4 a worker row has the relative pid before the reloads.
    let reloads = |row: &[&str]| -> Option<u32> {
        let column = if row.get(4).is_some_and(|c| c.contains('d') && c.contains('h')) { 3 } else { 2 };
        row.get(column)?.parse().ok()
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let master = rows.iter().find(|row| row.get(1) == Some(&"master")).ok_or_else(|| text.clone())?;
    let worker = rows
        .iter()
        .filter(|row| row.get(1) == Some(&"worker"))
        .filter_map(|row| Some((reloads(row)?, row)))
        .min_by_key(|(reloads, _)| *reloads)
        .map(|(_, row)| row)
        .ok_or_else(|| text.clone())?;
    Ok((
        number(master[0]).ok_or_else(|| text.clone())?,
        number(worker[0]).ok_or_else(|| text.clone())?,
        master.iter().skip(2).find_map(|c| number(c)).ok_or_else(|| text.clone())?,
    ))
}
