//! `outrigger run`: wires flags, source, HAProxy and loop together.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use outrigger_init::Volumes;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::args::{ListenerArgs, RunArgs, SourceArgs};
use super::{fallback, logging};
use crate::control::{self, ports};
use crate::haproxy::{Program, Supervisor};
use crate::metrics::Metrics;
use crate::model::Listeners;
use crate::report::{self, News, Publish};
use crate::watch::{self, ClusterOptions, Source};
use crate::{admin, translate};

pub(super) fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    logging::start(args.log_format, &args.log_level)?;
    if args.pprof
        && let Err(error) = outrigger_profiler::restart_with_sampling()
    {
        tracing::warn!(%error, "there will be no heap profile: the allocator could not be told to sample");
    }
    // One thread: an update is a chain of short steps and answers, and handing each to another thread took longer than the step.
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the async runtime could not be started")?
        .block_on(run_async(args))
}

async fn run_async(args: RunArgs) -> anyhow::Result<ExitCode> {
    tracing::info!(version = env!("CARGO_PKG_VERSION"), external = args.external, "outrigger starts");
    if let Some(period) = &args.sync_period {
        tracing::info!(period, "--sync-period is not needed: changes are applied when they happen");
    }
    let stop = CancellationToken::new();
    let tasks = TaskTracker::new();
    stop_on_signals(&stop)?;

    let volumes = volumes(&args);
    let master_socket = args.master_socket.clone().unwrap_or_else(|| volumes.master_socket());
    let listeners = listeners(&args.listeners)?;
    let supervisor = if args.external {
        let outcome = outrigger_init::prepare(
            &volumes,
            &outrigger_init::Options {
                healthz_port: args.healthz_bind_port,
                families: outrigger_init::Families {
                    ipv4: listeners.ipv4.is_some(),
                    ipv6: listeners.ipv6.is_some(),
                },
                create_volumes: true,
            },
        )?;
        tracing::info!("{outcome}");
        let program = Program {
            program: args.program.clone(),
            config: volumes.config.clone(),
            master_socket: master_socket.clone(),
        };
        Some(Supervisor::start(program).await.with_context(|| {
            format!(
                "{} could not be started; hint: --program names the HAProxy to run",
                args.program.display()
            )
        })?)
    } else {
        outrigger_init::prepare_folders(&volumes)?;
        None
    };
    admin::serve_default_backend(args.default_backend_port, &tasks, &stop);

    let fallback = fallback::load_or_generate(&volumes.state)?;
    let settings = |metrics, news| control::Settings {
        volumes,
        master_socket,
        translate: translate_settings(&args.source, listeners, fallback),
        reload_interval: args.reload_interval,
        metrics,
        news,
    };
    let result = match source(&args.source).await {
        Ok((source, client)) => {
            let metrics = Arc::new(Metrics::new(source.counters.clone()));
            let shown = admin::Shown { metrics: args.prometheus, profiles: args.pprof };
            admin::serve_controller(args.controller_port, shown, metrics.clone(), &tasks, &stop);
            let news = client.and_then(|client| talk_back(&args, &client, &metrics, &tasks, &stop));
            control::run(settings(metrics, news), source, stop.clone()).await
        }
        Err(error) => Err(error),
    };
    stop.cancel();
    if let Some(supervisor) = supervisor {
        supervisor.stop(args.grace_period).await;
    }
    tasks.close();
    tasks.wait().await;
    tracing::info!("outrigger stops");
    result.map(|()| ExitCode::SUCCESS)
}

/// Status and Events, when this is a pod of the cluster, or when flags say where it is reached.
fn talk_back(
    args: &RunArgs,
    client: &kube::Client,
    metrics: &Arc<Metrics>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) -> Option<UnboundedSender<News>> {
    let settings = report_settings(args, client);
    if args.pod_name.is_none() && settings.publish == Publish::Nodes {
        return None;
    }
    Some(report::start(client, &settings, metrics, tasks, stop))
}

/// Who this controller is, and what it may say.
pub(super) fn report_settings(args: &RunArgs, client: &kube::Client) -> report::Settings {
    let publish = match (&args.source.publish_service, args.publish_address.as_slice()) {
        (_, [_, ..]) => Publish::Addresses(args.publish_address.clone()),
        (Some(service), []) => Publish::Service(service.clone()),
        (None, []) => Publish::Nodes,
    };
    let host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    report::Settings {
        identity: args.pod_name.clone().unwrap_or_else(host),
        namespace: args.pod_namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned()),
        election_id: args.election_id.clone(),
        publish,
        status: !args.disable_ingress_status_update,
        clear_status: args.clear_status_on_exit,
    }
}

/// The namespaces that are watched; empty: all.
pub(super) fn namespaces(args: &SourceArgs) -> BTreeSet<String> {
    args.namespace_whitelist.iter().chain(&args.watch_namespace).cloned().collect()
}

/// SIGTERM and SIGINT stop in order; a second one ends the process at once.
fn stop_on_signals(stop: &CancellationToken) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be handled")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be handled")?;
    let stop = stop.clone();
    tokio::spawn(async move {
        for round in 0.. {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if round > 0 {
                super::args::end_at_once();
            }
            tracing::info!("stopping");
            stop.cancel();
        }
    });
    Ok(())
}

fn volumes(args: &RunArgs) -> Volumes {
    let standard = Volumes::default();
    let (config, run) = if args.external {
        (PathBuf::from("/tmp/outrigger/etc"), PathBuf::from("/tmp/outrigger/run"))
    } else {
        (standard.config, standard.run)
    };
    let config = args.config_dir.clone().unwrap_or(config);
    let state = match &args.state_dir {
        Some(state) => state.clone(),
        None if args.external => config.join("state"),
        None => standard.state,
    };
    Volumes { config, state, run: args.runtime_dir.clone().unwrap_or(run) }
}

/// Families that the machine has, unless flags say otherwise.
pub(super) fn listeners(args: &ListenerArgs) -> anyhow::Result<Listeners> {
    let listeners = Listeners {
        ipv4: (!args.disable_ipv4 && ports::has_ipv4()).then_some(args.ipv4_bind_address),
        ipv6: (!args.disable_ipv6 && ports::has_ipv6()).then_some(args.ipv6_bind_address),
        http: (!args.disable_http).then_some(args.http_bind_port),
        https: (!args.disable_https).then_some(args.https_bind_port),
        stats: args.stats_bind_port,
        healthz: args.healthz_bind_port,
    };
    anyhow::ensure!(
        listeners.ipv4.is_some() || listeners.ipv6.is_some(),
        "no address family to listen on; hint: remove --disable-ipv4 or --disable-ipv6"
    );
    Ok(listeners)
}

/// The part of the settings that decides about translation.
pub(super) fn translate_settings(
    args: &SourceArgs,
    listeners: Listeners,
    fallback: bytes::Bytes,
) -> translate::Settings {
    translate::Settings {
        controller_class: args.controller_class.clone(),
        ingress_class: args.ingress_class.clone(),
        empty_ingress_class: args.empty_ingress_class,
        default_backend: args.default_backend_service.clone(),
        default_certificate: args.default_ssl_certificate.clone(),
        fallback_certificate: fallback,
        config_map: args.configmap.clone(),
        error_files: args.configmap_errorfiles.clone(),
        pattern_files: args.configmap_patternfiles.clone(),
        tcp_services: args.configmap_tcp_services.clone(),
        publish_service: args.publish_service.clone(),
        external_names: !args.disable_service_external_name,
        snippets: args.snippet_rules(),
        listeners,
        loopback_endpoints: !args.manifests.is_empty(),
    }
}

/// Manifests when given, a cluster otherwise, with the client to talk back to it.
pub(super) async fn source(args: &SourceArgs) -> anyhow::Result<(Source, Option<kube::Client>)> {
    if !args.manifests.is_empty() {
        return Ok((watch::manifests(args.manifests.clone(), watch::ManifestOptions::default()), None));
    }
    let client = watch::client(args.kubeconfig.clone(), args.context.clone()).await?;
    let only = namespaces(args);
    let namespaces = (!only.is_empty()).then_some(only);
    let source = watch::cluster(
        client.clone(),
        ClusterOptions {
            // A Role cannot grant IngressClass, which has no namespace.
            classes_optional: namespaces.is_some(),
            namespaces,
            blacklist: args.namespace_blacklist.iter().cloned().collect(),
            config_maps: [
                &args.configmap,
                &args.configmap_errorfiles,
                &args.configmap_patternfiles,
                &args.configmap_tcp_services,
            ]
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
            services: args
                .default_backend_service
                .iter()
                .map(|(name, _)| name)
                .chain(&args.publish_service)
                .cloned()
                .collect(),
        },
    );
    Ok((source, Some(client)))
}
