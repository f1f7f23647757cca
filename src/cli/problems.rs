//! `outrigger problems`: what the codes mean.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::output;
use crate::problem::Code;

/// Flags of `problems`.
#[derive(Debug, Args)]
pub(super) struct ProblemsArgs {
    #[command(subcommand)]
    command: ProblemsCommand,
}

#[derive(Debug, Subcommand)]
enum ProblemsCommand {
    /// One line per code, with what it means.
    List,
    /// What a code means, and what to do about it.
    Show {
        /// The code.
        code: String,
    },
}

pub(super) fn run(args: &ProblemsArgs) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    match &args.command {
        ProblemsCommand::List => {
            let width = Code::all().map(|code| code.as_str().len()).max().unwrap_or_default();
            for code in Code::all() {
                let meaning = code.docs().map_or("", |docs| docs.meaning);
                let _ = writeln!(text, "{:width$}  {meaning}", code.as_str());
            }
        }
        ProblemsCommand::Show { code } => {
            let docs = Code::all().find(|known| known.as_str() == code).and_then(Code::docs);
            let Some(docs) = docs else {
                anyhow::bail!(
                    "`{code}` is no code of a problem\n\nhint: `outrigger problems list` shows all codes"
                );
            };
            let _ = writeln!(text, "{code}\n  {}\n\n  what to do  {}", docs.meaning, docs.remedy);
        }
    }
    output::data(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
