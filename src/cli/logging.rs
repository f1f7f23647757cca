//! Logs to stderr: text or JSON, one event a line.

use std::io::IsTerminal;

use anyhow::Context;
use tracing_subscriber::EnvFilter;

/// Log format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One readable line per event.
    Text,
    /// One JSON object per event.
    Json,
}

/// Starts logging for the whole process.
pub(super) fn start(format: Format, filter: &str) -> anyhow::Result<()> {
    // kube's own warnings repeat what a Problem says better, and may hold the body of an answer, Secrets included.
    let filter =
        EnvFilter::try_new(format!("kube_client=error,kube_runtime=error,{filter}")).with_context(|| {
            format!("--log-level `{filter}` is not a filter; hint: use error, warn, info, debug or trace")
        })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        Format::Text => builder.with_ansi(std::io::stderr().is_terminal()).with_target(false).try_init(),
        Format::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("logging could not be started: {error}"))
}
