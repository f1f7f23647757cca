//! `examples/external-mode`: the account, the kubeconfig and the units of systemd, as `docs/external-mode.md` says, against a
//! real API server. The commands are those of the units; only places and ports are others.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use k8s_openapi::api::networking::v1::Ingress;
use kube::Api;

use super::lab::{self, BRANCH, Lab, pod};
use crate::support::bed::Ports;
use crate::support::{Branch, client, until};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/external-mode")
}

/// The settings of a unit; continued lines are one.
fn unit(name: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder().join(name)).unwrap().replace("\\\n", " ");
    let settings = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    settings.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// A machine on which the services run: its folders and ports.
struct Machine {
    folder: tempfile::TempDir,
    ports: Ports,
    running: Vec<Child>,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("outrigger-machine-").tempdir().unwrap();
        for path in ["lib", "lib/config", "lib/state", "run", "etc"] {
            std::fs::create_dir(folder.path().join(path)).unwrap();
        }
        Self { folder, ports: Ports::choose(), running: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The words of a setting, with the places of this machine. Ports that the unit does not say are free ones, too.
    fn words(&self, command: &str) -> Vec<String> {
        let place = |name: &str| self.path(name).display().to_string();
        let places = [
            ("/usr/local/bin/outrigger", env!("CARGO_BIN_EXE_outrigger").to_owned()),
            ("/usr/sbin/haproxy", BRANCH.program().display().to_string()),
            ("/var/lib/outrigger", place("lib")),
            ("/run/outrigger", place("run")),
            ("/etc/outrigger", place("etc")),
            ("--http-bind-port=80", format!("--http-bind-port={}", self.ports.http)),
            ("--https-bind-port=443", format!("--https-bind-port={}", self.ports.https)),
        ];
        let moved = |word: &str| {
            let found = places.iter().find(|(old, _)| word.contains(old));
            found.map_or_else(|| word.to_owned(), |(old, new)| word.replace(old, new))
        };
        command.split_whitespace().map(moved).collect()
    }

    /// Starts a service as its unit says.
    fn start(&mut self, name: &str) {
        let unit = unit(name);
        let mut words = self.words(&unit["ExecStart"]);
        if words.contains(&"run".to_owned()) {
            let said: Vec<String> = words.clone();
            let is_said =
                |flag: &String| said.iter().any(|word| word.split('=').next() == flag.split('=').next());
            words.extend(self.ports.flags().into_iter().filter(|flag| !is_said(flag)));
            words.push("--log-level=debug".to_owned());
        }
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.path("log")).unwrap();
        let child = Command::new(&words[0])
            .args(&words[1..])
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.running.push(child);
    }

    /// Ends the service that was started last with this signal, and gives its exit status.
    async fn stop(&mut self, signal: &str) -> std::process::ExitStatus {
        let mut child = self.running.pop().unwrap();
        Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        until("the service to end", || {
            let status = child.try_wait().unwrap();
            async move { status.ok_or_else(|| "still running".to_owned()) }
        })
        .await
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    async fn until_answered(&self, status: u16, name: &str) {
        let address: SocketAddr = ([127, 0, 0, 1], self.ports.http).into();
        until(&format!("{status} {name}"), || async {
            match client::get(address, "foo.bar", "/").await {
                Ok(answer) if answer.status == status && (name.is_empty() || answer.name() == name) => Ok(()),
                other => Err(format!("{other:?}\n{}", self.log())),
            }
        })
        .await;
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for child in self.running.iter_mut().rev() {
            // In order, so that HAProxy goes with the controller whose child it is.
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let _ = child.wait();
        }
    }
}

/// What the page says to do in the cluster, with kubectl, and the kubeconfig that comes of it.
async fn prepare(lab: &mut Lab, machine: &Machine) {
    lab.space("demo").await;
    lab.space("outrigger").await;
    let admin = lab.kubeconfig("admin");
    let admin = admin.split_once('=').unwrap().1;
    let kubectl = super::apiserver::program("kubectl");
    let run = |program: &Path, arguments: &[&str]| {
        let search = format!("{}:{}", kubectl.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let output = Command::new(program)
            .args(arguments)
            .env("KUBECONFIG", admin)
            .env("PATH", search)
            .env("NO_PROXY", "*")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    run(&kubectl, &["apply", "-f", "examples/external-mode/rbac.yaml"]);
    run(&kubectl, &["apply", "-f", "examples/quickstart"]);
    let kubeconfig = run(&folder().join("kubeconfig.sh"), &["1h"]);
    std::fs::write(machine.path("etc/kubeconfig"), kubeconfig).unwrap();
}

/// The address of this machine is in the status of the Ingress, and nothing was refused.
async fn until_published(lab: &Lab, machine: &Machine) {
    let ingresses: Api<Ingress> = Api::namespaced(lab.client.clone(), "demo");
    until("the address in the status", || async {
        let ingress = ingresses.get("echo").await.map_err(|error| error.to_string())?;
        let text = serde_json::to_string(&ingress.status).unwrap();
        if text.contains("203.0.113.10") { Ok(()) } else { Err(format!("{text}\n{}", machine.log())) }
    })
    .await;
    let log = machine.log();
    for sign in ["forbidden", "watch-refused", "panicked at"] {
        assert!(!log.contains(sign), "{sign}:\n{log}");
    }
}

#[test]
fn one_service() {
    lab::run(async |lab| {
        let mut machine = Machine::new();
        prepare(lab, &machine).await;
        let space = lab.space("demo").await;
        machine.start("outrigger.service");
        machine.until_answered(503, "").await;
        let one = pod("one").await;
        space.endpoints("echo", &[&one]).await;
        machine.until_answered(200, "one").await;
        until_published(lab, &machine).await;
        // KillMode=mixed: SIGTERM for the controller alone, which then stops HAProxy.
        assert_eq!(unit("outrigger.service")["KillMode"], "mixed");
        let status = machine.stop("TERM").await;
        assert!(status.success(), "{status}\n{}", machine.log());
        let address: SocketAddr = ([127, 0, 0, 1], machine.ports.http).into();
        assert!(client::get(address, "foo.bar", "/").await.is_err(), "HAProxy has stopped with it");
    });
}

#[test]
fn two_services() {
    lab::run(async |lab| {
        let mut machine = Machine::new();
        prepare(lab, &machine).await;
        let space = lab.space("demo").await;
        let (one, two) = (pod("one").await, pod("two").await);
        space.endpoints("echo", &[&one]).await;

        // ExecStartPre: the program is another crate's, so its library is called with the folders that the unit names.
        let haproxy = unit("outrigger-haproxy.service");
        let words = machine.words(&haproxy["ExecStartPre"]);
        let named = |flag: &str| {
            let value =
                words.iter().find_map(|word| word.strip_prefix(flag)).unwrap_or_else(|| panic!("{flag}"));
            PathBuf::from(value)
        };
        let volumes = outrigger_init::Volumes {
            config: named("--config-dir="),
            state: named("--state-dir="),
            run: named("--run-dir="),
        };
        let options = outrigger_init::Options {
            healthz_port: machine.ports.healthz,
            families: outrigger_init::Families::detect(),
            create_volumes: false,
        };
        outrigger_init::prepare(&volumes, &options).unwrap();
        machine.start("outrigger-haproxy.service");
        machine.start("outrigger-controller.service");
        machine.until_answered(200, "one").await;
        until_published(lab, &machine).await;

        // The controller crashes; HAProxy goes on, and the next controller takes over.
        machine.stop("KILL").await;
        machine.until_answered(200, "one").await;
        space.endpoints("echo", &[&two]).await;
        machine.start("outrigger-controller.service");
        machine.until_answered(200, "two").await;
        machine.stop("TERM").await;
        machine.until_answered(200, "two").await;

        // A soft stop ends well, so that systemd does not take it for a failure.
        assert_eq!(haproxy["KillSignal"], "SIGUSR1");
        let status = machine.stop("USR1").await;
        assert!(status.success(), "{status}");
    });
}

/// systemd itself reads the units. The programs must exist, so they are said to be those of this machine.
#[test]
fn systemd_accepts_the_units() {
    let machine = Machine::new();
    for name in ["outrigger.service", "outrigger-haproxy.service", "outrigger-controller.service"] {
        let text = std::fs::read_to_string(folder().join(name)).unwrap();
        let text = text
            .replace("/usr/local/bin/outrigger-init", env!("CARGO_BIN_EXE_outrigger"))
            .replace("/usr/local/bin/outrigger", env!("CARGO_BIN_EXE_outrigger"))
            .replace("/usr/sbin/haproxy", Branch(3, 2).program().to_str().unwrap());
        std::fs::write(machine.path(name), text).unwrap();
    }
    for name in ["outrigger.service", "outrigger-haproxy.service", "outrigger-controller.service"] {
        let output = Command::new("systemd-analyze")
            .args(["verify", "--man=no", "--recursive-errors=no"])
            .arg(machine.path(name))
            .env("SYSTEMD_UNIT_PATH", format!("{}:", machine.path("").display()))
            .output()
            .expect("systemd-analyze is part of the Debian package systemd");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.trim().is_empty(), "{name}: {said}");
    }
}
