//! The binary and the seed, against real file systems and real HAProxy binaries. A missing part fails.
#![allow(clippy::unwrap_used, clippy::unwrap_in_result, clippy::panic, reason = "a test fails by panicking")]

mod haproxy;
mod release;
#[path = "../../src/scratch.rs"]
mod scratch;
mod volumes;

// What the shared module `scratch` takes from its crate.
use outrigger_init::{SHARDS, Volumes, prepare_folders, seal};

/// Whether the tests run as root; if not, private mounts need a user namespace, too.
fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap();
    line.split_whitespace().nth(1) == Some("0")
}

/// `unshare` with mounts of its own, which end with the process.
fn private_mounts() -> std::process::Command {
    let mut command = std::process::Command::new("unshare");
    command.args(if is_root() { &["--mount"][..] } else { &["--mount", "--map-root-user"][..] });
    command
}
