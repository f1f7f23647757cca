//! The command line, as people meet it.

use std::process::{Command, Output};

use crate::support::Branch;
use crate::support::manifests::{endpoints, ingress, service};

fn outrigger(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_outrigger")).args(arguments).env_remove("RUST_LOG").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn render_prints_what_haproxy_would_get_and_nothing_secret() {
    let folder = tempfile::tempdir().unwrap();
    let pair = crate::support::certificates::ecdsa("foo", &["foo.bar"]);
    let manifests = service("app")
        + &endpoints("app", &["10.1.2.3:8080".parse().unwrap()])
        + &ingress("app", &[("foo.bar", "Prefix", "/", "app")])
            .replace("spec:\n", "spec:\n  tls:\n  - hosts: [foo.bar]\n    secretName: foo\n")
        + &crate::support::manifests::tls_secret("foo", &pair.certificate, &pair.key);
    std::fs::write(folder.path().join("a.yaml"), manifests).unwrap();
    let path = folder.path().to_str().unwrap();
    let output = outrigger(&["render", "--manifests", path]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    for expected in [
        "# ---- /etc/haproxy/haproxy.cfg",
        "frontend http",
        "backend default_app_80",
        "10.1.2.3:8080",
        "foo.bar",
    ] {
        assert!(stdout.contains(expected), "{expected} is missing in:\n{stdout}");
    }
    assert!(!stdout.contains("PRIVATE KEY") && !stderr.contains("PRIVATE KEY"));
    assert_eq!(
        text(&outrigger(&["render", "--manifests", path]).stdout),
        stdout,
        "the same bytes every time"
    );
}

#[test]
fn rendered_files_are_accepted_by_every_branch() {
    let folder = tempfile::tempdir().unwrap();
    let manifests = service("app")
        + &endpoints("app", &["10.1.2.3:8080".parse().unwrap(), "[fd00::1]:8080".parse().unwrap()])
        + &ingress("app", &[("foo.bar", "Prefix", "/", "app"), ("", "Exact", "/x", "missing")]);
    std::fs::write(folder.path().join("a.yaml"), manifests).unwrap();
    for branch in [Branch(2, 2), Branch(2, 6), Branch(3, 0), Branch(3, 2), Branch(3, 4)] {
        let out = folder.path().join(format!("out-{}.{}", branch.0, branch.1));
        let output = outrigger(&[
            "render",
            "--manifests",
            folder.path().join("a.yaml").to_str().unwrap(),
            "--haproxy-version",
            &format!("{}.{}", branch.0, branch.1),
            "--output-dir",
            out.to_str().unwrap(),
        ]);
        assert_eq!(output.status.code(), Some(1), "a missing Service is an error: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("service-not-found"));
        assert!(
            out.join("etc/haproxy/haproxy.cfg").exists() && out.join("etc/haproxy/maps/prefix.map").exists()
        );
        // The paths in it are those of the pod; point them at the folder to let HAProxy check it.
        let main = std::fs::read_to_string(out.join("etc/haproxy/haproxy.cfg")).unwrap();
        let moved = main
            .replace("/etc/haproxy/", &format!("{}/etc/haproxy/", out.display()))
            .replace("/var/lib/haproxy/", &format!("{}/var/lib/haproxy/", out.display()));
        std::fs::write(out.join("etc/haproxy/haproxy.cfg"), moved).unwrap();
        let list = out.join("var/lib/haproxy/https.crt-list");
        let lines = std::fs::read_to_string(&list).unwrap();
        std::fs::write(
            &list,
            lines.replace("/var/lib/haproxy/", &format!("{}/var/lib/haproxy/", out.display())),
        )
        .unwrap();
        let check =
            Command::new(branch.program()).args(["-c", "-f"]).arg(out.join("etc/haproxy")).output().unwrap();
        assert!(check.status.success(), "{branch:?}: {}{}", text(&check.stdout), text(&check.stderr));
    }
}

#[test]
fn a_typo_in_a_flag_is_an_error_with_a_hint() {
    let output = outrigger(&["--manifest", "x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--manifests"), "{}", text(&output.stderr));
    let output = outrigger(&["render", "--manifests", "x", "--haproxy-version=1.8"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("2.2"), "{}", text(&output.stderr));
}

#[test]
fn no_cluster_is_an_error_that_names_what_was_tried() {
    let output = Command::new(env!("CARGO_BIN_EXE_outrigger"))
        .args(["render", "--kubeconfig=/nonexistent/kubeconfig"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("/nonexistent/kubeconfig"), "{}", text(&output.stderr));
}

#[test]
fn version_says_which_haproxy_is_supported() {
    let output = outrigger(&["version"]);
    assert!(text(&output.stdout).contains("2.2 to 3.4"), "{}", text(&output.stdout));
    let json: serde_json::Value =
        serde_json::from_slice(&outrigger(&["version", "-o", "json"]).stdout).unwrap();
    assert_eq!(json["haproxy"]["newest"], "3.4");
}

#[test]
fn completion_scripts_parse_where_the_shell_exists() {
    for shell in ["bash", "zsh", "fish"] {
        let script = outrigger(&["completion", shell]).stdout;
        assert!(script.len() > 1000);
        if shell == "bash" {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &script).unwrap();
            assert!(Command::new("bash").arg("-n").arg(file.path()).status().unwrap().success());
        }
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let status = Command::new("bash")
        .args([
            "-c",
            "set -o pipefail; \"$1\" completion bash | head -1 >/dev/null",
            "-",
            env!("CARGO_BIN_EXE_outrigger"),
        ])
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

#[test]
fn options_are_listed_one_a_line_and_explained() {
    let list = text(&outrigger(&["options", "list"]).stdout);
    assert_eq!(list.lines().count(), outrigger::options::keys().len());
    let line = list.lines().find(|line| line.starts_with("ssl-redirect ")).unwrap();
    let mut words = line.split_whitespace();
    assert_eq!((words.nth(1), words.next()), (Some("Ingress,ConfigMap"), Some("live")), "{line}");
    // Behind the key, whose name may hold the word.
    let columns = |line: &str| line.find(" reload ").or_else(|| line.find(" live "));
    assert!(list.lines().map(columns).all(|column| column == columns(line)), "{list}");
    assert!(list.lines().map(|line| line.split(' ').next().unwrap()).is_sorted(), "{list}");

    let json: serde_json::Value =
        serde_json::from_slice(&outrigger(&["options", "list", "-o", "json"]).stdout).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["keys"].as_array().unwrap().len(), list.lines().count());
    let of_services = text(&outrigger(&["options", "list", "--scope=service"]).stdout);
    assert!(of_services.lines().count() < list.lines().count());
    assert!(of_services.contains("backend-config-snippet"));

    // Aliases and prefixes lead to the key.
    for name in ["servers-increment", "server-slots", "haproxy.org/scale-server-slots"] {
        let shown = text(&outrigger(&["options", "show", name]).stdout);
        assert!(shown.starts_with("servers-increment\n"), "{shown}");
        for expected in ["server-slots", "ConfigMap", "`10`", "reload", "servers-increment: \"20\"", "2.6"] {
            assert!(shown.contains(expected), "{expected} is missing in:\n{shown}");
        }
        assert!(shown.lines().all(|line| line.chars().count() <= 140), "{shown}");
    }
    let json: serde_json::Value =
        serde_json::from_slice(&outrigger(&["options", "show", "ssl-redirect", "-o", "json"]).stdout)
            .unwrap();
    assert_eq!((&json["name"], &json["effect"]), (&"ssl-redirect".into(), &"live".into()));

    let output = outrigger(&["options", "show", "ssl-redirct"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean `ssl-redirect`?"), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
    let output = outrigger(&["options", "show", "nothing-like-it"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("outrigger options list"), "{}", text(&output.stderr));
}

#[test]
fn problems_are_explained() {
    let list = text(&outrigger(&["problems", "list"]).stdout);
    assert!(list.lines().any(|line| line.starts_with("quarantined ")), "{list}");
    let shown = text(&outrigger(&["problems", "show", "quarantined"]).stdout);
    assert!(shown.contains("what to do"), "{shown}");
    assert_eq!(outrigger(&["problems", "show", "no-such"]).status.code(), Some(2));
}
