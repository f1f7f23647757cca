//! Leader election on a Lease (`coordination.k8s.io/v1`), as client-go does it: whoever holds the Lease renews it, the others
//! take it over when it was not renewed for its duration. Time is this machine's own: a Lease is stale when *this* process saw
//! no renewal for that long, so clocks need not agree.

use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::{Client, Error};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Settings;
use crate::metrics::Metrics;

/// How long a Lease counts without renewal.
const DURATION: Duration = Duration::from_secs(15);
/// The holder renews this often, the others look this often.
const PERIOD: Duration = Duration::from_secs(3);
/// A holder that could not renew for this long stops leading, before another may begin.
const GIVE_UP: Duration = Duration::from_secs(10);

/// Nobody leads for so long after the Lease was taken for good: longer than a controller usually lives on when its pod is deleted.
const HELD: Duration = Duration::from_secs(30);

/// Takes the Lease from whoever holds it and leads nobody: comes back when the holder has seen it, and writes no more.
pub(super) async fn take_for_good(client: &Client, settings: &Settings) -> Result<(), Error> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), &settings.namespace);
    loop {
        // Nobody ever led.
        let Some(lease) = leases.get_opt(&settings.election_id).await? else { return Ok(()) };
        // Never the name of a controller: it may run in the pod of the one that leads.
        let identity = format!("{}-clear-status", settings.identity);
        let lease = Lease { spec: Some(held_by(&identity, HELD, lease.spec.as_ref())), ..lease };
        if won(leases.replace(&settings.election_id, &PostParams::default(), &lease).await)? {
            break;
        }
    }
    // It looks every period, and a look may take a while.
    tokio::time::sleep(PERIOD * 2).await;
    Ok(())
}

/// Takes part in the election until `stop`; says whether this controller leads.
pub(super) fn elect(
    client: Client,
    settings: &Settings,
    metrics: Arc<Metrics>,
    tasks: &TaskTracker,
    stop: CancellationToken,
) -> watch::Receiver<bool> {
    let (leads, receiver) = watch::channel(false);
    let mut candidate = Candidate {
        leases: Api::namespaced(client, &settings.namespace),
        name: settings.election_id.clone(),
        identity: settings.identity.clone(),
        seen: None,
        renewed: Instant::now(),
        leads,
        metrics,
    };
    tasks.spawn(async move {
        while !stop.is_cancelled() {
            candidate.turn().await;
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(PERIOD) => {}
            }
        }
        candidate.step_down().await;
    });
    receiver
}

struct Candidate {
    leases: Api<Lease>,
    name: String,
    identity: String,
    /// The Lease as it was seen last, and when it was seen to differ.
    seen: Option<(LeaseSpec, Instant)>,
    /// When this controller renewed it last.
    renewed: Instant,
    leads: watch::Sender<bool>,
    metrics: Arc<Metrics>,
}

impl Candidate {
    async fn turn(&mut self) {
        match self.try_to_lead().await {
            Ok(true) => {
                self.renewed = Instant::now();
                self.say(true);
            }
            Ok(false) => self.say(false),
            Err(error) => {
                tracing::debug!(%error, lease = self.name, "the Lease could not be read or written");
                if self.renewed.elapsed() > GIVE_UP {
                    self.say(false);
                }
            }
        }
    }

    /// One look at the Lease; true when this controller holds it now.
    async fn try_to_lead(&mut self) -> Result<bool, Error> {
        let Some(lease) = self.leases.get_opt(&self.name).await? else {
            let lease = Lease {
                metadata: ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() },
                spec: Some(self.spec(None)),
            };
            return won(self.leases.create(&PostParams::default(), &lease).await);
        };
        let spec = lease.spec.clone().unwrap_or_default();
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != spec) {
            self.seen = Some((spec.clone(), Instant::now()));
        }
        let holder = spec.holder_identity.as_deref().unwrap_or_default();
        let counts = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let counts = counts.map_or(DURATION, Duration::from_secs);
        let is_stale = self.seen.as_ref().is_some_and(|(_, since)| since.elapsed() > counts);
        if holder != self.identity && !holder.is_empty() && !is_stale {
            return Ok(false);
        }
        // The resource version in it makes this fail when somebody else was faster.
        let lease = Lease { spec: Some(self.spec(Some(&spec))), ..lease };
        won(self.leases.replace(&self.name, &PostParams::default(), &lease).await)
    }

    /// The Lease with this controller as its holder.
    fn spec(&self, before: Option<&LeaseSpec>) -> LeaseSpec {
        held_by(&self.identity, DURATION, before)
    }

    fn say(&self, leads: bool) {
        let changed = self.leads.send_if_modified(|now| std::mem::replace(now, leads) != leads);
        self.metrics.leads(leads);
        if changed && leads {
            tracing::info!(
                lease = self.name,
                identity = self.identity,
                "this controller leads: it writes status and Events"
            );
        } else if changed {
            tracing::info!(lease = self.name, "this controller leads no longer");
        }
    }

    /// Gives the Lease back, so that another need not wait for it.
    async fn step_down(&mut self) {
        let led = *self.leads.borrow();
        self.say(false);
        if !led {
            return;
        }
        let Ok(Some(lease)) = self.leases.get_opt(&self.name).await else { return };
        let spec = lease.spec.clone().unwrap_or_default();
        if spec.holder_identity.as_deref() == Some(&self.identity) {
            let spec =
                LeaseSpec { holder_identity: Some(String::new()), lease_duration_seconds: Some(1), ..spec };
            let lease = Lease { spec: Some(spec), ..lease };
            if let Err(error) = self.leases.replace(&self.name, &PostParams::default(), &lease).await {
                tracing::debug!(%error, "the Lease could not be given back");
            }
        }
    }
}

/// The Lease, renewed or taken now, as it counts for so long.
fn held_by(identity: &str, duration: Duration, before: Option<&LeaseSpec>) -> LeaseSpec {
    let now = Some(MicroTime(Timestamp::now()));
    let is_ours = before.is_some_and(|spec| spec.holder_identity.as_deref() == Some(identity));
    let transitions = before.and_then(|spec| spec.lease_transitions).unwrap_or(0);
    LeaseSpec {
        holder_identity: Some(identity.to_owned()),
        lease_duration_seconds: Some(duration.as_secs().try_into().unwrap_or(i32::MAX)),
        acquire_time: if is_ours { before.and_then(|spec| spec.acquire_time.clone()) } else { now.clone() },
        renew_time: now,
        lease_transitions: Some(transitions + i32::from(before.is_some() && !is_ours)),
        ..LeaseSpec::default()
    }
}

/// A conflict means that somebody else was faster.
fn won(written: Result<Lease, Error>) -> Result<bool, Error> {
    match written {
        Ok(_) => Ok(true),
        Err(Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}
