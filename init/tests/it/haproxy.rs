//! The seed and a restored configuration on real HAProxy binaries of every supported branch.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use outrigger_init::{
    FILE_MODE, Families, FolderState, Options, Outcome, SHARDS, Transaction, Volumes, prepare, seal,
    state_of, write_atomic,
};

use crate::scratch::{Scratch, generate};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const DEADLINE: Duration = Duration::from_secs(20);

/// `$HAPROXY_BINARIES` holds `haproxy-BRANCH` or `BRANCH/haproxy`; else what `scripts/parts/haproxy.sh` built.
fn binary(branch: &str) -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("HAPROXY_BINARIES").unwrap_or_else(|| {
        let cache = variable("OUTRIGGER_CACHE")
            .or_else(|| variable("HOME").map(|home| home.join(".cache/outrigger")));
        cache.unwrap().join("haproxy")
    });
    let found = [folder.join(format!("haproxy-{branch}")), folder.join(branch).join("haproxy")];
    found.into_iter().find(|path| path.is_file()).unwrap_or_else(|| {
        panic!("no HAProxy {branch} in {}; run scripts/parts/haproxy.sh", folder.display())
    })
}

/// A running master and its worker; stopped when dropped.
struct HaProxy {
    master: Child,
    log: PathBuf,
}

impl HaProxy {
    /// As in the pod; returns once it listens, or with its log when it ends before.
    fn start(branch: &str, volumes: &Volumes, port: u16) -> Result<Self, String> {
        fs::create_dir_all(&volumes.run).unwrap();
        let log = volumes.run.join("log");
        let output = fs::File::create(&log).unwrap();
        let master = Command::new(binary(branch))
            .args(["-W", "-db", "-S", &format!("{},mode,660", volumes.master_socket().display()), "-f"])
            .arg(&volumes.config)
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        let mut haproxy = Self { master, log };
        let end = Instant::now() + DEADLINE;
        while TcpStream::connect((LOOPBACK, port)).is_err() {
            if haproxy.master.try_wait().unwrap().is_some() || Instant::now() > end {
                return Err(fs::read_to_string(&haproxy.log).unwrap());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(haproxy)
    }
}

impl Drop for HaProxy {
    fn drop(&mut self) {
        // SIGTERM, so that the master ends its worker; only while the process id is surely still its own.
        if matches!(self.master.try_wait(), Ok(None)) {
            let _ = Command::new("kill").arg(self.master.id().to_string()).status();
        }
        let end = Instant::now() + DEADLINE;
        while matches!(self.master.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.master.kill();
        let _ = self.master.wait();
    }
}

/// Status and body.
fn get(address: IpAddr, port: u16, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect((address, port)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{path}: {answer:?}"));
    (head.split(' ').nth(1).unwrap().to_owned(), body.to_owned())
}

/// Writes a configuration for a free port and starts HAProxy on it. Another process may take the port in between, then
/// there is a new one.
fn start(branch: &str, volumes: &Volumes, mut configure: impl FnMut(u16)) -> (HaProxy, u16) {
    let mut log = String::new();
    for _ in 0..3 {
        let port = TcpListener::bind((LOOPBACK, 0)).unwrap().local_addr().unwrap().port();
        configure(port);
        match HaProxy::start(branch, volumes, port) {
            Ok(haproxy) => return (haproxy, port),
            Err(text) => log = text,
        }
    }
    panic!("HAProxy {branch} does not start:\n{log}");
}

fn options(port: u16) -> Options {
    Options { healthz_port: port, families: Families::detect(), create_volumes: false }
}

/// The seed that takes the place of a damaged configuration.
fn seed(branch: &str) {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    let (haproxy, port) = start(branch, &volumes, |port| {
        generate(&volumes, "damaged", 1);
        fs::write(volumes.crt_list(), "").unwrap();
        assert!(matches!(prepare(&volumes, &options(port)), Ok(Outcome::Seeded { .. })));
    });
    let mut addresses = vec![LOOPBACK];
    match TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) {
        Ok(_) => addresses.push(Ipv6Addr::LOCALHOST.into()),
        // A machine without the family or the address (EAFNOSUPPORT, EADDRNOTAVAIL): the seed starts all the same.
        Err(error) => assert!(matches!(error.raw_os_error(), Some(97 | 99)), "{error}"),
    }
    for address in addresses {
        for (path, status, body) in [
            ("/healthz", "200", "ok"),
            ("/readyz", "503", "no configuration yet"),
            ("/", "404", "not found"),
            ("/healthz/", "404", "not found"),
            ("/metrics", "404", "not found"),
        ] {
            assert_eq!(
                get(address, port, path),
                (status.to_owned(), body.to_owned()),
                "{branch} {address} {path}"
            );
        }
    }
    let log = fs::read_to_string(&haproxy.log).unwrap();
    assert!(!log.contains("[ALERT]"), "{log}");
    // What HAProxy 3.3 and newer say to root about `chroot` and `user` is meant for other machines than a pod.
    let warnings: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("[WARNING]") && !line.contains("chroot") && !line.contains("root"))
        .collect();
    assert!(warnings.is_empty(), "{log}");
}

/// A sealed configuration of main file, shards and a map that answers with `tag`.
fn write_generated(volumes: &Volumes, port: u16, tag: &str) {
    let write = |path: PathBuf, text: String| write_atomic(&path, seal(text).as_bytes(), FILE_MODE).unwrap();
    let map = volumes.maps().join("exact.map");
    write(map.clone(), format!("/ {tag}\n"));
    for shard in 0..SHARDS {
        write(
            volumes.shard_file(shard),
            format!("backend b{shard}\n  mode http\n  timeout connect 5s\n  timeout server 5s\n"),
        );
    }
    let main = format!(
        "global\n  maxconn 100\nfrontend web\n  mode http\n  timeout client 5s\n  bind 127.0.0.1:{port}\n  \
         http-request return status 200 content-type text/plain lf-string %[path,map_str({},none)]\n  default_backend b7\n",
        map.display()
    );
    write(volumes.main_file(), main);
}

/// HAProxy passes over seals, kept sets and marks, and starts with what was restored after an update that was cut off.
fn restored(branch: &str) {
    let scratch = Scratch::new();
    let volumes = scratch.volumes();
    let (haproxy, port) = start(branch, &volumes, |port| {
        write_generated(&volumes, port, "good");
        assert_eq!(state_of(&volumes), FolderState::Complete);
        Transaction::begin(&volumes).unwrap();
    });
    assert_eq!(get(LOOPBACK, port, "/").1, "good");
    drop(haproxy);

    write_generated(&volumes, port, "candidate");
    write_atomic(&volumes.shard_file(9), b"backend b9\n  nonsense\n", FILE_MODE).unwrap();
    let candidate = HaProxy::start(branch, &volumes, port);
    assert!(candidate.is_err_and(|log| log.contains("nonsense")), "the candidate is meant not to start");

    assert_eq!(prepare(&volumes, &options(port)).unwrap(), Outcome::Restored(FolderState::Complete));
    let haproxy = HaProxy::start(branch, &volumes, port).unwrap_or_else(|log| panic!("{branch}: {log}"));
    assert_eq!(get(LOOPBACK, port, "/").1, "good");
    drop(haproxy);
}

macro_rules! branches {
    ($($name:ident $branch:literal)*) => {$(
        mod $name {
            #[test]
            fn starts_with_the_seed() {
                super::seed($branch);
            }

            #[test]
            fn starts_with_a_restored_configuration() {
                super::restored($branch);
            }
        }
    )*};
}

branches! { v2_2 "2.2" v2_6 "2.6" v3_0 "3.0" v3_2 "3.2" v3_4 "3.4" }
