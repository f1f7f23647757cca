//! `outrigger clear-status`: the end of an installation.

use std::process::ExitCode;

use anyhow::Context as _;

use super::RunArgs;
use super::run::{namespaces, report_settings};
use crate::{report, watch};

pub(super) fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    super::logging::start(args.log_format, &args.log_level)?;
    if args.disable_ingress_status_update {
        tracing::info!("nothing to do: --disable-ingress-status-update");
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let count = runtime.block_on(async {
        let client = watch::client(args.source.kubeconfig.clone(), args.source.context.clone()).await?;
        let settings = report_settings(args, &client);
        report::withdraw(&client, &settings, &namespaces(&args.source)).await.context(
            "the status of Ingresses could not be cleared; hint: it needs the rights of the controller",
        )
    })?;
    tracing::info!("took the addresses out of the status of {count} Ingresses");
    Ok(ExitCode::SUCCESS)
}
