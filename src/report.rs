//! Talking back to the cluster: Events on objects, the addresses of served Ingresses, and who of several controllers says so.
//!
//! Every controller serves; the leader alone writes. The loop says what it found out ([`News`]), without waiting: a slow API
//! server never holds up traffic.

mod addresses;
mod events;
mod leader;
mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube::Client;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cluster::ObjectName;
use crate::metrics::Metrics;
use crate::problem::Problem;

pub use addresses::Publish;

/// What the loop found out.
#[derive(Debug, Clone)]
pub enum News {
    /// A Problem has lasted.
    Found(Problem),
    /// It is mended.
    Mended(Problem),
    /// The Ingresses that are served now are these.
    Served(Arc<BTreeSet<ObjectName>>),
}

/// Who this controller is, and what it may say.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of this pod, unique among the controllers (`POD_NAME`, else the host name).
    pub identity: String,
    /// Namespace of the Lease (`POD_NAMESPACE`).
    pub namespace: String,
    /// Name of the Lease (`--election-id`).
    pub election_id: String,
    /// Where the addresses of Ingresses come from.
    pub publish: Publish,
    /// Write Ingress status (not `--disable-ingress-status-update`).
    pub status: bool,
    /// Take the addresses back when the leader stops (`--clear-status-on-exit`).
    pub clear_status: bool,
}

/// Starts talking; the sender never blocks.
pub fn start(
    client: &Client,
    settings: &Settings,
    metrics: &Arc<Metrics>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) -> mpsc::UnboundedSender<News> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let leads = leader::elect(client.clone(), settings, metrics.clone(), tasks, stop.clone());
    let (problems_out, problems) = watch::channel(BTreeMap::new());
    let (served_out, served) = watch::channel(Arc::new(BTreeSet::new()));
    tasks.spawn(route(receiver, problems_out, served_out));
    tasks.spawn(events::run(client.clone(), settings.clone(), problems, leads.clone(), stop.clone()));
    if settings.status {
        tasks.spawn(status::run(client.clone(), settings.clone(), served, leads, stop.clone()));
    }
    sender
}

/// For the end of an installation: whoever leads writes no more, and the addresses go out of the status of Ingresses. Gives the
/// number of Ingresses. `namespaces` as they are watched, none for all.
pub async fn withdraw(
    client: &Client,
    settings: &Settings,
    namespaces: &BTreeSet<String>,
) -> Result<usize, kube::Error> {
    leader::take_for_good(client, settings).await?;
    let addresses = settings.publish.look(client).await?;
    if addresses.is_empty() {
        return Ok(0);
    }
    status::clear_all(client, namespaces, &addresses).await
}

/// Problems that are there now, each with the number of the news that brought it: one that comes again is news again.
type Standing = BTreeMap<Problem, u64>;

/// Keeps what is true now, so that a new leader says what an old one had no time to say.
async fn route(
    mut news: mpsc::UnboundedReceiver<News>,
    problems: watch::Sender<Standing>,
    served: watch::Sender<Arc<BTreeSet<ObjectName>>>,
) {
    let mut number = 0;
    while let Some(news) = news.recv().await {
        number += 1;
        match news {
            News::Found(problem) => problems.send_modify(|standing| {
                standing.insert(problem, number);
            }),
            News::Mended(problem) => problems.send_modify(|standing| {
                standing.remove(&problem);
            }),
            News::Served(ingresses) => {
                served.send_if_modified(|now| {
                    let differs = **now != *ingresses;
                    *now = ingresses;
                    differs
                });
            }
        }
    }
}
