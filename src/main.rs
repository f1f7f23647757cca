//! The controller's program; everything is in the library.

use std::process::ExitCode;

/// What the heap profile of `--pprof` comes from; without that flag it samples nothing.
#[global_allocator]
static ALLOCATOR: outrigger_profiler::Allocator = outrigger_profiler::Allocator;

fn main() -> ExitCode {
    outrigger::cli::main()
}
