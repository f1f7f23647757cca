//! The controller's program; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    outrigger::cli::main()
}
