//! Everything that the parser of log formats lets through loads on every branch.

use std::fmt::Write as _;

use super::haproxy::binary;

/// What HAProxy says against a configuration with a frontend for each of these formats.
fn complaints(branch: &str, mode: &str, formats: &[String]) -> String {
    let mut text = format!(
        "global\n  log 127.0.0.1:1 local0\ndefaults\n  mode {mode}\n  log global\n  timeout client 1s\n  timeout server 1s\n  \
         timeout connect 1s\n"
    );
    for (i, format) in formats.iter().enumerate() {
        let format = crate::render::escape::quoted(format);
        let _ = writeln!(text, "frontend f{i}\n  bind unix@/tmp/outrigger-unused-{i}\n  log-format {format}");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, text).unwrap();
    let output =
        std::process::Command::new(binary(branch)).arg("-c").arg("-f").arg(file.path()).output().unwrap();
    if output.status.success() {
        return String::new();
    }
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    log.lines().filter(|line| line.contains("ALERT")).take(5).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_item_loads_on_every_branch() {
    for branch in super::models::BRANCHES {
        let path_only = super::models::capabilities(branch).path_only_in_logs();
        for (mode, http) in [("http", true), ("tcp", false)] {
            let mut formats = crate::options::global::every_log_item(http);
            if !path_only {
                formats.retain(|format| !format.contains("HPO"));
            }
            assert_eq!(complaints(branch, mode, &formats), "", "{mode} on {branch}");
        }
    }
}
