//! A real HAProxy on files of ours, in folders of its own.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use outrigger_init::Volumes;
use tempfile::TempDir;

use super::models::capabilities;
use crate::model::{Listeners, Model};
use crate::plan::Texts;
use crate::render::Renderer;

const DEADLINE: Duration = Duration::from_secs(20);

pub(super) fn binary(branch: &str) -> PathBuf {
    let folder = std::env::var_os("HAPROXY_BINARIES").map_or_else(
        || {
            let home = || Path::new(&std::env::var_os("HOME").unwrap()).join(".cache/outrigger");
            std::env::var_os("OUTRIGGER_CACHE").map_or_else(home, PathBuf::from).join("haproxy")
        },
        PathBuf::from,
    );
    let binary = folder.join(branch).join("haproxy");
    assert!(binary.exists(), "no HAProxy {branch}: {} does not exist", binary.display());
    binary
}

/// Listeners on free ports: bound all at once, so that no two are the same.
pub(super) fn free_listeners() -> Listeners {
    let sockets: Vec<TcpListener> = (0..4).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let port = |i: usize| sockets[i].local_addr().unwrap().port();
    Listeners {
        ipv4: Some("127.0.0.1".parse().unwrap()),
        ipv6: Some(Ipv6Addr::LOCALHOST),
        http: Some(port(0)),
        https: Some(port(1)),
        stats: port(2),
        healthz: port(3),
    }
}

pub(super) struct HaProxy {
    process: Child,
    folder: TempDir,
    pub(super) volumes: Volumes,
    pub(super) listeners: Listeners,
    pub(super) texts: Texts,
}

impl HaProxy {
    /// Renders `model` (its listeners are replaced by free ones), checks the files and starts on them.
    pub(super) fn start(branch: &str, model: &mut Model) -> Self {
        Self::start_in(branch, model, "")
    }

    /// The same in folders below one with this name.
    pub(super) fn start_in(branch: &str, model: &mut Model, below: &str) -> Self {
        Self::start_with(branch, model, below, "")
    }

    /// The same with a further file of configuration.
    pub(super) fn start_with(branch: &str, model: &mut Model, below: &str, more: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("outrigger").tempdir().unwrap();
        let root = folder.path().join(below);
        let volumes = Volumes { config: root.join("etc"), state: root.join("lib"), run: root.join("run") };
        for path in [volumes.maps(), volumes.patterns(), volumes.certificates(), volumes.run.clone()] {
            fs::create_dir_all(path).unwrap();
        }
        // Another process may take a free port before HAProxy does.
        for attempt in 0.. {
            let listeners = free_listeners();
            Arc::make_mut(&mut model.global).listeners = listeners.clone();
            let renderer = Renderer::new(volumes.clone(), capabilities(branch));
            let texts = renderer.full(model, &Texts::default());
            for id in texts.files() {
                fs::write(id.path(&volumes), texts.file(&id, &volumes).unwrap()).unwrap();
            }
            for asset in texts.assets() {
                let folder = volumes.assets(asset.kind().is_state(), asset.kind().folder());
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join(asset.name().as_ref()), asset.bytes()).unwrap();
            }
            if !more.is_empty() {
                fs::write(volumes.config.join("zz.cfg"), more).unwrap();
            }
            check(branch, &volumes);
            let log = folder.path().join("log");
            let process = spawn(branch, &volumes, &log);
            let mut haproxy = Self {
                process,
                folder: tempfile::tempdir().unwrap(),
                volumes: volumes.clone(),
                listeners,
                texts,
            };
            let answers = haproxy.wait_until_ready();
            let log = fs::read_to_string(&log).unwrap();
            if answers {
                assert_eq!(warnings(&log), "", "HAProxy {branch}");
                haproxy.folder = folder;
                return haproxy;
            }
            assert!(attempt < 3, "HAProxy {branch} does not start: {log}");
        }
        unreachable!()
    }

    fn wait_until_ready(&mut self) -> bool {
        let end = Instant::now() + DEADLINE;
        while Instant::now() < end && self.process.try_wait().unwrap().is_none() {
            let address = SocketAddr::from(([127, 0, 0, 1], self.listeners.healthz));
            if request(address, "GET /readyz HTTP/1.1\r\nHost: x\r\n").is_ok_and(|r| r.status == 200) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// A request to the HTTP listener with these lines (request line and headers).
    pub(super) fn http(&self, head: &str) -> Response {
        request(SocketAddr::from(([127, 0, 0, 1], self.listeners.http.unwrap())), head).unwrap()
    }

    /// The master CLI. Up to 3.0 the master executes itself again once the worker runs, and refuses connections meanwhile.
    fn connect(&self) -> UnixStream {
        let end = Instant::now() + DEADLINE;
        loop {
            match UnixStream::connect(self.volumes.master_socket()) {
                Ok(socket) => return socket,
                Err(e) => assert!(Instant::now() < end, "no master CLI: {e}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// One command to the current worker over the master CLI, with its answer. In prompt mode: without it some answers have
    /// no recognisable end.
    pub(super) fn command(&self, command: &str) -> String {
        let mut socket = self.connect();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut ask = |line: &str| {
            socket.write_all(line.as_bytes()).unwrap();
            let mut answer = Vec::new();
            let mut piece = [0; 4096];
            while !answer.ends_with(b"master> ") {
                let n = socket.read(&mut piece).unwrap();
                assert!(n > 0, "the master closed the connection after {line}");
                answer.extend_from_slice(&piece[..n]);
            }
            String::from_utf8(answer).unwrap()
        };
        ask("prompt\n");
        let answer = ask(&format!("@1 {command}\n"));
        answer.trim_end_matches("master> ").trim_start_matches("+ ").trim().to_owned()
    }
}

impl Drop for HaProxy {
    fn drop(&mut self) {
        // SIGKILL to the master: the worker notices at once that its parent is gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn spawn(branch: &str, volumes: &Volumes, log: &Path) -> Child {
    let mut socket = volumes.master_socket().into_os_string();
    socket.push(",mode,660");
    let log = File::create(log).unwrap();
    Command::new(binary(branch))
        .args(["-W", "-db", "-S"])
        .arg(socket)
        .arg("-f")
        .arg(&volumes.config)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// `haproxy -c` without any warning.
fn check(branch: &str, volumes: &Volumes) {
    let output = Command::new(binary(branch)).arg("-c").arg("-f").arg(&volumes.config).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "HAProxy {branch}: {text}");
    assert_eq!(warnings(&text), "", "HAProxy {branch}");
}

/// Warnings and errors in what HAProxy says, but for those about running as root, which only tests do.
fn warnings(text: &str) -> String {
    let bad = |line: &&str| ["[WARNING]", "[ALERT]", "[EMERG]"].iter().any(|mark| line.contains(mark));
    let root = |line: &&str| line.contains("HAProxy was started as");
    text.lines().filter(|l| bad(l) && !root(l)).collect::<Vec<_>>().join("\n")
}

/// An answer.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// One request on its own connection. `head` ends with a line end.
pub(super) fn request(address: SocketAddr, head: &str) -> std::io::Result<Response> {
    let mut stream = TcpStream::connect_timeout(&address, DEADLINE)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").ok_or(ErrorKind::UnexpectedEof)?;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or(ErrorKind::InvalidData)?;
    Ok(Response { status, head, body: answer[end + 4..].to_vec() })
}

/// A pod: answers every request with its name and the request it got. Lives as long as the test process.
pub(super) fn pod(name: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, name));
        }
    });
    address
}

fn answer(mut stream: TcpStream, name: &str) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let body = format!("{name}\n{}", String::from_utf8_lossy(&head));
    let length = body.len();
    let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
}

/// A self-signed certificate with its key, as one PEM, and the certificate alone as DER.
pub(super) fn pem(hosts: &[&str]) -> (Bytes, Vec<u8>) {
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(hosts).unwrap();
    let pem = format!("{}{}", cert.pem(), signing_key.serialize_pem());
    let lines: Vec<&str> = pem.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let pem = lines.join("\n") + "\n";
    (pem.into(), cert.der().to_vec())
}
