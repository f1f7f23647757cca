//! What a computation needs besides its result: lists, values, shared parts of the main text, Secrets. [`Notes`] are what one
//! unit needs, the [`Ledger`] counts them all, so that what nobody needs any more goes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::backends::Target;
use super::problem_book::Unit;
use crate::cluster::ObjectName;
use crate::model::{BackendName, List, ListName, Model, Need, Touched};
use crate::problem::Problem;

/// What one unit needs, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Notes {
    /// Mistakes; the unit's own, said once however many units have them.
    pub(super) problems: Vec<Problem>,
    /// Lists that its rules refer to. Whoever names a list gives the same content.
    pub(super) lists: BTreeMap<ListName, List>,
    /// Values that its rules look up, by key. Whoever names a key gives the same value.
    pub(super) values: BTreeMap<Arc<str>, Arc<str>>,
    /// What it needs of the main text.
    pub(super) needs: BTreeSet<Need>,
    /// Secrets that it reads, whether they exist or not.
    pub(super) secrets: BTreeSet<ObjectName>,
    /// Services that it looks at besides the one that it serves, whether they exist or not.
    pub(super) services: BTreeSet<ObjectName>,
    /// Backends that it needs besides those that its requests go to.
    pub(super) targets: Vec<Target>,
}

impl Notes {
    /// Adds others.
    pub(super) fn extend(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.lists.extend(other.lists);
        self.values.extend(other.values);
        self.needs.extend(other.needs);
        self.secrets.extend(other.secrets);
        self.services.extend(other.services);
        self.targets.extend(other.targets);
    }

    fn is_empty(&self) -> bool {
        self.lists.is_empty()
            && self.values.is_empty()
            && self.needs.is_empty()
            && self.secrets.is_empty()
            && self.services.is_empty()
            && self.targets.is_empty()
    }
}

/// All notes, counted.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    by_unit: BTreeMap<Unit, Notes>,
    lists: BTreeMap<ListName, (usize, List)>,
    values: BTreeMap<Arc<str>, (usize, Arc<str>)>,
    needs: BTreeMap<Need, usize>,
    /// Who reads a Secret.
    readers: BTreeMap<ObjectName, BTreeSet<Unit>>,
    /// Who looks at a Service.
    watchers: BTreeMap<ObjectName, BTreeSet<Unit>>,
    touched_lists: BTreeSet<ListName>,
    touched_values: BTreeSet<Arc<str>>,
    /// Secrets whose readers changed, and whether there were any before.
    secrets_before: BTreeMap<ObjectName, bool>,
}

impl Ledger {
    /// The notes of this unit are exactly these now. Gives the names of the further backends that it needed before.
    pub(super) fn set(&mut self, unit: &Unit, mut notes: Notes) -> BTreeSet<BackendName> {
        notes.problems = Vec::new();
        if notes.is_empty() && !self.by_unit.contains_key(unit) {
            return BTreeSet::new();
        }
        for (name, list) in &notes.lists {
            let entry = self.lists.entry(name.clone()).or_insert_with(|| (0, list.clone()));
            *entry = (entry.0 + 1, list.clone());
            self.touched_lists.insert(name.clone());
        }
        for (key, value) in &notes.values {
            let entry = self.values.entry(key.clone()).or_insert_with(|| (0, value.clone()));
            *entry = (entry.0 + 1, value.clone());
            self.touched_values.insert(key.clone());
        }
        for need in &notes.needs {
            *self.needs.entry(need.clone()).or_insert(0) += 1;
        }
        let old = if notes.is_empty() {
            self.by_unit.remove(unit)
        } else {
            self.by_unit.insert(unit.clone(), notes.clone())
        };
        let old = old.unwrap_or_default();
        for name in old.lists.into_keys() {
            if take(&mut self.lists, &name, |entry| &mut entry.0) {
                self.touched_lists.insert(name);
            }
        }
        for key in old.values.into_keys() {
            if take(&mut self.values, &key, |entry| &mut entry.0) {
                self.touched_values.insert(key);
            }
        }
        for need in old.needs {
            take(&mut self.needs, &need, |count| count);
        }
        for secret in old.secrets.symmetric_difference(&notes.secrets) {
            let readers = self.readers.entry(secret.clone()).or_default();
            self.secrets_before.entry(secret.clone()).or_insert(!readers.is_empty());
            if notes.secrets.contains(secret) {
                readers.insert(unit.clone());
            } else {
                readers.remove(unit);
            }
            if readers.is_empty() {
                self.readers.remove(secret);
            }
        }
        for service in old.services.symmetric_difference(&notes.services) {
            let watchers = self.watchers.entry(service.clone()).or_default();
            if notes.services.contains(service) {
                watchers.insert(unit.clone());
            } else {
                watchers.remove(unit);
            }
            if watchers.is_empty() {
                self.watchers.remove(service);
            }
        }
        old.targets.iter().map(Target::name).collect()
    }

    /// Who looks at a Service besides those that serve it.
    pub(super) fn watchers_of(&self, service: &ObjectName) -> impl Iterator<Item = &Unit> {
        self.watchers.get(service).into_iter().flatten()
    }

    /// Who reads a Secret.
    pub(super) fn readers_of(&self, secret: &ObjectName) -> impl Iterator<Item = &Unit> {
        self.readers.get(secret).into_iter().flatten()
    }

    /// Whether anybody reads a Secret.
    pub(super) fn reads(&self, secret: &ObjectName) -> bool {
        self.readers.contains_key(secret)
    }

    /// Secrets whose readers changed since the last call, and whether there were any then.
    pub(super) fn take_secrets(&mut self) -> BTreeMap<ObjectName, bool> {
        std::mem::take(&mut self.secrets_before)
    }

    /// What routes need of the main text.
    pub(super) fn needs(&self) -> impl Iterator<Item = &Need> {
        self.needs.keys()
    }

    /// Brings lists and values of the model up to date.
    pub(super) fn settle(&mut self, model: &mut Model, touched: &mut Touched) {
        for name in std::mem::take(&mut self.touched_lists) {
            let wanted = self.lists.get(&name).map(|(_, list)| list);
            if model.lists.get(&name) == wanted {
                continue;
            }
            match wanted {
                Some(list) => model.lists.insert_mut(name.clone(), list.clone()),
                None => _ = model.lists.remove_mut(&name),
            }
            touched.lists.insert(name);
        }
        for key in std::mem::take(&mut self.touched_values) {
            let wanted = self.values.get(&key).map(|(_, value)| value);
            if model.values.get(&key) == wanted {
                continue;
            }
            match wanted {
                Some(value) => model.values.insert_mut(key.clone(), value.clone()),
                None => _ = model.values.remove_mut(&key),
            }
            touched.values.insert(key);
        }
    }
}

/// Takes one off a count; removes the entry, and says so, when none is left.
fn take<K: Ord, V>(map: &mut BTreeMap<K, V>, key: &K, count: impl Fn(&mut V) -> &mut usize) -> bool {
    let Some(entry) = map.get_mut(key) else { return false };
    let count = count(entry);
    *count -= 1;
    let gone = *count == 0;
    if gone {
        map.remove(key);
    }
    gone
}
