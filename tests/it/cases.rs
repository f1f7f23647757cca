//! The case folders: `tests/cases/TOPIC/input.yaml` shows keys as a user writes them, `expected.txt` what HAProxy gets for it.
//!
//! `UPDATE_EXPECTED=1 cargo test --test it cases::` writes the expected files anew; read the difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// What `outrigger render` makes of these manifests, file by file.
fn render(manifests: &Path, to: &Path) -> (BTreeMap<String, String>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_outrigger"))
        .args(["render", "--haproxy-version=3.2", "--configmap=default/settings"])
        .args(["--configmap-patternfiles=default/patterns", "--configmap-errorfiles=default/errors"])
        .args(["--configmap-tcp-services=default/tcp", "--enable-config-snippets"])
        .args(["--disable-ipv6", "--manifests"])
        .arg(manifests)
        .arg("--output-dir")
        .arg(to)
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    let mut files = BTreeMap::new();
    collect(to, to, &mut files);
    (files, String::from_utf8(output.stderr).unwrap())
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_none_or(|extension| extension != "pem") {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            files.insert(name, text);
        }
    }
}

/// Lines without digests, which say nothing to a reader.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with("# end ") && !line.contains("description outrigger-"))
}

/// What a reader wants to see: what the main file has more or less than without any object, backends of the case, entries of
/// maps and lists, and what is said about the objects.
fn report(files: &BTreeMap<String, String>, plain: &BTreeMap<String, String>, problems: &str) -> String {
    let mut text = String::new();
    for (name, content) in files {
        let shown: Vec<String> = if name.ends_with("haproxy.cfg") {
            difference(plain.get(name).map_or("", String::as_str), content)
        } else if name.contains("/haproxy_") {
            let sections = content.split("\n\n").filter(|section| !section.starts_with("backend spare-"));
            sections.flat_map(lines).map(str::to_owned).collect()
        } else {
            lines(content).map(str::to_owned).collect()
        };
        if shown.iter().any(|line| !line.is_empty()) && plain.get(name) != Some(content) {
            // Shards are named by a hash that says nothing to a reader.
            let name = if name.contains("/haproxy_") { "backends" } else { name };
            let _ = write!(text, "---- {name}\n{}\n", shown.join("\n"));
        }
    }
    let said: Vec<&str> = problems.lines().filter(|line| !line.starts_with("written below")).collect();
    if !said.is_empty() {
        let _ = write!(text, "---- problems\n{}\n", said.join("\n"));
    }
    text
}

/// Lines that came (`+`) and went (`-`), by their longest common subsequence, with the section that they are in.
fn difference(before: &str, after: &str) -> Vec<String> {
    let (a, b): (Vec<&str>, Vec<&str>) = (lines(before).collect(), lines(after).collect());
    let mut table = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i][j] =
                if a[i] == b[j] { table[i + 1][j + 1] + 1 } else { table[i + 1][j].max(table[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut section, mut said) = (0, 0, "", "");
    let mut shown = Vec::new();
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            if !a[i].starts_with(' ') && !a[i].is_empty() {
                section = a[i];
            }
            (i, j) = (i + 1, j + 1);
            continue;
        }
        if section != said {
            shown.push(format!(" {section}"));
            said = section;
        }
        if j < b.len() && (i == a.len() || table[i][j + 1] >= table[i + 1][j]) {
            shown.push(format!("+{}", b[j]));
            j += 1;
        } else {
            shown.push(format!("-{}", a[i]));
            i += 1;
        }
    }
    shown
}

#[test]
fn every_case_renders_what_is_expected() {
    let temporary = tempfile::tempdir().unwrap();
    let empty = temporary.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let (plain, _) = render(&empty, &temporary.path().join("plain"));
    let mut wrong = Vec::new();
    let mut cases = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let case = entry.unwrap().path();
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let (files, problems) = render(&case.join("input.yaml"), &temporary.path().join(&name));
        let report = report(&files, &plain, &problems);
        assert!(!report.is_empty(), "{name} shows nothing: are its ConfigMaps named as in render()?");
        let expected = case.join("expected.txt");
        cases += 1;
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&expected, &report).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != report {
            wrong.push(format!("{name}:\n{report}"));
        }
    }
    assert!(wrong.is_empty(), "not as expected (UPDATE_EXPECTED=1 writes anew):\n{}", wrong.join("\n"));
    assert!(cases > 0);
}
