//! The [`Translator`]: indexes, the model, and the one way from a changed object to the units that differ.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::class::{class_of, serves_named, serves_unnamed};
use super::facts::{facts_of, value_problem};
use super::index::{Dirty, Index, Listed};
use super::problem_book::{ProblemBook, Unit};
use super::{ConfigOptions, Settings, backends, certificates, routes};
use crate::cluster::{Kind, Map, ObjectName, ObjectRef, Origin, Snapshot};
use crate::model::{BackendName, Global, Model, RouteKey, Table, Touched};
use crate::options::{DEFAULT_SERVERS_INCREMENT, SERVERS_INCREMENT, SSL_REDIRECT};
use crate::problem::Problem;

/// Keeps the model up to the snapshot.
#[derive(Debug)]
pub struct Translator {
    settings: Settings,
    options: ConfigOptions,
    table: Table,
    pub(super) index: Index,
    model: Model,
    pub(super) book: ProblemBook,
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
    /// Problems that are new, sorted.
    pub problems_added: Vec<Problem>,
    /// Problems that are gone, sorted.
    pub problems_gone: Vec<Problem>,
}

impl Translator {
    /// A translator that has not seen anything yet.
    pub fn new(settings: Settings) -> Self {
        let options = ConfigOptions::default();
        let model = Model {
            global: Arc::new(global_of(&settings, &options)),
            backends: Map::default(),
            routes: Map::default(),
            certificates: Map::default(),
            default_certificate: settings.fallback_certificate.clone(),
        };
        Self {
            settings,
            options,
            table: Table::ingress(),
            index: Index::default(),
            model,
            book: ProblemBook::default(),
            serves_unnamed: false,
            started: false,
        }
    }

    /// The model; cheap to clone.
    pub fn model(&self) -> &Model {
        &self.model
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
            self.read_changes(snapshot, changed, &mut dirty, &mut update.touched);
        } else {
            self.started = true;
            update.touched.global = true;
            dirty.routes.insert(RouteKey::default_of(self.table.clone()));
            if let Some(secret) = self.settings.default_certificate.clone() {
                self.index.secret_use(&secret).is_default = true;
                dirty.secrets.insert(secret);
            }
            self.serves_unnamed = serves_unnamed(snapshot, &self.settings);
            self.read_config_map(snapshot, &mut dirty, &mut update.touched);
            for name in snapshot.ingresses.keys() {
                self.read_ingress(name, snapshot, &mut dirty);
            }
        }
        self.compute_certificates(snapshot, &mut dirty, &mut update);
        self.compute_routes(snapshot, &mut dirty, &mut update.touched);
        self.compute_backends(snapshot, dirty.backends, &mut update.touched);
        (update.problems_added, update.problems_gone) = self.book.take_difference();
        update
    }

    fn read_changes(
        &mut self,
        snapshot: &Snapshot,
        changed: &BTreeSet<ObjectRef>,
        dirty: &mut Dirty,
        touched: &mut Touched,
    ) {
        let mut ingresses: BTreeSet<ObjectName> = BTreeSet::new();
        let mut classes_changed = false;
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
                    dirty.routes.extend(keys.cloned());
                    if self.settings.default_backend.as_ref().is_some_and(|(service, _)| service == name) {
                        dirty.routes.insert(RouteKey::default_of(self.table.clone()));
                    }
                }
                Kind::EndpointSlice => {
                    dirty.backends.extend(self.index.backends_of.get(name).into_iter().flatten().cloned());
                }
                Kind::Secret => {
                    if self.index.secrets.contains_key(name) {
                        dirty.secrets.insert(name.clone());
                    }
                }
                Kind::ConfigMap => {
                    if self.settings.config_map.as_ref() == Some(name) {
                        self.read_config_map(snapshot, dirty, touched);
                    }
                }
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
        for name in ingresses {
            self.read_ingress(&name, snapshot, dirty);
        }
    }

    /// Replaces what the indexes know of one Ingress.
    fn read_ingress(&mut self, name: &ObjectName, snapshot: &Snapshot, dirty: &mut Dirty) {
        let old = self.index.ingresses.remove(name);
        let Some(ingress) = snapshot.ingresses.get(name) else {
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

    fn read_config_map(&mut self, snapshot: &Snapshot, dirty: &mut Dirty, touched: &mut Touched) {
        let mut options = ConfigOptions::default();
        let mut problems = Vec::new();
        let config_map = self.settings.config_map.as_ref().and_then(|name| snapshot.config_maps.get(name));
        if let Some(config_map) = config_map {
            let origin = Origin::object(Kind::ConfigMap, config_map.name.clone());
            let redirect = SSL_REDIRECT.in_config_map(&config_map.data);
            let slots = SERVERS_INCREMENT.in_config_map(&config_map.data);
            problems.extend(redirect.invalid.iter().chain(&slots.invalid).map(|i| value_problem(&origin, i)));
            options = ConfigOptions { ssl_redirect: redirect.value, server_slots: slots.value };
        }
        self.book.set(Unit::ConfigMap, problems);
        if options.ssl_redirect != self.options.ssl_redirect {
            dirty.routes.extend(self.index.claims.keys().cloned());
        }
        self.options = options;
        let global = global_of(&self.settings, &self.options);
        if global != *self.model.global {
            self.model.global = Arc::new(global);
            touched.global = true;
        }
    }

    fn compute_certificates(&mut self, snapshot: &Snapshot, dirty: &mut Dirty, update: &mut Update) {
        for secret in std::mem::take(&mut dirty.secrets) {
            let problems = certificates::refresh_secret(&secret, &mut self.index, snapshot, dirty);
            self.book.set(Unit::Secret(secret), problems);
        }
        for host in std::mem::take(&mut dirty.tls_hosts) {
            let problems = certificates::elect(&host, &mut self.index, dirty);
            self.book.set(Unit::TlsHost(host), problems);
        }
        for (secret, was_used) in std::mem::take(&mut self.index.secrets_before) {
            let is_used =
                self.index.secrets.get(&secret).is_some_and(|used| used.is_default || !used.users.is_empty());
            if !is_used {
                self.index.secrets.remove(&secret);
            }
            match (was_used, is_used) {
                (false, true) => update.secrets_added.insert(secret),
                (true, false) => update.secrets_released.insert(secret),
                _ => false,
            };
        }
        for secret in std::mem::take(&mut dirty.certificates) {
            let wanted = certificates::compute(&secret, &self.index);
            if put(&mut self.model.certificates, &secret, wanted) {
                update.touched.certificates.insert(secret);
            }
        }
        let used = self.settings.default_certificate.as_ref().and_then(|name| self.index.secrets.get(name));
        let wanted = used.and_then(|used| used.parsed.key_pair()).map(|pair| &pair.pem);
        let wanted = wanted.unwrap_or(&self.settings.fallback_certificate);
        if *wanted != self.model.default_certificate {
            self.model.default_certificate = wanted.clone();
            update.touched.global = true;
        }
    }

    fn compute_routes(&mut self, snapshot: &Snapshot, dirty: &mut Dirty, touched: &mut Touched) {
        for key in std::mem::take(&mut dirty.routes) {
            let wanted = routes::compute(&key, &self.index, snapshot, &self.settings, &self.options);
            self.book.set(Unit::Route(key.clone()), wanted.problems);
            let old: Vec<BackendName> = (self.model.routes.get(&key).into_iter())
                .flat_map(|route| &route.candidates)
                .flat_map(|candidate| &candidate.split)
                .map(|share| share.backend.clone())
                .collect();
            // In this order, so that a backend that stays is not taken down in between.
            if let Some(target) = &wanted.target {
                self.index.acquire(target, dirty);
            }
            for name in &old {
                self.index.release(name, dirty);
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

fn global_of(settings: &Settings, options: &ConfigOptions) -> Global {
    Global {
        listeners: settings.listeners.clone(),
        server_slots: options.server_slots.unwrap_or(DEFAULT_SERVERS_INCREMENT),
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
