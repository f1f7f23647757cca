//! The command line: `run` (default), `render`, `clear-status`, `options`, `problems`, `version`, `completion`.
//!
//! Data goes to stdout, everything else to stderr. Exit 0: fine; 1: it ran and found something wrong; 2: wrong usage, or it
//! could not run.

mod args;
mod clear_status;
mod fallback;
mod logging;
mod options;
mod output;
mod problems;
mod render;
mod run;
mod version;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

pub use args::{RunArgs, SourceArgs};

/// Kubernetes ingress controller that drives an unmodified HAProxy over its master CLI.
#[derive(Debug, Parser)]
#[command(
    name = "outrigger",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 fine, 1 it ran and found something wrong, 2 wrong usage or it could not run.\n\n\
Examples:\n  \
outrigger run --external --manifests examples/quickstart\n  \
outrigger render --manifests examples/quickstart | less\n  \
outrigger --configmap=ingress/outrigger --default-backend-service=ingress/default-backend"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the controller (this is the default: its flags work without the word `run`).
    Run(Box<RunArgs>),
    /// Print the files that HAProxy would get, from manifests or from a cluster; changes nothing.
    Render(Box<render::RenderArgs>),
    /// Take the addresses out of the status of Ingresses, for the end of an installation. Takes the flags of `run`; controllers
    /// that still run write none for the next 30 seconds.
    ClearStatus(Box<RunArgs>),
    /// List and explain the keys of annotations and the ConfigMap.
    Options(options::OptionsArgs),
    /// List and explain the codes of problems.
    Problems(problems::ProblemsArgs),
    /// Print version, target, and the HAProxy and Kubernetes versions that are supported.
    Version(version::VersionArgs),
    /// Print a completion script for a shell.
    Completion {
        /// Shell.
        shell: clap_complete::Shell,
    },
}

/// Parses the command line, runs one command, gives the exit code.
pub fn main() -> ExitCode {
    // kube is built without a default TLS provider; ring is the only one in the tree, so this cannot be the second call.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let cli = Cli::try_parse().unwrap_or_else(|error| args::explain_and_exit(&error));
    let result = match cli.command {
        None => run::run(cli.run),
        Some(Command::Run(args)) => run::run(*args),
        Some(Command::Render(args)) => render::run(&args),
        Some(Command::ClearStatus(args)) => clear_status::run(&args),
        Some(Command::Options(args)) => options::run(&args),
        Some(Command::Problems(args)) => problems::run(&args),
        Some(Command::Version(args)) => version::run(&args),
        Some(Command::Completion { shell }) => completion(shell),
    };
    result.unwrap_or_else(|error| {
        output::error(&error);
        ExitCode::from(2)
    })
}

fn completion(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "outrigger", &mut script);
    output::data(&script)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_is_the_default_command() {
        let cli = Cli::try_parse_from(["outrigger", "--external", "--http-bind-port=9090"]).unwrap();
        assert!(cli.command.is_none());
        assert!(cli.run.external);
        assert_eq!(cli.run.http_bind_port, 9090);
    }

    #[test]
    fn the_peers_spellings_are_understood() {
        let cli = Cli::try_parse_from([
            "outrigger",
            "-e",
            "--ingress.class=haproxy",
            "--namespace-whitelist=a",
            "--namespace-whitelist=b",
            "--sync-period=5s",
        ])
        .unwrap();
        assert_eq!(cli.run.source.ingress_class.as_deref(), Some("haproxy"));
        assert_eq!(cli.run.source.namespace_whitelist, ["a", "b"]);
    }

    #[test]
    fn unknown_flags_and_bad_values_are_errors_with_a_hint() {
        let unknown =
            Cli::try_parse_from(["outrigger", "--default-backend-servce=a/b"]).unwrap_err().to_string();
        assert!(unknown.contains("--default-backend-service"), "{unknown}");
        let bad = Cli::try_parse_from(["outrigger", "--http-bind-port=http"]).unwrap_err().to_string();
        assert!(bad.contains("'http'") && bad.contains("--http-bind-port"), "{bad}");
        let bad = Cli::try_parse_from(["outrigger", "--default-ssl-certificate=name-only"])
            .unwrap_err()
            .to_string();
        assert!(bad.contains("namespace/name"), "{bad}");
    }

    #[test]
    fn completion_scripts_are_not_empty() {
        for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "outrigger", &mut script);
            assert!(script.len() > 1000);
        }
    }
}
