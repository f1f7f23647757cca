//! The matrix of keys and branches: every key was proven by requests through every branch of HAProxy that has what it needs.
//!
//! The tests of `it` leave a note for each key and branch (`Bed::proves`); cargo runs this binary after that one. A note counts
//! when it is younger than the program that it is about. Run alone, it says what is missing: run `cargo test --workspace`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "a table is its result")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use outrigger::options;

const BRANCHES: [&str; 5] = ["2.2", "2.6", "3.0", "3.2", "3.4"];

/// Keys that a branch cannot serve: key, branches, why. The documentation of the key says so, too.
const HOLES: &[(&str, &[&str], &str)] = &[(
    "servers-increment",
    &["2.6", "3.0", "3.2", "3.4"],
    "servers are added while HAProxy runs, so there are no slots",
)];

/// Keys of other controllers that are known only to say what to use instead.
const REFUSED: &[&str] = &[
    "clean-certs",
    "cr-backend",
    "cr-defaults",
    "cr-frontend-http",
    "cr-frontend-https",
    "cr-frontend-stats",
    "cr-global",
    "quic-alt-svc-max-age",
];

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

#[test]
fn every_key_was_proven_on_every_branch() {
    let program = changed(Path::new(env!("CARGO_BIN_EXE_outrigger"))).unwrap();
    let notes = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("matrix");
    let (mut table, mut missing) = (String::new(), Vec::new());
    for key in options::keys() {
        let name = key.entry().name;
        if REFUSED.contains(&name) {
            continue;
        }
        let _ = write!(table, "{name:34}");
        for branch in BRANCHES {
            let hole = HOLES.iter().any(|(key, branches, _)| *key == name && branches.contains(&branch));
            let proven = changed(&notes.join(format!("{name}@{branch}"))).is_some_and(|note| note >= program);
            let cell = match (hole, proven) {
                (true, _) => "-",
                (false, true) => "ok",
                (false, false) => {
                    missing.push(format!("{name} on {branch}"));
                    "MISSING"
                }
            };
            let _ = write!(table, "{cell:>9}");
        }
        table.push('\n');
    }
    println!("{:34}{}", "key", BRANCHES.map(|branch| format!("{branch:>9}")).concat());
    print!("{table}");
    for (key, branches, why) in HOLES {
        println!("- {key} on {}: {why}", branches.join(", "));
    }
    assert!(missing.is_empty(), "not proven by a request: {}", missing.join(", "));
}
