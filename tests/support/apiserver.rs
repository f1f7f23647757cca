//! A real kube-apiserver with its etcd, on free ports of the loopback interface. Shared by tests with `#[path]`.
//!
//! The programs come from `KUBEBUILDER_ASSETS`, else `${OUTRIGGER_CACHE:-~/.cache/outrigger}/kubebuilder/bin`; when they are missing, tests fail.
//! Each program runs below a shell that ends it when the test process is gone, however that happened.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends")]
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// Users besides `admin`: they may do nothing until a test binds a role to them.
pub(crate) const USERS: [&str; 4] = ["user-a", "user-b", "user-c", "user-d"];
const DEADLINE: Duration = Duration::from_secs(90);

/// etcd and an API server; both end, and their folder goes, when this is dropped or the test process ends.
#[derive(Debug)]
pub(crate) struct ApiServer {
    folder: PathBuf,
    etcd_port: u16,
    port: u16,
    server: Option<Process>,
    _etcd: Process,
}

impl ApiServer {
    /// Starts both and waits until the API server is ready.
    pub(crate) async fn start() -> Self {
        install_tls();
        let folder = tempfile::Builder::new().prefix("outrigger-apiserver-").tempdir().unwrap().keep();
        let [etcd_port, peer_port, port] = free_ports();
        let key = rcgen::KeyPair::generate().unwrap();
        fs::write(folder.join("sa.key"), key.serialize_pem()).unwrap();
        fs::write(folder.join("sa.pub"), key.public_key_pem()).unwrap();
        let mut tokens = "admin-token,admin,admin,\"system:masters\"\n".to_owned();
        tokens.extend(USERS.map(|user| format!("{user}-token,{user},{user}\n")));
        fs::write(folder.join("tokens.csv"), tokens).unwrap();
        for user in ["admin"].iter().chain(&USERS) {
            fs::write(folder.join(format!("{user}.kubeconfig")), kubeconfig(user, port)).unwrap();
        }
        let peer = format!("http://127.0.0.1:{peer_port}");
        let client = format!("http://127.0.0.1:{etcd_port}");
        let etcd = Process::start(
            &folder,
            "etcd",
            true,
            &[
                format!("--data-dir={}", folder.join("etcd").display()),
                format!("--listen-client-urls={client}"),
                format!("--advertise-client-urls={client}"),
                format!("--listen-peer-urls={peer}"),
                format!("--initial-advertise-peer-urls={peer}"),
                format!("--initial-cluster=default={peer}"),
                "--unsafe-no-fsync=true".to_owned(),
            ],
        );
        let mut this = Self { folder, etcd_port, port, server: None, _etcd: etcd };
        this.resume().await;
        this
    }

    /// Kills the API server; etcd keeps everything.
    pub(crate) fn stop(&mut self) {
        self.server = None;
    }

    /// Starts the API server again when it was stopped.
    pub(crate) async fn resume_if_stopped(&mut self) {
        if self.server.is_none() {
            self.resume().await;
        }
    }

    /// Starts the API server (again), on the same port, and waits until it is ready.
    pub(crate) async fn resume(&mut self) {
        let file = |name: &str| self.folder.join(name).display().to_string();
        self.server = Some(Process::start(
            &self.folder,
            "kube-apiserver",
            false,
            &[
                format!("--etcd-servers=http://127.0.0.1:{}", self.etcd_port),
                format!("--secure-port={}", self.port),
                "--bind-address=127.0.0.1".to_owned(),
                "--advertise-address=127.0.0.1".to_owned(),
                format!("--cert-dir={}", self.folder.display()),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                format!("--service-account-key-file={}", file("sa.pub")),
                format!("--service-account-signing-key-file={}", file("sa.key")),
                "--authorization-mode=RBAC".to_owned(),
                format!("--token-auth-file={}", file("tokens.csv")),
                "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
                "--disable-admission-plugins=ServiceAccount".to_owned(),
                "--max-requests-inflight=2000".to_owned(),
                "--max-mutating-requests-inflight=1000".to_owned(),
            ],
        ));
        let end = Instant::now() + DEADLINE;
        let client = self.client().await;
        loop {
            let request = http_get("/readyz");
            match client.request_text(request).await {
                Ok(text) if text == "ok" => return,
                other if Instant::now() > end => {
                    let log = fs::read_to_string(self.folder.join("kube-apiserver.log")).unwrap_or_default();
                    let tail: Vec<&str> = log.lines().rev().take(20).collect();
                    panic!("the API server is not ready: {other:?}\n{}", tail.join("\n"));
                }
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// A client that may do everything.
    pub(crate) async fn client(&self) -> Client {
        self.client_of("admin").await
    }

    /// A client of one of [`USERS`].
    pub(crate) async fn client_of(&self, user: &str) -> Client {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig_of(user)).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        Client::try_from(config).unwrap()
    }

    /// The kubeconfig of `admin`.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig_of("admin")
    }

    /// The kubeconfig of a user.
    pub(crate) fn kubeconfig_of(&self, user: &str) -> PathBuf {
        self.folder.join(format!("{user}.kubeconfig"))
    }

    /// Makes etcd forget all versions but the present ones, so that a watch from an older one expires (410).
    pub(crate) fn compact(&self) {
        let range = self.etcd("/v3/kv/range", r#"{"key":"AA=="}"#);
        let revision = range.split("\"revision\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        self.etcd("/v3/kv/compaction", &format!(r#"{{"revision":"{revision}","physical":true}}"#));
    }

    fn etcd(&self, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.etcd_port)).unwrap();
        let length = body.len();
        write!(stream, "POST {path} HTTP/1.0\r\nHost: etcd\r\nContent-Length: {length}\r\n\r\n{body}")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 200 "), "{answer}");
        answer
    }
}

/// Installs the TLS provider, as `main` does.
pub(crate) fn install_tls() {
    let _already = rustls::crypto::ring::default_provider().install_default();
}

fn http_get(path: &str) -> hyper::Request<Vec<u8>> {
    hyper::Request::get(path).body(Vec::new()).unwrap()
}

fn kubeconfig(user: &str, port: u16) -> String {
    format!(
        "apiVersion: v1
kind: Config
clusters: [{{name: test, cluster: {{server: \"https://127.0.0.1:{port}\", insecure-skip-tls-verify: true}}}}]
users: [{{name: {user}, user: {{token: {user}-token}}}}]
contexts: [{{name: test, context: {{cluster: test, user: {user}}}}}]
current-context: test
"
    )
}

fn free_ports<const N: usize>() -> [u16; N] {
    let listeners: [TcpListener; N] = std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// A program of the API server, or kubectl.
pub(crate) fn program(name: &str) -> PathBuf {
    let from = |key| std::env::var_os(key).map(PathBuf::from);
    let folder = from("KUBEBUILDER_ASSETS").unwrap_or_else(|| {
        let cache = from("OUTRIGGER_CACHE").unwrap_or_else(|| from("HOME").unwrap().join(".cache/outrigger"));
        cache.join("kubebuilder/bin")
    });
    let program = folder.join(name);
    assert!(program.exists(), "{} is missing; `make test` builds it", program.display());
    program
}

/// A program below a shell that kills it when our end of the pipe closes.
#[derive(Debug)]
struct Process {
    shell: Child,
}

impl Process {
    fn start(folder: &Path, name: &str, owns_folder: bool, arguments: &[String]) -> Self {
        let log = File::options().append(true).create(true).open(folder.join(format!("{name}.log"))).unwrap();
        let cleanup = if owns_folder { "sleep 0.5; rm -rf \"$0\"" } else { ":" };
        let script =
            format!("trap '' INT TERM; \"$@\" </dev/null & read -r _; kill -9 $!; wait $!; {cleanup}");
        let shell = Command::new("sh")
            .args(["-c", &script])
            .arg(folder)
            .arg(program(name))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Self { shell }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ended = self.shell.wait();
    }
}
