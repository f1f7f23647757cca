//! What the chart writes for other programs to read: flags of the controller and of init, HAProxy's configuration of the default backend.

use std::path::Path;
use std::process::Command;

use super::helm::{render, texts, values_files};

#[test]
fn the_controller_knows_every_flag_that_the_chart_writes() {
    for file in values_files() {
        let objects = render(&["--values", file.to_str().unwrap()]);
        // Flags are read from left to right, so that help is printed when all before it are known and have good values.
        let output = Command::new(env!("CARGO_BIN_EXE_outrigger"))
            .args(texts(&objects.container("controller")["args"]))
            .arg("--help")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn every_supported_haproxy_can_be_the_default_backend() {
    let folder = tempfile::tempdir().unwrap();
    let objects = render(&[
        "--set",
        "defaultBackend.enabled=true,defaultBackend.page.contentType=text/html; charset=utf-8",
    ]);
    let data = &objects.get("ConfigMap", "outrigger-default-backend")["data"];
    let (file, page) = (folder.path().join("haproxy.cfg"), folder.path().join("page"));
    let config = data["haproxy.cfg"].as_str().unwrap();
    assert!(config.contains(" file /etc/default-backend/page"), "{config}");
    std::fs::write(&file, config.replace("/etc/default-backend/page", page.to_str().unwrap())).unwrap();
    std::fs::write(&page, data["page"].as_str().unwrap()).unwrap();
    let from = |key| std::env::var_os(key).map(std::path::PathBuf::from);
    let folder = from("HAPROXY_BINARIES").unwrap_or_else(|| {
        let cache = from("OUTRIGGER_CACHE").unwrap_or_else(|| from("HOME").unwrap().join(".cache/outrigger"));
        cache.join("haproxy")
    });
    for branch in ["2.2", "2.6", "3.0", "3.2", "3.4"] {
        let layouts = [folder.join(format!("haproxy-{branch}")), folder.join(branch).join("haproxy")];
        let program = layouts.iter().find(|path| Path::new(path).exists());
        let program =
            program.unwrap_or_else(|| panic!("HAProxy {branch} is missing in {}", folder.display()));
        let output = Command::new(program).arg("-c").arg("-f").arg(&file).output().unwrap();
        assert!(output.status.success(), "{branch}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
