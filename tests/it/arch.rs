//! The rules of `ARCHITECTURE.md`, checked: who may use whom, how long files may be, what the documentation must name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn sources() -> BTreeMap<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join("src"), root.join("init/src"), root.join("profiler/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.insert(
                    path.strip_prefix(root).unwrap().to_owned(),
                    std::fs::read_to_string(&path).unwrap(),
                );
            }
        }
    }
    found
}

/// The module at the top of `src` that a file belongs to.
fn module(path: &Path) -> Option<String> {
    let inside = path.strip_prefix("src").ok()?;
    let first = inside.iter().next()?.to_str()?;
    Some(first.trim_end_matches(".rs").to_owned())
}

/// What each module may use of the crate; everything else is an error.
fn allowed(module: &str) -> Option<&'static [&'static str]> {
    Some(match module {
        "cluster" => &[],
        "problem" => &["cluster"],
        "options" => &["cluster", "problem", "model"],
        "model" => &["cluster"],
        "translate" => &["cluster", "options", "model", "problem"],
        "render" => &["model", "plan", "cluster", "quarantine"],
        "quarantine" => &["model", "plan", "cluster"],
        "plan" => &["model", "cluster"],
        "haproxy" => &["plan", "model", "cluster"],
        "watch" => &["cluster", "problem"],
        "apply" => &["plan", "render", "haproxy", "model", "cluster"],
        "metrics" => &["cluster", "problem", "watch"],
        "report" => &["cluster", "metrics", "problem"],
        "admin" => &["metrics"],
        _ => return None,
    })
}

#[test]
fn modules_use_only_what_the_architecture_allows() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(own) = module(&path) else { continue };
        let Some(allowed) = allowed(&own) else { continue };
        if path.to_str().unwrap().contains("tests") || path.ends_with("testing.rs") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or("");
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if used != own && !used.is_empty() && !allowed.contains(&used.as_str()) {
                    wrong.push(format!("{}: `{own}` must not use `{used}`", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_pure_core_knows_no_kube_and_no_async_runtime() {
    for (path, text) in sources() {
        let pure = ["cluster", "problem", "options", "model", "translate", "render", "plan", "quarantine"];
        if !module(&path).is_some_and(|m| pure.contains(&m.as_str()))
            || path.to_str().unwrap().contains("tests")
        {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or("");
        for forbidden in
            ["kube::", "k8s_openapi", "tokio::", "hyper::", "std::fs", "SystemTime::now", "Instant::now"]
        {
            assert!(!code.contains(forbidden), "{} uses {forbidden}", path.display());
        }
    }
}

#[test]
fn files_have_one_idea() {
    let mut lengths: Vec<(usize, PathBuf)> = sources()
        .into_iter()
        .filter(|(path, _)| !path.to_str().unwrap().contains("tests"))
        .map(|(path, text)| (text.lines().count(), path))
        .collect();
    lengths.sort();
    let median = lengths[lengths.len() / 2].0;
    assert!(median <= 180, "the median file has {median} lines");
    let (longest, path) = lengths.last().unwrap();
    assert!(*longest <= 600, "{} has {longest} lines", path.display());
    assert!(lengths.iter().filter(|(lines, _)| *lines > 400).count() <= lengths.len() / 20, "{lengths:?}");
    assert!(lengths.iter().all(|(_, path)| !path.ends_with("mod.rs")));
}

#[test]
fn the_architecture_page_names_every_module() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md")).unwrap();
    for (path, _) in sources() {
        if let Some(name) = module(&path) {
            assert!(page.contains(&format!("`{name}`")), "ARCHITECTURE.md does not name `{name}`");
        }
    }
}

#[test]
fn the_readme_shows_the_two_commands() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    assert!(page.contains("make demo") && page.contains("make test"));
}
