//! One watch, for ever: what it lists and what changes, through errors, expiry and refusal.

use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use kube::runtime::watcher::{self, DefaultBackoff, Event, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tracing::{debug, warn};

use super::scope::Scope;
use super::slim::{Item, Slim};
use crate::cluster::ObjectName;
use crate::watch::convert::Convert;

/// The most changes in one message.
const BATCH: usize = 1024;
/// An API server that comes back is noticed within this time; a pod asking that rarely is no load.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A watch that was refused and now stays open for this long is allowed again.
const PROOF: Duration = Duration::from_secs(1);

/// What a watch says.
#[derive(Debug)]
pub(super) enum Said {
    /// These are all objects of the scope.
    Listed(Vec<Item>),
    /// Some changed.
    Changed(Vec<Delta>),
    /// The API server does not allow it (403), with its words.
    Refused(String),
    /// Something failed and is tried again.
    Failed,
}

/// One change.
#[derive(Debug)]
pub(super) enum Delta {
    /// The object is like this.
    Apply(Item),
    /// The object is gone.
    Delete(Item),
}

/// Sends what the watch of `scope` says until nobody listens. Objects that `keep` does not want are dropped at once.
pub(super) async fn follow<K>(
    api: Api<Slim<K>>,
    config: watcher::Config,
    scope: Scope,
    keep: impl Fn(&ObjectName) -> bool,
    to: mpsc::Sender<(Scope, Said)>,
) where
    K: Convert + Resource<DynamicType = ()> + DeserializeOwned + 'static,
{
    let start = || -> BoxStream<'static, watcher::Result<Event<Slim<K>>>> {
        watcher(api.clone(), config.clone()).boxed()
    };
    let mut stream = start();
    let mut backoff = DefaultBackoff::default();
    let mut failures = 0_u32;
    let mut listed = Vec::new();
    let mut watch_refused = false;
    let mut next = stream.next().await;
    while let Some(event) = next.take() {
        let said = match event {
            Ok(Event::Init) => {
                listed = Vec::new();
                None
            }
            Ok(Event::InitApply(object)) => {
                let item = object.into_item();
                if keep(&item.name) {
                    listed.push(item);
                }
                None
            }
            Ok(Event::InitDone) => {
                // A role may allow `list` without `watch`: the list alone does not prove that a refusal is over.
                if watch_refused {
                    next = tokio::time::timeout(PROOF, stream.next()).await.ok().flatten();
                    watch_refused = matches!(&next, Some(Err(error)) if status_code(error) == Some(403));
                }
                (!watch_refused).then(|| Said::Listed(std::mem::take(&mut listed)))
            }
            Ok(Event::Apply(_) | Event::Delete(_)) => {
                let mut batch = Vec::new();
                let mut ready = Some(event);
                while let Some(Ok(event)) = ready.take_if(|event| is_change(event)) {
                    batch.extend(delta(event).filter(|delta| keep(delta.name())));
                    ready = if batch.len() < BATCH { stream.next().now_or_never().flatten() } else { None };
                }
                next = ready;
                (!batch.is_empty()).then_some(Said::Changed(batch))
            }
            Err(error) => {
                failures += 1;
                let said = failed(&error, &scope, failures);
                watch_refused |= status_code(&error) == Some(403) && !is_list(&error);
                if needs_new_list(&error) {
                    stream = start();
                }
                // The API server is there and only forgot: what was waited for before is over.
                if status_code(&error) == Some(410) {
                    backoff = DefaultBackoff::default();
                }
                if to.send((scope.clone(), said)).await.is_err() {
                    return;
                }
                let pause = backoff.next().unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE);
                tokio::time::sleep(pause).await;
                None
            }
        };
        if let Some(said) = said {
            backoff = DefaultBackoff::default();
            failures = 0;
            if to.send((scope.clone(), said)).await.is_err() {
                return;
            }
        }
        if next.is_none() {
            next = stream.next().await;
        }
    }
}

impl Delta {
    fn name(&self) -> &ObjectName {
        match self {
            Self::Apply(item) | Self::Delete(item) => &item.name,
        }
    }
}

fn is_change<K>(event: &watcher::Result<Event<K>>) -> bool {
    matches!(event, Ok(Event::Apply(_) | Event::Delete(_)))
}

fn delta<K>(event: Event<Slim<K>>) -> Option<Delta> {
    match event {
        Event::Apply(object) => Some(Delta::Apply(object.into_item())),
        Event::Delete(object) => Some(Delta::Delete(object.into_item())),
        Event::Init | Event::InitApply(_) | Event::InitDone => None,
    }
}

fn failed(error: &watcher::Error, scope: &Scope, failures: u32) -> Said {
    if status_code(error) == Some(403) {
        let words = match error {
            watcher::Error::InitialListFailed(kube::Error::Api(status))
            | watcher::Error::WatchStartFailed(kube::Error::Api(status))
            | watcher::Error::WatchFailed(kube::Error::Api(status))
            | watcher::Error::WatchError(status) => status.message.clone(),
            other => other.to_string(),
        };
        debug!(%scope, failures, "watch refused");
        return Said::Refused(words);
    }
    // 410 is how the API server says that it does not remember that far back: normal, and a new list mends it.
    if failures == 1 && status_code(error) != Some(410) {
        warn!(%scope, error = error as &dyn std::error::Error, "watch broken, trying again");
    } else {
        debug!(%scope, failures, error = error as &dyn std::error::Error, "watch still broken");
    }
    Said::Failed
}

/// The watcher of kube 4.2 asks again from the same version when a watch does not start. That never ends when the version is
/// gone (410) or from the future (504, after etcd was restored), and it is silent when a refusal (403) is over; a list is not.
/// Its client reads any answer to a watch as a stream of events, so the status mostly comes as a failed stream.
fn needs_new_list(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::WatchStartFailed(_) | watcher::Error::WatchFailed(_))
        && matches!(status_code(error), Some(403 | 410 | 504))
}

fn is_list(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::InitialListFailed(_))
}

fn status_code(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => match error {
            kube::Error::Api(status) => Some(status.code),
            _ => None,
        },
        watcher::Error::WatchError(status) => Some(status.code),
        watcher::Error::NoResourceVersion => None,
    }
}
