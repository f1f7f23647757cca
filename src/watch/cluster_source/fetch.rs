//! Secrets that became interesting after they were listed, fetched one by one.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::FuturesUnordered;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use tracing::{debug, warn};

use super::slim::{Item, Slim};
use crate::cluster::ObjectName;

/// Requests under way at most.
const CONCURRENCY: usize = 16;
/// Before a failed request is tried again.
const PAUSE: Duration = Duration::from_secs(5);

type Answer = (ObjectName, kube::Result<Option<Item>>);

/// Fetches Secrets.
pub(super) struct Fetcher {
    client: Client,
    queue: VecDeque<ObjectName>,
    running: FuturesUnordered<BoxFuture<'static, Answer>>,
    resting: FuturesUnordered<BoxFuture<'static, ObjectName>>,
    /// The last request failed, which was said.
    is_failing: bool,
}

impl Fetcher {
    pub(super) fn new(client: Client) -> Self {
        let (running, resting) = (FuturesUnordered::new(), FuturesUnordered::new());
        Self { client, queue: VecDeque::new(), running, resting, is_failing: false }
    }

    pub(super) fn push(&mut self, names: Vec<ObjectName>) {
        self.queue.extend(names);
    }

    /// The next Secret that was fetched, `None` when it does not exist. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> (ObjectName, Option<Item>) {
        loop {
            while self.running.len() < CONCURRENCY
                && let Some(name) = self.queue.pop_front()
            {
                if !is_name(&name.name) || !is_name(&name.namespace) {
                    return (name, None);
                }
                self.running.push(get(self.client.clone(), name).boxed());
            }
            tokio::select! {
                Some((name, answer)) = self.running.next() => match answer {
                    Ok(item) => {
                        self.is_failing = false;
                        return (name, item);
                    }
                    Err(error) if is_final(&error) => {
                        debug!(secret = %name, error = &error as &dyn std::error::Error, "secret cannot exist");
                        return (name, None);
                    }
                    Err(error) => {
                        if !std::mem::replace(&mut self.is_failing, true) {
                            warn!(secret = %name, error = &error as &dyn std::error::Error, "get secret, trying again");
                        }
                        self.resting.push(tokio::time::sleep(PAUSE).map(|()| name).boxed());
                    }
                },
                Some(name) = self.resting.next() => self.queue.push_back(name),
                else => std::future::pending().await,
            }
        }
    }
}

async fn get(client: Client, name: ObjectName) -> Answer {
    let api = Api::<Slim<Secret>>::namespaced(client, &name.namespace);
    let answer = api.get_opt(&name.name).await.map(|found| found.map(Slim::into_item));
    (name, answer)
}

/// A name that Kubernetes allows. It becomes part of a path: `../` must not lead to another resource.
fn is_name(name: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    name.bytes().all(allowed) && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Asking again would not help.
fn is_final(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 400 | 404 | 405 | 422))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_kubernetes_allows_reach_a_path() {
        for (name, expected) in [
            ("tls-1.example", true),
            ("", false),
            ("..", false),
            ("../configmaps/x", false),
            ("a b", false),
            ("A", false),
        ] {
            assert_eq!(is_name(name), expected, "{name}");
        }
    }
}
