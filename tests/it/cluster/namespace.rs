//! A network namespace for this process's tests: pods have addresses there, and no other program takes its ports.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Moves the calling thread in; threads and processes that it starts are inside, too (setns(2): a network namespace belongs
/// to a thread). Call it on a thread of its own.
pub(super) fn enter() {
    static NAMESPACE: OnceLock<File> = OnceLock::new();
    let namespace = NAMESPACE.get_or_init(make);
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
        .expect("root may enter its namespace");
}

/// Makes one; it lives as long as the open file.
fn make() -> File {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/cluster/netns.sh");
    let mut holder = Command::new(script)
        .args(["sh", "-c", "echo ready; read -r _"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "{script} makes a network namespace (root may: unshare --net)");
    // The script replaces itself by what it runs, so the process is inside.
    let namespace = File::open(format!("/proc/{}/ns/net", holder.id())).unwrap();
    drop(holder.stdin.take());
    holder.wait().unwrap();
    namespace
}
