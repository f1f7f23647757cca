//! The release binary with a real API server and HAProxy 3.2: how long a change takes to be seen by a client.
//!
//! `cargo bench --bench live [-- SIZE…]`; default 1,000, 5,000 and 10,000 Ingresses, each with one host, one path and a
//! Service of its own with 3 endpoints. Runs in a network namespace of its own, in which the addresses of the "pods" are
//! local: the API server takes no loopback addresses for endpoints. See `docs/performance.md`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that cannot go on ends")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is the table")]
#![allow(clippy::cast_precision_loss, reason = "times and sizes of a benchmark")]

#[path = "../tests/support/apiserver.rs"]
mod apiserver;
#[path = "live/baseline.rs"]
mod baseline;
#[path = "live/client.rs"]
mod client;
#[path = "live/controller.rs"]
mod controller;
#[path = "live/measure.rs"]
mod measure;
#[path = "live/objects.rs"]
mod objects;

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use client::Echo;
use measure::Results;

const SIZES: [usize; 3] = [1_000, 5_000, 10_000];
/// Set inside the namespace.
const INSIDE: &str = "OUTRIGGER_BENCH_INSIDE";

fn main() -> ExitCode {
    if std::env::var_os(INSIDE).is_none() {
        return enter_namespace();
    }
    // cargo adds `--bench`.
    let sizes: Vec<usize> =
        std::env::args().skip(1).filter_map(|size| size.replace(',', "").parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::select! {
            // Dropping the measurement ends all that it started.
            _ = tokio::signal::ctrl_c() => ExitCode::from(130),
            results = all(&sizes) => {
                println!("{}", baseline::table(&results));
                ExitCode::SUCCESS
            }
        }
    })
}

async fn all(sizes: &[usize]) -> Vec<Results> {
    let _pods = Echo::start().await;
    let mut results = Vec::new();
    for &size in sizes {
        results.push(measure::run(size).await);
    }
    results
}

/// Becomes this program inside a network namespace, which ends with it.
fn enter_namespace() -> ExitCode {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/cluster/netns.sh");
    let error = Command::new(&script)
        .arg(std::env::current_exe().unwrap())
        .args(std::env::args_os().skip(1))
        .env(INSIDE, "1")
        .exec();
    eprintln!("{} could not be run: {error}", script.display());
    ExitCode::FAILURE
}
