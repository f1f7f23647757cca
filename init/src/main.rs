//! Seeds the shared volumes of an Outrigger pod, or restores the last good configuration, and exits.

mod arguments;

use std::io::{self, Write};
use std::process::ExitCode;

use arguments::Request;
use outrigger_init::{Families, Options, prepare};

fn main() -> ExitCode {
    // Nothing can be done about a closed standard output or error.
    let say = |text: &str| drop(writeln!(io::stdout(), "{text}"));
    let complain = |text: &str| drop(writeln!(io::stderr(), "outrigger-init: {text}"));
    let arguments = match Request::parse(std::env::args_os().skip(1), |name| std::env::var_os(name)) {
        Ok(Request::Prepare(arguments)) => arguments,
        Ok(Request::Help) => {
            say(arguments::HELP);
            return ExitCode::SUCCESS;
        }
        Ok(Request::Version) => {
            say(concat!("outrigger-init ", env!("CARGO_PKG_VERSION")));
            return ExitCode::SUCCESS;
        }
        Err(mistake) => {
            complain(&mistake);
            return ExitCode::from(2);
        }
    };
    let options =
        Options { healthz_port: arguments.healthz_port, families: Families::detect(), create_volumes: false };
    match prepare(&arguments.volumes, &options) {
        Ok(outcome) => {
            say(&format!("outrigger-init: {}: {outcome}", arguments.volumes.config.display()));
            ExitCode::SUCCESS
        }
        Err(failure) => {
            complain(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}
