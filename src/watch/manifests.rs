//! Manifest files as a [`Source`]: YAML or JSON with the objects that a cluster would have, watched by looking at the files.
//!
//! Files are looked at (`stat`), not subscribed to: it works on every file system and in every container, and one look at a
//! folder of a few hundred files costs well under a millisecond.

mod custom;
mod document;
mod shelf;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tracing::{error, info};

use super::counters::{Counters, add};
use super::{Event, Interest, Source};
use crate::cluster::{Change, Kind, Object};
use crate::problem::Problem;
use shelf::{Shelf, Update};

/// The kinds that manifests may hold.
const KINDS: [Kind; 6] =
    [Kind::Ingress, Kind::IngressClass, Kind::Service, Kind::EndpointSlice, Kind::Secret, Kind::ConfigMap];

/// How to watch manifests.
#[derive(Debug, Clone)]
pub struct ManifestOptions {
    /// Time between two looks at the files.
    pub interval: Duration,
}

impl Default for ManifestOptions {
    fn default() -> Self {
        Self { interval: Duration::from_millis(100) }
    }
}

/// Starts to watch files and folders (all `*.yaml`, `*.yml`, `*.json` in them); `-` is the standard input, read once.
///
/// Where two files have the same object, the later one wins: in order of `paths`, and by name within a folder. Must be called inside
/// a tokio runtime; everything ends when the receiver of events is dropped.
pub fn manifests(paths: Vec<PathBuf>, options: ManifestOptions) -> Source {
    let (events, events_out) = mpsc::channel(64);
    let (interest, interest_in) = mpsc::unbounded_channel();
    let counters = Arc::new(Counters::default());
    tokio::spawn(run(Shelf::new(paths), options, events, interest_in, counters.clone()));
    Source { events: events_out, kinds: BTreeSet::from(KINDS), interest, counters }
}

/// Reads files and folders once: the objects and what is wrong with the files.
pub fn read_once(paths: Vec<PathBuf>) -> (Vec<Object>, Vec<Problem>) {
    let update = Shelf::new(paths).look();
    let problems = update.problems.into_iter().flat_map(|(_, problems)| problems).collect();
    let objects = update.changes.into_iter().filter_map(|change| match change {
        Change::Upsert(object) => Some(object),
        Change::Delete(_) | Change::Relist { .. } => None,
    });
    (objects.collect(), problems)
}

async fn run(
    mut shelf: Shelf,
    options: ManifestOptions,
    events: mpsc::Sender<Event>,
    mut interest: mpsc::UnboundedReceiver<Interest>,
    counters: Arc<Counters>,
) {
    let mut is_first = true;
    loop {
        let start = Instant::now();
        let looked = tokio::task::spawn_blocking(move || {
            let update = shelf.look();
            (shelf, update)
        });
        let Ok((back, update)) = looked.await else {
            error!("the task that reads manifests ended, manifests are not watched any more");
            return;
        };
        shelf = back;
        // Secrets lie in the files like everything else, so nobody's interest matters; only do not let it pile up.
        while interest.try_recv().is_ok() {}
        if let Some(skipped) = &update.skipped {
            info!("skipped {skipped}");
        }
        // Thousands of files are looked at less often, so that looking costs at most a twentieth of a CPU.
        let longest = options.interval.max(start.elapsed() * 20);
        let pause = update.look_again.unwrap_or(longest).min(longest);
        for event in say(update, std::mem::take(&mut is_first), &counters) {
            if events.send(event).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = events.closed() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// An update as events: at first every kind is listed, later only what changed.
fn say(update: Update, is_first: bool, counters: &Counters) -> Vec<Event> {
    let mut events = Vec::new();
    let errors = update.problems.iter().filter(|(_, problems)| !problems.is_empty()).count();
    add(&counters.of(Kind::File).errors, errors);
    if is_first {
        events.push(Event::Changes(relists(update.changes)));
        events
            .extend(update.problems.into_iter().map(|(origin, problems)| Event::Problems(origin, problems)));
        for kind in KINDS {
            add(&counters.of(kind).relists, 1);
            events.push(Event::Listed(kind));
        }
        return events;
    }
    for change in &update.changes {
        let kind = match change {
            Change::Upsert(object) => object.reference().kind,
            Change::Delete(reference) => reference.kind,
            Change::Relist { kind, .. } => *kind,
        };
        add(&counters.of(kind).events, 1);
    }
    if !update.changes.is_empty() {
        events.push(Event::Changes(update.changes));
    }
    events.extend(update.problems.into_iter().map(|(origin, problems)| Event::Problems(origin, problems)));
    events
}

fn relists(changes: Vec<Change>) -> Vec<Change> {
    let mut relists: Vec<(Kind, Vec<Object>)> = KINDS.map(|kind| (kind, Vec::new())).into();
    for change in changes {
        if let Change::Upsert(object) = change {
            let kind = object.reference().kind;
            relists
                .iter_mut()
                .filter(|(k, _)| *k == kind)
                .for_each(|(_, objects)| objects.push(object.clone()));
        }
    }
    relists.into_iter().map(|(kind, objects)| Change::Relist { kind, namespace: None, objects }).collect()
}
