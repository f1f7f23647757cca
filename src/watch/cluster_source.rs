//! A real cluster as a [`Source`]: one watch per kind and namespace, put together by one task.
//!
//! ```text
//!  follow (one per scope) ──Said──▶ Assembly ──Event──▶ control
//!                                     ▲  ledger of Secrets, what is listed, what is refused
//!  Interest (which Secrets) ──────────┘
//! ```
//!
//! What the API server does not answer stays as it was: nothing is ever emptied by an error.

mod fetch;
mod follow;
mod ledger;
mod refused;
mod scope;
mod slim;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::{core::v1 as core, discovery::v1 as discovery, networking::v1 as networking};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tracing::info;

use super::convert::Convert;
use super::counters::{Counters, add};
use super::{Event, Interest, Source};
use crate::cluster::{Change, Kind, Object, ObjectName, ObjectRef};
use fetch::Fetcher;
use follow::{Delta, Said, follow};
use ledger::Ledger;
use scope::{Extent, Namespaces, Scope};
use slim::{Item, Slim};

/// What to watch.
#[derive(Debug, Clone, Default)]
pub struct ClusterOptions {
    /// `--watch-namespace`, `--namespace-whitelist`: only these namespaces (a watch each); `None` for all.
    pub namespaces: Option<BTreeSet<String>>,
    /// `--namespace-blacklist`: not these namespaces; wins over `namespaces`.
    pub blacklist: BTreeSet<String>,
    /// The ConfigMaps that flags name, in whatever namespace.
    pub config_maps: BTreeSet<ObjectName>,
    /// The Services that flags name; those outside the watched namespaces get watches of their own.
    pub services: BTreeSet<ObjectName>,
    /// A role for single namespaces cannot grant IngressClass, which has none: a refusal then means that there are none.
    pub classes_optional: bool,
}

/// Starts watching. Must be called inside a tokio runtime; everything ends when the receiver of events is dropped.
pub fn cluster(client: Client, options: ClusterOptions) -> Source {
    let (events, events_out) = mpsc::channel(64);
    let (interest, interest_in) = mpsc::unbounded_channel();
    let (said, inbox) = mpsc::channel(64);
    let counters = Arc::new(Counters::default());
    let mut kinds =
        BTreeSet::from([Kind::Ingress, Kind::IngressClass, Kind::Service, Kind::EndpointSlice, Kind::Secret]);
    if !options.config_maps.is_empty() {
        kinds.insert(Kind::ConfigMap);
    }
    let assembly = Assembly {
        namespaces: Namespaces::new(&options),
        fetcher: Fetcher::new(client.clone()),
        client,
        options,
        counters: counters.clone(),
        events,
        said,
        watches: JoinSet::new(),
        handles: BTreeMap::new(),
        unlisted: BTreeMap::new(),
        refused: BTreeSet::new(),
        known: BTreeMap::new(),
        ledger: None,
    };
    tokio::spawn(assembly.run(inbox, interest_in));
    Source { events: events_out, kinds, interest, counters }
}

/// Nobody listens any more.
struct Closed;

struct Assembly {
    client: Client,
    options: ClusterOptions,
    namespaces: Namespaces,
    counters: Arc<Counters>,
    events: mpsc::Sender<Event>,
    said: mpsc::Sender<(Scope, Said)>,
    watches: JoinSet<()>,
    /// To end the watches of single objects.
    handles: BTreeMap<Scope, AbortHandle>,
    /// What must be listed before its kind is.
    unlisted: BTreeMap<Kind, BTreeSet<Scope>>,
    /// Watches that the API server refuses.
    refused: BTreeSet<Scope>,
    /// The objects of each scope that is not whole: a list of it must say itself what is gone.
    known: BTreeMap<Scope, BTreeSet<ObjectName>>,
    fetcher: Fetcher,
    /// Which Secrets matter; `None` before the first [`Interest`].
    ledger: Option<Ledger>,
}

impl Assembly {
    async fn run(
        mut self,
        mut inbox: mpsc::Receiver<(Scope, Said)>,
        mut interest: mpsc::UnboundedReceiver<Interest>,
    ) {
        if self.start().await.is_err() {
            return;
        }
        let events = self.events.clone();
        loop {
            let result = tokio::select! {
                () = events.closed() => Err(Closed),
                Some((scope, said)) = inbox.recv() => self.hear(scope, said).await,
                Some(interest) = interest.recv() => self.care(interest).await,
                (name, item) = self.fetcher.next() => {
                    let change = self.ledger.as_mut().and_then(|ledger| ledger.fetched(&name, item));
                    self.tell(change.into_iter().collect()).await
                }
            };
            if result.is_err() {
                return;
            }
        }
    }

    /// Starts the watches of everything but Secrets.
    async fn start(&mut self) -> Result<(), Closed> {
        let mut scopes = vec![Scope { kind: Kind::IngressClass, extent: Extent::All }];
        for kind in [Kind::Ingress, Kind::Service, Kind::EndpointSlice] {
            scopes.extend(self.namespaces.extents().into_iter().map(|extent| Scope { kind, extent }));
        }
        scopes.extend(self.options.config_maps.iter().map(|name| Scope::object(Kind::ConfigMap, name)));
        for service in self.options.services.iter().filter(|name| !self.namespaces.contains(&name.namespace))
        {
            scopes.push(Scope::object(Kind::Service, service));
            scopes.push(Scope { kind: Kind::EndpointSlice, extent: Extent::SlicesOf(service.clone()) });
        }
        let kinds = [Kind::Ingress, Kind::IngressClass, Kind::Service, Kind::EndpointSlice, Kind::ConfigMap];
        self.await_lists(&kinds, scopes).await
    }

    /// Starts watches; their kinds are listed when all of them are.
    async fn await_lists(&mut self, kinds: &[Kind], scopes: Vec<Scope>) -> Result<(), Closed> {
        for scope in &scopes {
            self.unlisted.entry(scope.kind).or_default().insert(scope.clone());
            self.watch(scope);
        }
        for kind in kinds {
            if !self.unlisted.contains_key(kind) && (*kind != Kind::ConfigMap) {
                self.send(Event::Listed(*kind)).await?;
            }
        }
        Ok(())
    }

    fn watch(&mut self, scope: &Scope) {
        match scope.kind {
            Kind::Ingress => self.watch_in(scope, Api::<Slim<networking::Ingress>>::namespaced),
            Kind::Service => self.watch_in(scope, Api::<Slim<core::Service>>::namespaced),
            Kind::EndpointSlice => self.watch_in(scope, Api::<Slim<discovery::EndpointSlice>>::namespaced),
            Kind::Secret => self.watch_in(scope, Api::<Slim<core::Secret>>::namespaced),
            Kind::ConfigMap => self.watch_in(scope, Api::<Slim<core::ConfigMap>>::namespaced),
            Kind::IngressClass => {
                self.watch_in(scope, |client, _| Api::<Slim<networking::IngressClass>>::all(client));
            }
            Kind::File | Kind::Flag => {}
        }
    }

    fn watch_in<K>(&mut self, scope: &Scope, inside: fn(Client, &str) -> Api<Slim<K>>)
    where
        K: Convert + Resource<DynamicType = ()> + DeserializeOwned + 'static,
    {
        let api = match scope.namespace() {
            Some(namespace) => inside(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        };
        let config = scope.config(&self.options.blacklist);
        let (namespaces, is_whole) = (self.namespaces.clone(), scope.is_whole());
        let wanted = self.ledger.as_ref().filter(|_| scope.kind == Kind::Secret).map(Ledger::wanted);
        // The selector on the server already leaves the blacklisted namespaces out; this holds should it not.
        let keep = move |name: &ObjectName| {
            (name.namespace.is_empty() || !is_whole || namespaces.contains(&name.namespace))
                && wanted.as_ref().is_none_or(|wanted| wanted.contains(name))
        };
        let handle = self.watches.spawn(follow(api, config, scope.clone(), keep, self.said.clone()));
        if !scope.is_whole() {
            self.handles.insert(scope.clone(), handle);
        }
    }

    /// Takes what a watch says.
    async fn hear(&mut self, scope: Scope, said: Said) -> Result<(), Closed> {
        let counters = self.counters.of(scope.kind);
        match said {
            Said::Listed(items) => {
                add(&counters.relists, 1);
                if self.refused.remove(&scope) {
                    self.send(Event::Problems(scope.origin(), Vec::new())).await?;
                }
                let changes = self.relist(&scope, items);
                self.tell(changes).await?;
                self.listed(&scope).await
            }
            Said::Changed(deltas) => {
                add(&counters.events, deltas.len());
                let changes = deltas.into_iter().filter_map(|delta| self.change(&scope, delta)).collect();
                self.tell(changes).await
            }
            Said::Failed => {
                add(&counters.errors, 1);
                Ok(())
            }
            Said::Refused(words) => {
                add(&counters.errors, 1);
                self.refuse(scope, words).await
            }
        }
    }

    fn relist(&mut self, scope: &Scope, items: Vec<Item>) -> Vec<Change> {
        let objects: Vec<Object> = match &mut self.ledger {
            Some(ledger) if scope.kind == Kind::Secret => {
                let (objects, unsure) = ledger.relist(items, |name| match &scope.extent {
                    Extent::All => self.namespaces.contains(&name.namespace),
                    Extent::Namespace(namespace) => *namespace == name.namespace,
                    Extent::Object(object) | Extent::SlicesOf(object) => object == name,
                });
                self.fetcher.push(unsure);
                objects
            }
            _ => items.into_iter().filter_map(|item| item.object).collect(),
        };
        if scope.is_whole() {
            let namespace = scope.namespace().map(Arc::from);
            return vec![Change::Relist { kind: scope.kind, namespace, objects }];
        }
        let listed: BTreeSet<ObjectName> = objects.iter().map(|object| object.reference().name).collect();
        let gone = self.known.insert(scope.clone(), listed.clone()).unwrap_or_default();
        let kind = scope.kind;
        let deletes =
            gone.into_iter().filter(|name| !listed.contains(name)).map(|name| ObjectRef { kind, name });
        deletes.map(Change::Delete).chain(objects.into_iter().map(Change::Upsert)).collect()
    }

    fn change(&mut self, scope: &Scope, delta: Delta) -> Option<Change> {
        let kind = scope.kind;
        let change = match (&mut self.ledger, delta) {
            (Some(ledger), Delta::Apply(item)) if kind == Kind::Secret => ledger.apply(item)?,
            (Some(ledger), Delta::Delete(item)) if kind == Kind::Secret => ledger.delete(&item)?,
            (_, Delta::Apply(Item { name, object: None, .. }) | Delta::Delete(Item { name, .. })) => {
                Change::Delete(ObjectRef { kind, name })
            }
            (_, Delta::Apply(Item { object: Some(object), .. })) => Change::Upsert(object),
        };
        if !scope.is_whole() {
            let known = self.known.entry(scope.clone()).or_default();
            match &change {
                Change::Upsert(object) => known.insert(object.reference().name),
                Change::Delete(reference) => known.remove(&reference.name),
                Change::Relist { .. } => false,
            };
        }
        Some(change)
    }

    /// A refusal freezes what is known and is said once, however often and for whichever verb it is repeated.
    async fn refuse(&mut self, scope: Scope, words: String) -> Result<(), Closed> {
        if !self.refused.insert(scope.clone()) {
            return Ok(());
        }
        if scope.kind == Kind::IngressClass && self.options.classes_optional {
            info!(reason = words, "no IngressClass is read; Ingresses are chosen by the name of their class");
            return self.listed(&scope).await;
        }
        self.send(Event::Problems(scope.origin(), vec![refused::problem(&scope, &words)])).await?;
        // One object that a flag names must not hold up everything else; a whole kind must, and so must the settings.
        if scope.is_whole() || scope.kind == Kind::ConfigMap {
            return Ok(());
        }
        self.listed(&scope).await
    }

    async fn listed(&mut self, scope: &Scope) -> Result<(), Closed> {
        let Some(waiting) = self.unlisted.get_mut(&scope.kind) else { return Ok(()) };
        if waiting.remove(scope) && waiting.is_empty() {
            return self.send(Event::Listed(scope.kind)).await;
        }
        Ok(())
    }

    /// Takes which Secrets matter.
    async fn care(&mut self, interest: Interest) -> Result<(), Closed> {
        let is_first = self.ledger.is_none();
        let ledger = self.ledger.get_or_insert_default();
        match interest {
            Interest::Add(names) => {
                let (inside, outside): (Vec<_>, Vec<_>) =
                    ledger.add(names).into_iter().partition(|name| self.namespaces.contains(&name.namespace));
                let mut scopes: Vec<Scope> =
                    outside.iter().map(|name| Scope::object(Kind::Secret, name)).collect();
                if is_first {
                    let extents = self.namespaces.extents().into_iter();
                    scopes.extend(extents.map(|extent| Scope { kind: Kind::Secret, extent }));
                    return self.await_lists(&[Kind::Secret], scopes).await;
                }
                for scope in &scopes {
                    self.watch(scope);
                }
                self.fetcher.push(inside);
                Ok(())
            }
            Interest::Release(names) => {
                let changes = ledger.release(&names);
                for name in &names {
                    let scope = Scope::object(Kind::Secret, name);
                    if let Some(handle) = self.handles.remove(&scope) {
                        handle.abort();
                        self.known.remove(&scope);
                        self.listed(&scope).await?;
                        if self.refused.remove(&scope) {
                            self.send(Event::Problems(scope.origin(), Vec::new())).await?;
                        }
                    }
                }
                self.tell(changes).await?;
                if is_first {
                    return Box::pin(self.care(Interest::Add(BTreeSet::new()))).await;
                }
                Ok(())
            }
        }
    }

    async fn tell(&mut self, changes: Vec<Change>) -> Result<(), Closed> {
        if changes.is_empty() {
            return Ok(());
        }
        self.send(Event::Changes(changes)).await
    }

    async fn send(&mut self, event: Event) -> Result<(), Closed> {
        self.events.send(event).await.map_err(|_| Closed)
    }
}
