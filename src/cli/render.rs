//! `outrigger render`: the files that HAProxy would get, without touching anything.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use outrigger_init::Volumes;

use super::args::{ListenerArgs, SourceArgs};
use super::{fallback, output, run};
use crate::cluster::{Change, Kind, Snapshot};
use crate::model::{Capabilities, Version};
use crate::plan::{FileId, Texts};
use crate::problem::Severity;
use crate::render::Renderer;
use crate::translate::Translator;
use crate::watch::{self, Event, Interest};

/// Flags of `render`.
#[derive(Debug, Args)]
pub(super) struct RenderArgs {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    listeners: ListenerArgs,
    /// Render for this HAProxy branch.
    #[arg(long, value_name = "MAJOR.MINOR", default_value = "3.2", value_parser = capabilities, help_heading = "Output")]
    haproxy_version: Capabilities,
    /// Write the files below this folder, certificates with their keys included, instead of printing them (keys are never
    /// printed).
    #[arg(long, value_name = "DIR", help_heading = "Output", value_hint = clap::ValueHint::DirPath)]
    output_dir: Option<PathBuf>,
}

fn capabilities(text: &str) -> Result<Capabilities, String> {
    Version::parse(text).and_then(Capabilities::of).ok_or_else(|| {
        format!("expected a branch from {} on, for example {}", Version::OLDEST, Version::NEWEST)
    })
}

/// Exit code 1 when an object has a problem of severity error; the files are printed all the same.
pub(super) fn run(args: &RenderArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut problems = Vec::new();
    let listeners = run::listeners(&args.listeners)?;
    let settings = run::translate_settings(&args.source, listeners, fallback::generate()?);
    let mut translator = Translator::new(settings.clone());
    let snapshot = if args.source.manifests.is_empty() {
        runtime.block_on(from_cluster(&args.source, &mut translator))?
    } else {
        let (objects, found) = watch::read_once(args.source.manifests.clone());
        problems.extend(found);
        let mut snapshot = Snapshot::default();
        for object in objects {
            snapshot.apply(Change::Upsert(object), &mut std::collections::BTreeSet::new());
        }
        snapshot
    };
    // What the snapshot holds beyond an earlier look of `from_cluster` is found by a translator of its own.
    let mut translator = Translator::new(settings);
    translator.update(&snapshot, &std::collections::BTreeSet::new());
    problems.extend(translator.problems().cloned());

    let volumes = Volumes::default();
    let renderer = Renderer::new(volumes.clone(), args.haproxy_version);
    let texts = renderer.full(translator.model(), &Texts::default());
    match &args.output_dir {
        Some(folder) => write(&texts, &volumes, folder)?,
        None => print(&texts, &volumes)?,
    }
    for problem in &problems {
        output::note(&problem.to_string());
    }
    let failed = problems.iter().any(|problem| problem.severity == Severity::Error);
    Ok(ExitCode::from(u8::from(failed)))
}

/// Lists everything once.
async fn from_cluster(args: &SourceArgs, translator: &mut Translator) -> anyhow::Result<Snapshot> {
    let (mut source, _) = run::source(args).await?;
    let mut unlisted = source.kinds.clone();
    let (mut snapshot, mut changed) = (Snapshot::default(), std::collections::BTreeSet::new());
    while !unlisted.is_empty() {
        match source.events.recv().await.context("the API server could not be read")? {
            Event::Changes(news) => {
                for change in news {
                    snapshot.apply(change, &mut changed);
                }
            }
            Event::Listed(kind) => {
                unlisted.remove(&kind);
            }
            Event::Problems(_, problems) => {
                if let Some(problem) = problems.first() {
                    anyhow::bail!("{problem}");
                }
            }
        }
        if unlisted.len() == 1 && unlisted.contains(&Kind::Secret) {
            let update = translator.update(&snapshot, &std::mem::take(&mut changed));
            source
                .interest
                .send(Interest::Add(update.secrets_added))
                .context("the watch of Secrets ended")?;
        }
    }
    Ok(snapshot)
}

/// One stream with a header per file; empty shards are left out, keys are not printed.
fn print(texts: &Texts, volumes: &Volumes) -> anyhow::Result<()> {
    let mut stream = String::new();
    let mut files = texts.files();
    // The main file first: it is what people look for.
    files.rotate_right(1);
    for id in files {
        let path = id.path(volumes);
        if matches!(id, FileId::Certificate(_) | FileId::DefaultCertificate) {
            writeln!(stream, "# ---- {} (certificate and key, not printed)", path.display())?;
        } else if let Some(text) = texts.file(&id, volumes) {
            let text = String::from_utf8_lossy(&text);
            if outrigger_init::unseal(&text) != Some("") {
                write!(stream, "# ---- {}\n{text}", path.display())?;
            }
        }
    }
    output::data(stream.as_bytes())
}

fn write(texts: &Texts, volumes: &Volumes, folder: &std::path::Path) -> anyhow::Result<()> {
    let place = |path: &std::path::Path| folder.join(path.strip_prefix("/").unwrap_or(path));
    let put = |path: &std::path::Path, bytes: &[u8]| {
        let path = place(path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent)
            .with_context(|| format!("{} could not be created", parent.display()))?;
        outrigger_init::write_atomic(&path, bytes, outrigger_init::FILE_MODE)?;
        anyhow::Ok(())
    };
    for id in texts.files() {
        if let Some(bytes) = texts.file(&id, volumes) {
            put(&id.path(volumes), &bytes)?;
        }
    }
    output::note(&format!("written below {}", folder.display()));
    Ok(())
}
