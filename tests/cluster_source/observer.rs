//! Follows a source: applies what it says to a snapshot and checks what must always hold.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use outrigger::cluster::{Change, Kind, Object, ObjectName, Origin, Snapshot};
use outrigger::problem::Problem;
use outrigger::watch::{Event, Interest, Source};

const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) struct Observer {
    pub(crate) source: Source,
    pub(crate) snapshot: Snapshot,
    pub(crate) listed: BTreeSet<Kind>,
    pub(crate) problems: BTreeMap<Origin, Vec<Problem>>,
    /// The most lists in one event.
    pub(crate) largest_relists: usize,
    /// All Secrets that were ever told.
    pub(crate) secrets_ever: BTreeSet<ObjectName>,
    /// Ingresses that must be there after each event.
    kept: Vec<ObjectName>,
}

impl Observer {
    pub(crate) fn of(source: Source) -> Self {
        Self {
            source,
            snapshot: Snapshot::default(),
            listed: BTreeSet::new(),
            problems: BTreeMap::new(),
            largest_relists: 0,
            secrets_ever: BTreeSet::new(),
            kept: Vec::new(),
        }
    }

    pub(crate) fn care(&self, interest: Interest) {
        self.source.interest.send(interest).unwrap();
    }

    /// From now on this Ingress must never be missing.
    pub(crate) fn keep(&mut self, ingress: ObjectName) {
        self.kept.push(ingress);
    }

    /// Takes events until this holds.
    pub(crate) async fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = Instant::now() + DEADLINE;
        while !holds(self) {
            assert!(Instant::now() < end, "waited in vain until {what}; problems: {:?}", self.problems);
            // Counters move without an event, so look at them now and then.
            if let Ok(event) =
                tokio::time::timeout(Duration::from_millis(50), self.source.events.recv()).await
            {
                self.take(event.expect("the source goes on"));
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Changes(changes) => {
                let relists = changes.iter().filter(|change| matches!(change, Change::Relist { .. })).count();
                self.largest_relists = self.largest_relists.max(relists);
                for change in changes {
                    self.note_secrets(&change);
                    self.snapshot.apply(change, &mut BTreeSet::new());
                }
                for name in &self.kept {
                    assert!(self.snapshot.ingresses.contains_key(name), "{name} vanished");
                }
            }
            Event::Listed(kind) => assert!(self.listed.insert(kind), "{kind} is listed twice"),
            Event::Problems(origin, problems) if problems.is_empty() => {
                self.problems.remove(&origin);
            }
            Event::Problems(origin, problems) => {
                self.problems.insert(origin, problems);
            }
        }
    }

    fn note_secrets(&mut self, change: &Change) {
        let objects = match change {
            Change::Upsert(object) => std::slice::from_ref(object),
            Change::Relist { objects, .. } => objects,
            Change::Delete(_) => &[],
        };
        for object in objects {
            if let Object::Secret(secret) = object {
                self.secrets_ever.insert(secret.name.clone());
            }
        }
    }

    /// The addresses of a Service.
    pub(crate) fn addresses(&self, service: &ObjectName) -> Vec<String> {
        let endpoints = self.snapshot.slices_of(service).flat_map(|slice| &slice.endpoints);
        endpoints.map(|endpoint| endpoint.address.to_string()).collect()
    }

    /// The key `text` of a Secret.
    pub(crate) fn secret(&self, namespace: &str, name: &str) -> Option<String> {
        let secret = self.snapshot.secrets.get(&ObjectName::new(namespace, name))?;
        Some(String::from_utf8_lossy(&secret.data["text"]).into_owned())
    }
}
