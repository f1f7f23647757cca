//! `outrigger version`.

use std::process::ExitCode;

use clap::Args;

use super::output;
use crate::model::Version;

/// Flags of `version`.
#[derive(Debug, Args)]
pub(super) struct VersionArgs {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Output {
    Text,
    Json,
}

pub(super) fn run(args: &VersionArgs) -> anyhow::Result<ExitCode> {
    let version = env!("CARGO_PKG_VERSION");
    let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let haproxy = format!("{} to {}", Version::OLDEST, Version::NEWEST);
    let text = match args.output {
        Output::Text => {
            format!("outrigger {version} ({target})\nHAProxy    {haproxy}\nKubernetes 1.25 or newer\n")
        }
        Output::Json => {
            let value = serde_json::json!({
                "version": 1, "outrigger": version, "target": target,
                "haproxy": {"oldest": Version::OLDEST.to_string(), "newest": Version::NEWEST.to_string()},
            });
            format!("{value}\n")
        }
    };
    output::data(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
