//! The README of an example as a script: what it says to type, and what it says comes back.

use std::path::{Path, PathBuf};

/// A command of a `console` block, with the lines that it prints.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) command: String,
    /// `…` stands for anything. Empty: whatever comes, as long as the command succeeds.
    pub(super) prints: Vec<String>,
}

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(super) fn folder() -> PathBuf {
    root().join("examples")
}

pub(super) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The steps of an example.
pub(super) fn steps(example: &str) -> Vec<Step> {
    let steps = parse(&read(&folder().join(example).join("README.md")));
    assert!(
        steps.iter().any(|step| !step.prints.is_empty()),
        "examples/{example}/README.md promises nothing that could be checked"
    );
    steps
}

fn parse(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut is_inside, mut is_continued) = (false, false);
    for line in text.lines() {
        if line.starts_with("```") {
            is_inside = line == "```console";
        } else if is_inside && line.starts_with("$ ") {
            steps.push(Step { command: line[2..].to_owned(), prints: Vec::new() });
            is_continued = line.ends_with('\\');
        } else if let (true, Some(step)) = (is_inside, steps.last_mut()) {
            if is_continued {
                step.command += &format!("\n{line}");
                is_continued = line.ends_with('\\');
            } else {
                step.prints.push(line.trim().to_owned());
            }
        }
    }
    steps
}

/// Whether a command printed what was promised; white space around lines does not count.
pub(super) fn is_printed(promised: &[String], printed: &str) -> bool {
    let printed: Vec<&str> = printed.lines().map(str::trim).collect();
    promised.len() == printed.len() && promised.iter().zip(printed).all(|(promise, line)| fits(promise, line))
}

fn fits(promise: &str, line: &str) -> bool {
    match promise.split_once('…') {
        None => promise == line,
        Some((start, rest)) => line.strip_prefix(start).is_some_and(|line| {
            line.char_indices()
                .map(|(at, _)| at)
                .chain([line.len()])
                .any(|at| line.get(at..).is_some_and(|tail| fits(rest, tail)))
        }),
    }
}

#[test]
fn readmes_are_read_as_people_do() {
    let text = "# A\n```\nnot this\n```\n```console\n$ one \\\n    two\nout\n  put\n$ three\n```\ntext\n";
    let steps = parse(text);
    let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
    assert_eq!(commands, ["one \\\n    two", "three"]);
    assert_eq!(steps[0].prints, ["out", "put"]);
    assert!(steps[1].prints.is_empty());
    let promised = |line: &str| vec![line.to_owned()];
    assert!(is_printed(&promised("echo-…"), " echo-abc \r\n"));
    assert!(is_printed(&promised("… canary"), "17 canary"));
    assert!(!is_printed(&promised("echo-…"), "beta-abc"));
    assert!(!is_printed(&promised("… canary"), "17 canary\n83 echo"));
    assert!(!is_printed(&promised("200"), ""));
}
