//! The [`Translator`]: indexes, the model, and the one way from a changed object to the units that differ.

mod certificates;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::backends::Target;
use super::class::{class_of, serves_named, serves_unnamed};
use super::facts::{entry_problem, facts_of};
use super::index::{Dirty, Index, Listed};
use super::notes::{Ledger, Notes};
use super::policy::policy_of;
use super::problem_book::{ProblemBook, Unit};
use super::{Settings, backends, global, routes};
use crate::cluster::{Kind, Map, ObjectName, ObjectRef, Origin, Snapshot};
use crate::model::{BackendName, Global, Model, PathMatch, Policy, RouteKey, Table, Touched};
use crate::options::{DEFAULT_SERVERS_INCREMENT, Layer, Layers};
use crate::problem::Problem;

/// Keeps the model up to the snapshot.
#[derive(Debug)]
pub struct Translator {
    settings: Settings,
    /// The ConfigMap.
    config: Layer,
    /// The policy of paths without keys of their own.
    plain: Arc<Policy>,
    /// Global settings but for what routes need.
    global: Global,
    /// Backends that global settings need (TCP services), and the Services that they look at.
    global_targets: Vec<Target>,
    global_services: BTreeSet<ObjectName>,
    /// How many controllers share the traffic.
    replicas: u32,
    pub(super) ledger: Ledger,
    table: Table,
    pub(super) index: Index,
    model: Model,
    pub(super) book: ProblemBook,
    /// The Secret of the default certificate.
    default_certificate: Option<ObjectName>,
    /// Whether Ingresses without class are served.
    serves_unnamed: bool,
    started: bool,
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// Units that differ from before. The first update of a translator touches everything there is.
    pub touched: Touched,
    /// Secrets that are referred to now, and were not before.
    pub secrets_added: BTreeSet<ObjectName>,
    /// Secrets that nothing refers to any more.
    pub secrets_released: BTreeSet<ObjectName>,
    /// Whether other Ingresses are served than before.
    pub served_changed: bool,
    /// Problems that are new, sorted.
    pub problems_added: Vec<Problem>,
    /// Problems that are gone, sorted.
    pub problems_gone: Vec<Problem>,
}

impl Translator {
    /// A translator that has not seen anything yet.
    pub fn new(settings: Settings) -> Self {
        let global = Global::new(settings.listeners.clone(), DEFAULT_SERVERS_INCREMENT);
        let model = Model::new(global.clone(), settings.fallback_certificate.clone());
        Self {
            settings,
            config: Layer::default(),
            plain: Arc::default(),
            global,
            global_targets: Vec::new(),
            global_services: BTreeSet::new(),
            replicas: 1,
            ledger: Ledger::default(),
            table: Table::ingress(),
            index: Index::default(),
            model,
            book: ProblemBook::default(),
            default_certificate: None,
            serves_unnamed: false,
            started: false,
        }
    }

    /// The model; cheap to clone.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The Ingresses that are served, in order.
    pub fn served(&self) -> impl Iterator<Item = &ObjectName> {
        let listed = self.index.ingresses.iter().filter(|(_, listed)| listed.facts.is_some());
        listed.map(|(name, _)| name)
    }

    /// What is wrong, sorted, each problem once.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.book.iter()
    }

    /// Brings the model up to the snapshot. `changed` is what [`Snapshot::apply`] collected since the last call; the first
    /// call builds everything that the snapshot holds.
    pub fn update(&mut self, snapshot: &Snapshot, changed: &BTreeSet<ObjectRef>) -> Update {
        let mut update = Update::default();
        let mut dirty = Dirty::default();
        if self.started {
            self.read_changes(snapshot, changed, &mut dirty);
        } else {
            self.started = true;
            update.touched.global = true;
            dirty.routes.insert(RouteKey::default_of(self.table.clone()));
            self.serves_unnamed = serves_unnamed(snapshot, &self.settings);
            self.replicas = self.replicas_in(snapshot);
            self.read_config_map(snapshot, &mut dirty);
            for name in snapshot.ingresses.keys() {
                self.read_ingress(name, snapshot, &mut dirty);
            }
        }
        self.compute_certificates(snapshot, &mut dirty, &mut update);
        self.compute_routes(snapshot, &mut dirty, &mut update.touched);
        self.settle_secrets(&mut update);
        self.ledger.set(&Unit::Size, global::size_notes(self.index.backends.len()));
        self.ledger.settle(&mut self.model, &mut update.touched);
        self.settle_global(&mut update.touched);
        self.compute_backends(snapshot, dirty.backends, &mut update.touched);
        update.served_changed = dirty.served;
        (update.problems_added, update.problems_gone) = self.book.take_difference();
        update
    }

    fn read_changes(&mut self, snapshot: &Snapshot, changed: &BTreeSet<ObjectRef>, dirty: &mut Dirty) {
        let mut ingresses: BTreeSet<ObjectName> = BTreeSet::new();
        let (mut classes_changed, mut config_changed) = (false, false);
        for ObjectRef { kind, name } in changed {
            match kind {
                Kind::Ingress => {
                    ingresses.insert(name.clone());
                }
                Kind::IngressClass => {
                    classes_changed = true;
                    ingresses.extend(
                        self.index.by_class.get(&Some(name.name.clone())).into_iter().flatten().cloned(),
                    );
                }
                Kind::Service => {
                    dirty.backends.extend(self.index.backends_of.get(name).into_iter().flatten().cloned());
                    let keys = self.index.service_claims.get(name).into_iter().flatten();
                    // The root of a host depends on all of its paths (`ssl-passthrough`).
                    dirty.routes.extend(keys.flat_map(|key| [key.clone(), key.root_of_host()]));
                    if self.settings.default_backend.as_ref().is_some_and(|(service, _)| service == name) {
                        dirty.routes.insert(RouteKey::default_of(self.table.clone()));
                    }
                    config_changed |= self.global_services.contains(name);
                    config_changed |= dirty.units(self.ledger.watchers_of(name));
                }
                Kind::EndpointSlice => {
                    if self.settings.publish_service.as_ref() == Some(name) {
                        let replicas = self.replicas_in(snapshot);
                        config_changed |= std::mem::replace(&mut self.replicas, replicas) != replicas;
                    }
                    dirty.backends.extend(self.index.backends_of.get(name).into_iter().flatten().cloned());
                }
                Kind::Secret => {
                    if self.index.secrets.contains_key(name) {
                        dirty.secrets.insert(name.clone());
                    }
                    config_changed |= dirty.units(self.ledger.readers_of(name));
                }
                Kind::ConfigMap => config_changed |= self.settings.config_maps().contains(name),
                Kind::File | Kind::Flag => {}
            }
        }
        if classes_changed {
            let serves = serves_unnamed(snapshot, &self.settings);
            if serves != self.serves_unnamed {
                self.serves_unnamed = serves;
                ingresses.extend(self.index.by_class.get(&None).into_iter().flatten().cloned());
            }
        }
        if config_changed {
            self.read_config_map(snapshot, dirty);
        }
        for name in ingresses {
            self.read_ingress(&name, snapshot, dirty);
        }
    }

    /// Replaces what the indexes know of one Ingress.
    fn read_ingress(&mut self, name: &ObjectName, snapshot: &Snapshot, dirty: &mut Dirty) {
        let old = self.index.ingresses.remove(name);
        let was_served = old.as_ref().is_some_and(|old| old.facts.is_some());
        let Some(ingress) = snapshot.ingresses.get(name) else {
            dirty.served |= was_served;
            if let Some(old) = old {
                self.forget(name, &old, dirty);
            }
            return;
        };
        let class = class_of(ingress);
        let serves = match &class {
            Some(class) => serves_named(class, snapshot, &self.settings),
            None => self.serves_unnamed,
        };
        dirty.served |= was_served != serves;
        if let Some(old) = old {
            if Arc::ptr_eq(&old.ingress, ingress) && old.facts.is_some() == serves {
                self.index.ingresses.insert(name.clone(), old);
                return;
            }
            self.forget(name, &old, dirty);
        }
        let facts = serves.then(|| facts_of(ingress, &self.table));
        if let Some(facts) = &facts {
            self.index.add(facts, &self.table, dirty);
            self.book.set(Unit::Ingress(name.clone()), facts.problems.clone());
        }
        self.index.by_class.entry(class.clone()).or_default().insert(name.clone());
        self.index.ingresses.insert(name.clone(), Listed { ingress: ingress.clone(), class, facts });
    }

    fn forget(&mut self, name: &ObjectName, old: &Listed, dirty: &mut Dirty) {
        if let Some(facts) = &old.facts {
            self.index.remove(facts, &self.table, dirty);
            self.book.set(Unit::Ingress(name.clone()), Vec::new());
        }
        if let Some(names) = self.index.by_class.get_mut(&old.class) {
            names.remove(name);
            if names.is_empty() {
                self.index.by_class.remove(&old.class);
            }
        }
    }

    /// Reads everything that is not about one path: the ConfigMaps, and what they refer to.
    fn read_config_map(&mut self, snapshot: &Snapshot, dirty: &mut Dirty) {
        let config_map = self.settings.config_map.as_ref().and_then(|name| snapshot.config_maps.get(name));
        let (config, findings) = match config_map {
            Some(config_map) => Layer::of_config_map(&config_map.data),
            None => Default::default(),
        };
        let mut notes = Notes::default();
        if let Some(name) = &self.settings.config_map {
            let origin = Origin::object(Kind::ConfigMap, name.clone());
            notes.problems.extend(findings.iter().map(|finding| entry_problem(&origin, finding)));
        }
        let none = Layer::default();
        let inputs = routes::Inputs {
            index: &self.index,
            snapshot,
            settings: &self.settings,
            config: &config,
            plain: &self.plain,
            replicas: self.replicas,
        };
        let layers = Layers { service: &none, ingress: &none, config: &config };
        let plain = policy_of(&inputs.context(layers, None), &mut notes);
        let context = global::Context { inputs: routes::Inputs { plain: &plain, ..inputs } };
        let read = global::global_of(&context, &plain, &mut notes);

        let targets = read.targets.into_iter().chain(std::mem::take(&mut notes.targets)).collect();
        let before = std::mem::replace(&mut self.global_targets, targets);
        for target in &self.global_targets {
            self.index.acquire(target, dirty);
        }
        for target in before {
            self.index.release(&target.name(), dirty);
        }
        self.global_services = read.services;
        self.global = read.global;
        self.plain = plain;
        self.config = config;
        self.choose_default_certificate(dirty);
        dirty.tls_hosts.extend(self.index.client_claims.keys().cloned());
        // Any key may be one that paths fall back to; this is rare and costs about as much as a restart.
        dirty.routes.extend(self.index.claims.keys().cloned());
        dirty.routes.insert(RouteKey::default_of(self.table.clone()));
        _ = self.ledger.set(&Unit::ConfigMap, notes.clone());
        self.book.set(Unit::ConfigMap, notes.problems);
    }

    /// How many controllers share the traffic: the endpoints of the Service that publishes them.
    fn replicas_in(&self, snapshot: &Snapshot) -> u32 {
        let Some(service) = &self.settings.publish_service else { return 1 };
        let ready: BTreeSet<_> = snapshot
            .slices_of(service)
            .flat_map(|slice| &slice.endpoints)
            .filter(|endpoint| endpoint.ready && !endpoint.terminating)
            .map(|endpoint| endpoint.address)
            .collect();
        u32::try_from(ready.len()).unwrap_or(u32::MAX).max(1)
    }

    /// Global settings with what routes need of them.
    fn settle_global(&mut self, touched: &mut Touched) {
        let mut global = self.global.clone();
        global.needs = self.ledger.needs().cloned().collect();
        if global != *self.model.global {
            self.model.global = Arc::new(global);
            touched.global = true;
        }
    }

    /// Who reads Secrets changed: which of them matter now.
    fn settle_secrets(&mut self, update: &mut Update) {
        let (read_before, used_before) =
            (self.ledger.take_secrets(), std::mem::take(&mut self.index.secrets_before));
        let touched: BTreeSet<&ObjectName> = read_before.keys().chain(used_before.keys()).collect();
        for secret in touched {
            let was_read = read_before.get(secret).copied().unwrap_or_else(|| self.ledger.reads(secret));
            let known = self.index.secrets.get(secret);
            let was_used = was_read || used_before.get(secret).copied().unwrap_or_else(|| known.is_some());
            let is_used = known.is_some_and(|used| used.is_default.is_some() || !used.users.is_empty());
            if !is_used {
                self.index.secrets.remove(secret);
            }
            match (was_used, is_used || self.ledger.reads(secret)) {
                (false, true) => update.secrets_added.insert(secret.clone()),
                (true, false) => update.secrets_released.insert(secret.clone()),
                _ => false,
            };
        }
    }

    fn compute_routes(&mut self, snapshot: &Snapshot, dirty: &mut Dirty, touched: &mut Touched) {
        for key in std::mem::take(&mut dirty.routes) {
            let inputs = routes::Inputs {
                index: &self.index,
                snapshot,
                settings: &self.settings,
                config: &self.config,
                plain: &self.plain,
                replicas: self.replicas,
            };
            let mut wanted = routes::compute(&key, &inputs);
            let unit = Unit::Route(key.clone());
            let problems = std::mem::take(&mut wanted.notes.problems);
            wanted.targets.extend_from_slice(&wanted.notes.targets);
            let further = self.ledger.set(&unit, wanted.notes);
            self.book.set(unit, problems);
            // The root path of a host says whether its TLS is passed through.
            let is_root = key.path == PathMatch::Prefix("".into());
            let passed = self.model.passthroughs.get(&key.host).filter(|_| is_root);
            let old: BTreeSet<BackendName> = (self.model.routes.get(&key).into_iter())
                .flat_map(|route| &route.candidates)
                .flat_map(|candidate| &candidate.split)
                .map(|share| share.backend.clone())
                .chain(further)
                .chain(passed.map(|backend| backend.as_ref().clone()))
                .collect();
            // In this order, so that a backend that stays is not taken down in between.
            let mut acquired = BTreeSet::new();
            for target in &wanted.targets {
                if acquired.insert(target.name()) {
                    self.index.acquire(target, dirty);
                }
            }
            for name in &old {
                self.index.release(name, dirty);
            }
            if is_root && put(&mut self.model.passthroughs, &key.host, wanted.passthrough) {
                touched.passthroughs.insert(key.host.clone());
            }
            if put(&mut self.model.routes, &key, wanted.route) {
                touched.routes.insert(key);
            }
        }
    }

    fn compute_backends(&mut self, snapshot: &Snapshot, dirty: BTreeSet<BackendName>, touched: &mut Touched) {
        for name in dirty {
            let (wanted, problems) = match self.index.backends.get(&name) {
                Some(used) => backends::compute(&used.target, snapshot, self.settings.loopback_endpoints),
                None => (None, Vec::new()),
            };
            self.book.set(Unit::Backend(name.clone()), problems);
            if put(&mut self.model.backends, &name, wanted) {
                touched.backends.insert(name);
            }
        }
    }
}

/// Brings one entry of a map to the wanted value; tells whether it differed.
fn put<K: Ord + Clone, V: PartialEq>(map: &mut Map<K, Arc<V>>, key: &K, wanted: Option<V>) -> bool {
    match (map.get(key), wanted) {
        (None, None) => false,
        (Some(old), Some(new)) if **old == new => false,
        (_, Some(new)) => {
            map.insert_mut(key.clone(), Arc::new(new));
            true
        }
        (Some(_), None) => map.remove_mut(key),
    }
}
