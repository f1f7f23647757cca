//! Sources of cluster state: a real cluster, or manifest files. Both send the same [`Event`]s.
//!
//! Kubernetes' own types stop at `convert`: what leaves this module are the slim types of [`crate::cluster`].

mod client;
mod cluster_source;
mod convert;
mod counters;
mod manifests;

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::cluster::{Change, Kind, ObjectName, Origin};
use crate::problem::Problem;

pub use client::{ClientError, client};
pub use cluster_source::{ClusterOptions, cluster};
pub use counters::{Counters, KindCounters};
pub use manifests::{ManifestOptions, manifests, read_once};

/// What a source says.
#[derive(Debug)]
pub enum Event {
    /// Objects changed; a relist is one change.
    Changes(Vec<Change>),
    /// This kind has been listed completely at least once (sent once per kind, after its first changes).
    Listed(Kind),
    /// The problems of one origin (a file, a watch) are exactly these now; empty when mended.
    Problems(Origin, Vec<Problem>),
}

/// Which Secrets are referred to; a cluster source keeps and fetches only those. A manifest source ignores it.
#[derive(Debug, Clone)]
pub enum Interest {
    /// Something refers to these now (added to what was referred to before). The first message, even when empty, starts the
    /// watch of Secrets.
    Add(BTreeSet<ObjectName>),
    /// Nothing refers to these any more.
    Release(BTreeSet<ObjectName>),
}

/// A running source.
#[derive(Debug)]
pub struct Source {
    /// What it says; the channel closes when the source ends for good.
    pub events: mpsc::Receiver<Event>,
    /// The kinds that must be listed before anything is planned.
    pub kinds: BTreeSet<Kind>,
    /// Where to say which Secrets matter.
    pub interest: mpsc::UnboundedSender<Interest>,
    /// How much happened, for metrics.
    pub counters: Arc<Counters>,
}
