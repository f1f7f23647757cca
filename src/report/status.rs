//! The status of Ingresses: the leader writes the addresses of all that are served, level-triggered: whatever stands there,
//! also what another controller left, becomes what it should be.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use k8s_openapi::api::networking::v1::{Ingress, IngressLoadBalancerIngress};
use kube::Client;
use kube::api::{Api, ListParams, ObjectMeta, Patch, PatchParams};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Settings;
use crate::cluster::ObjectName;

/// Addresses may change, and others may write: it is looked at again this often, whatever happened.
const LOOK: Duration = Duration::from_secs(30);
/// After a change more may come at once.
const QUIET: Duration = Duration::from_millis(200);
/// So many writes are under way at a time.
const AT_ONCE: usize = 8;
/// Objects of one page of a list.
const PAGE: u32 = 500;

/// Writes status while this controller leads.
pub(super) async fn run(
    client: Client,
    settings: Settings,
    mut served: watch::Receiver<Arc<BTreeSet<ObjectName>>>,
    mut leads: watch::Receiver<bool>,
    stop: CancellationToken,
) {
    let (mut addresses, mut led) = (Vec::new(), false);
    while !stop.is_cancelled() {
        led = *leads.borrow_and_update();
        if led {
            let wanted = served.borrow_and_update().clone();
            match settings.publish.look(&client).await {
                Ok(found) => {
                    addresses = found;
                    if let Err(error) = write_all(&client, &wanted, &addresses).await {
                        tracing::warn!(%error, "the status of Ingresses could not be brought up to date");
                    }
                }
                Err(error) => tracing::warn!(%error, "the addresses to publish could not be read"),
            }
        }
        tokio::select! {
            () = stop.cancelled() => break,
            changed = served.changed() => if changed.is_err() { break } else { tokio::time::sleep(QUIET).await },
            changed = leads.changed() => if changed.is_err() { break },
            () = tokio::time::sleep(LOOK) => {}
        }
    }
    // One that did not lead leaves the addresses to the one that does.
    if settings.clear_status && led && !addresses.is_empty() {
        let wanted = served.borrow().clone();
        if let Err(error) = clear(&client, &wanted, &addresses).await {
            tracing::warn!(%error, "the status of Ingresses could not be cleared");
        }
    }
}

/// All Ingresses that are served and whose status is not this.
async fn write_all(
    client: &Client,
    served: &BTreeSet<ObjectName>,
    addresses: &[IngressLoadBalancerIngress],
) -> Result<(), kube::Error> {
    if served.is_empty() {
        return Ok(());
    }
    let differ = those(client, served, |current| current != addresses).await?;
    write(client, differ, addresses).await
}

/// Takes back what this controller wrote.
async fn clear(
    client: &Client,
    served: &BTreeSet<ObjectName>,
    addresses: &[IngressLoadBalancerIngress],
) -> Result<(), kube::Error> {
    let ours = those(client, served, |current| current == addresses).await?;
    write(client, ours, &[]).await
}

/// Takes these addresses out of every Ingress of these namespaces (of all, when there are none) whose status they are: nobody
/// will answer there any more. Gives the number of Ingresses.
pub(super) async fn clear_all(
    client: &Client,
    namespaces: &BTreeSet<String>,
    addresses: &[IngressLoadBalancerIngress],
) -> Result<usize, kube::Error> {
    let mut places: Vec<Api<Ingress>> =
        namespaces.iter().map(|namespace| Api::namespaced(client.clone(), namespace)).collect();
    if places.is_empty() {
        places.push(Api::all(client.clone()));
    }
    let mut found = Vec::new();
    for ingresses in places {
        found.extend(listed(&ingresses, |_, current| current == addresses).await?);
    }
    let count = found.len();
    write(client, found, &[]).await?;
    Ok(count)
}

/// The served Ingresses whose addresses meet a condition.
async fn those(
    client: &Client,
    served: &BTreeSet<ObjectName>,
    is_meant: impl Fn(&[IngressLoadBalancerIngress]) -> bool,
) -> Result<Vec<ObjectName>, kube::Error> {
    let namespaces: BTreeSet<&str> = served.iter().map(|name| name.namespace.as_ref()).collect();
    let mut found = Vec::new();
    for namespace in namespaces {
        let ingresses: Api<Ingress> = Api::namespaced(client.clone(), namespace);
        found.extend(listed(&ingresses, |name, current| served.contains(name) && is_meant(current)).await?);
    }
    Ok(found)
}

/// The Ingresses whose name and addresses meet a condition. One list for all, page by page: it costs less than a question for
/// each, and says what others have written.
async fn listed(
    ingresses: &Api<Ingress>,
    is_meant: impl Fn(&ObjectName, &[IngressLoadBalancerIngress]) -> bool,
) -> Result<Vec<ObjectName>, kube::Error> {
    let (mut found, mut page) = (Vec::new(), ListParams::default().limit(PAGE));
    loop {
        let list = ingresses.list(&page).await?;
        for ingress in &list {
            let ObjectMeta { namespace, name, .. } = &ingress.metadata;
            let name = ObjectName::new(
                namespace.as_deref().unwrap_or_default(),
                name.as_deref().unwrap_or_default(),
            );
            let status = ingress.status.as_ref().and_then(|status| status.load_balancer.as_ref());
            let current = status.and_then(|balancer| balancer.ingress.as_deref()).unwrap_or_default();
            if is_meant(&name, current) {
                found.push(name);
            }
        }
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(found),
        }
    }
}

async fn write(
    client: &Client,
    names: Vec<ObjectName>,
    addresses: &[IngressLoadBalancerIngress],
) -> Result<(), kube::Error> {
    let patch = Patch::Merge(json!({"status": {"loadBalancer": {"ingress": addresses}}}));
    let results: Vec<Result<(), kube::Error>> = stream::iter(names)
        .map(|name| {
            let (ingresses, patch): (Api<Ingress>, _) =
                (Api::namespaced(client.clone(), &name.namespace), &patch);
            async move {
                match ingresses.patch_status(&name.name, &PatchParams::default(), patch).await {
                    // Gone meanwhile.
                    Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
                    written => written.map(drop),
                }
            }
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    results.into_iter().collect()
}
