//! Real HAProxy binaries and scripted masters for the tests of this module.

use std::future::Future;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use outrigger_init::Volumes;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::{Master, Worker};
use crate::model::{BackendName, Capabilities, Version};

/// Every branch that is driven, oldest first.
pub(super) const BRANCHES: [&str; 5] = ["2.2", "2.6", "3.0", "3.2", "3.4"];

/// The binary of a branch. A missing one fails the test.
pub(super) fn binary(branch: &str) -> PathBuf {
    let folder = std::env::var_os("HAPROXY_BINARIES").map_or_else(
        || {
            let cache = std::env::var_os("OUTRIGGER_CACHE").map_or_else(
                || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache/outrigger"),
                PathBuf::from,
            );
            cache.join("haproxy")
        },
        PathBuf::from,
    );
    let binary = folder.join(branch).join("haproxy");
    assert!(binary.exists(), "HAProxy {branch} is missing: {}", binary.display());
    binary
}

/// A deadline that only a broken HAProxy exceeds.
pub(super) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Waits for a condition.
pub(super) async fn eventually<F: Future<Output = bool>>(what: &str, condition: impl Fn() -> F) {
    let deadline = soon();
    while !condition().await {
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Chain and key as one PEM.
pub(super) fn pem(host: &str) -> Bytes {
    let made = rcgen::generate_simple_self_signed([host.to_owned()]).unwrap();
    format!("{}{}", made.cert.pem(), made.signing_key.serialize_pem()).into()
}

/// A running HAProxy with its own three folders. Killed when dropped.
pub(super) struct Haproxy {
    pub(super) branch: &'static str,
    pub(super) volumes: Volumes,
    child: Child,
    folder: TempDir,
}

impl Haproxy {
    /// Starts a branch with [`Haproxy::config`].
    pub(super) fn start(branch: &'static str) -> Self {
        Self::start_with(branch, |_| ())
    }

    /// Starts a branch with a file of patterns, which an ACL of this fetch refers to.
    pub(super) fn start_with_list(branch: &'static str, file: &str, patterns: &str, fetch: &str) -> Self {
        Self::start_with(branch, |volumes| {
            let path = volumes.patterns().join(file);
            std::fs::create_dir_all(volumes.patterns()).unwrap();
            std::fs::write(&path, patterns).unwrap();
            let acl = format!("http.sock\n  acl listed {fetch} -f {}\n", path.display());
            let config = Self::config(branch, volumes, "").replacen("http.sock\n", &acl, 1);
            std::fs::write(volumes.main_file(), config).unwrap();
        })
    }

    fn start_with(branch: &'static str, prepare: impl FnOnce(&Volumes)) -> Self {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        let volumes = Volumes { config: at("etc"), state: at("lib"), run: at("run") };
        for folder in [volumes.maps(), volumes.certificates(), volumes.run.clone()] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(volumes.maps().join("exact.map"), "/known backend\n# end 0123\n").unwrap();
        std::fs::write(volumes.maps().join("prefix.map"), "").unwrap();
        std::fs::write(volumes.default_certificate(), pem("default.test")).unwrap();
        std::fs::write(volumes.crt_list(), format!("{}\n", volumes.default_certificate().display())).unwrap();
        prepare(&volumes);
        let child = Self::spawn(branch, &volumes);
        Self { branch, volumes, child, folder }
    }

    fn spawn(branch: &str, volumes: &Volumes) -> Child {
        if !volumes.main_file().exists() {
            std::fs::write(volumes.main_file(), Self::config(branch, volumes, "")).unwrap();
        }
        let log = std::fs::File::create(volumes.run.join("log")).unwrap();
        Command::new(binary(branch))
            .args(["-W", "-db", "-S"])
            .arg(format!("{},mode,660", volumes.master_socket().display()))
            .arg("-f")
            .arg(&volumes.config)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    /// A small configuration with two frontends on unix sockets and the backend `b`.
    pub(super) fn config(branch: &str, volumes: &Volumes, more: &str) -> String {
        let servers = if branch == "2.2" { "server-template s 1-3 127.0.0.1:1 disabled" } else { "" };
        format!(
            "global\n  description outrigger-abc\n  maxconn 100\n{more}defaults\n  mode http\n  timeout connect 1s\n  \
             timeout client 20s\n  timeout server 20s\nfrontend http\n  bind unix@{http}\n  use_backend \
             %[path,map({exact})]\n  use_backend %[path,map({prefix})]\n  default_backend b\nfrontend https\n  bind \
             unix@{https} ssl crt-list {list}\n  default_backend b\nbackend b\n  {servers}\nbackend c\n  server old \
             127.0.0.1:1 weight 7\n",
            http = volumes.run.join("http.sock").display(),
            https = volumes.run.join("https.sock").display(),
            exact = volumes.maps().join("exact.map").display(),
            prefix = volumes.maps().join("prefix.map").display(),
            list = volumes.crt_list().display(),
        )
    }

    pub(super) fn write_config(&self, text: &str) {
        std::fs::write(self.volumes.main_file(), text).unwrap();
    }

    pub(super) fn good_config(&self, more: &str) -> String {
        Self::config(self.branch, &self.volumes, more)
    }

    /// A connection, once the worker answers.
    pub(super) async fn master(&self) -> Master {
        let master = Master::connect(self.volumes.master_socket());
        let ready =
            master.wait_until_ready(soon()).await.unwrap_or_else(|error| panic!("{}: {error}", self.log()));
        assert_eq!(ready.processes.master.version, Version::parse(self.branch).unwrap());
        assert_eq!(ready.processes.master.pid, self.child.id());
        master
    }

    pub(super) async fn worker(&self, master: &Master) -> Worker {
        let processes = master.processes(soon()).await.unwrap();
        let capabilities = Capabilities::of_release(&processes.master.version_text).unwrap();
        Worker::new(master.clone(), self.volumes.clone(), capabilities)
    }

    /// SIGKILL, and a new start on the same folders.
    pub(super) fn restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = Self::spawn(self.branch, &self.volumes);
    }

    /// Waits until the process has ended by itself.
    pub(super) async fn ended(&mut self) {
        let deadline = soon();
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "still running: {}", self.log());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.volumes.run.join("log")).unwrap_or_default()
    }

    /// The status of one request on a connection of its own.
    pub(super) async fn get(&self, path: &str) -> u16 {
        let mut socket = UnixStream::connect(self.volumes.run.join("http.sock")).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or_else(|| panic!("{answer:?}"))
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A web server that answers 200 to every request, once the gate is open.
pub(super) struct Upstream {
    pub(super) port: u16,
    gate: watch::Sender<bool>,
    waiting: watch::Receiver<usize>,
    _task: AbortOnDropHandle<()>,
}

impl Upstream {
    pub(super) async fn start(open: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (gate, opened) = watch::channel(open);
        let (count, waiting) = watch::channel(0);
        let task = tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (mut opened, count) = (opened.clone(), count.clone());
                tokio::spawn(async move {
                    let mut request = vec![0; 4096];
                    if socket.read(&mut request).await.unwrap_or(0) == 0 {
                        return;
                    }
                    count.send_modify(|count| *count += 1);
                    let _ = opened.wait_for(|open| *open).await;
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                    let _ = socket.write_all(answer).await;
                });
            }
        });
        Self { port, gate, waiting, _task: AbortOnDropHandle::new(task) }
    }

    /// Waits until a request has arrived.
    pub(super) async fn request_arrived(&self) {
        self.waiting.clone().wait_for(|count| *count > 0).await.unwrap();
    }

    pub(super) fn open(&self) {
        self.gate.send_replace(true);
    }
}

pub(super) fn backend(name: &str) -> BackendName {
    BackendName::parsed(name)
}

/// A client's verifier that accepts any certificate: the test compares it itself.
#[derive(Debug)]
pub(crate) struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
