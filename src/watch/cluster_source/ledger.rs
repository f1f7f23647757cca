//! Which Secrets matter and which of them were told: puts lists, watch events and single fetches into one order.
//!
//! A fetch (GET) is a consistent read that may be newer than the watch, or overtaken by it; `resourceVersion` decides. A list
//! and the events after it come from one watch and are in order among themselves, so they are believed even when
//! versions go back (etcd restored from a backup).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use super::slim::Item;
use crate::cluster::{Change, Kind, Object, ObjectName, ObjectRef};

#[cfg(test)]
mod tests;

/// The names that matter, for filters in other tasks.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted(Arc<RwLock<BTreeSet<ObjectName>>>);

impl Wanted {
    pub(super) fn contains(&self, name: &ObjectName) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}

/// What was told of a Secret.
#[derive(Debug)]
struct Told {
    version: Option<u64>,
    /// `None` after its deletion: an older fetch must not bring it back.
    object: Option<Object>,
    /// From a fetch; the watch has not said it yet.
    is_fetched: bool,
}

/// Which Secrets matter, and what was told of them.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    wanted: Wanted,
    told: BTreeMap<ObjectName, Told>,
}

impl Ledger {
    pub(super) fn wanted(&self) -> Wanted {
        self.wanted.clone()
    }

    /// These matter from now on; returns the ones that did not before.
    pub(super) fn add(&mut self, names: BTreeSet<ObjectName>) -> Vec<ObjectName> {
        let mut wanted = self.wanted.0.write().unwrap_or_else(PoisonError::into_inner);
        names.into_iter().filter(|name| wanted.insert(name.clone())).collect()
    }

    /// These matter no more.
    pub(super) fn release(&mut self, names: &BTreeSet<ObjectName>) -> Vec<Change> {
        let mut wanted = self.wanted.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut changes = Vec::new();
        for name in names {
            wanted.remove(name);
            if self.told.remove(name).is_some_and(|told| told.object.is_some()) {
                changes.push(deleted(name));
            }
        }
        changes
    }

    /// A list of everything that `covers`: returns the objects of the list, and the names to fetch again since the list may be
    /// older than what a fetch has already told.
    pub(super) fn relist(
        &mut self,
        items: Vec<Item>,
        covers: impl Fn(&ObjectName) -> bool,
    ) -> (Vec<Object>, Vec<ObjectName>) {
        let mut listed: BTreeMap<ObjectName, Item> = items
            .into_iter()
            .filter(|item| self.wanted.contains(&item.name))
            .map(|item| (item.name.clone(), item))
            .collect();
        let mut unsure = Vec::new();
        self.told.retain(|name, told| {
            if !covers(name) {
                return true;
            }
            let is_newer = match listed.get(name) {
                Some(item) => is_older(item.version, told.version),
                None => told.object.is_some(),
            };
            if told.is_fetched && is_newer {
                listed.remove(name);
                unsure.push(name.clone());
                return true;
            }
            false
        });
        for (name, item) in listed {
            self.told.insert(name, Told { version: item.version, object: item.object, is_fetched: false });
        }
        let objects =
            self.told.iter().filter(|(name, _)| covers(name)).filter_map(|(_, told)| told.object.clone());
        (objects.collect(), unsure)
    }

    /// The watch says that it exists.
    pub(super) fn apply(&mut self, item: Item) -> Option<Change> {
        if !self.wanted.contains(&item.name) {
            return None;
        }
        if let Some(told) = self.told.get_mut(&item.name) {
            if is_older(item.version, told.version) {
                return None;
            }
            if item.version.is_some() && item.version == told.version {
                told.is_fetched = false;
                return None;
            }
        }
        let change = item.object.clone().map(Change::Upsert);
        self.told.insert(item.name, Told { version: item.version, object: item.object, is_fetched: false });
        change
    }

    /// The watch says that it is gone; the version is that of the deletion.
    pub(super) fn delete(&mut self, item: &Item) -> Option<Change> {
        if !self.wanted.contains(&item.name) {
            return None;
        }
        let told = self.told.get(&item.name);
        if told.is_some_and(|told| is_older(item.version, told.version)) {
            return None;
        }
        let existed = told.is_some_and(|told| told.object.is_some());
        self.told.insert(item.name.clone(), Told { version: item.version, object: None, is_fetched: false });
        existed.then(|| deleted(&item.name))
    }

    /// A fetch says how it is, or that it does not exist.
    pub(super) fn fetched(&mut self, name: &ObjectName, item: Option<Item>) -> Option<Change> {
        if !self.wanted.contains(name) {
            return None;
        }
        let told = self.told.get(name);
        // The last fetch is right (names are rarely fetched twice); against the watch the version decides.
        let is_overtaken = told.is_some_and(|told| !told.is_fetched);
        let Some(item) = item else {
            if is_overtaken {
                return None;
            }
            return self.told.remove(name).map(|_| deleted(name));
        };
        if is_overtaken && !is_older(told.and_then(|told| told.version), item.version) {
            return None;
        }
        let change = item.object.clone().map(Change::Upsert);
        self.told.insert(name.clone(), Told { version: item.version, object: item.object, is_fetched: true });
        change
    }
}

/// Known to be older. Versions that are not numbers cannot be compared.
fn is_older(one: Option<u64>, other: Option<u64>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one < other)
}

fn deleted(name: &ObjectName) -> Change {
    Change::Delete(ObjectRef { kind: Kind::Secret, name: name.clone() })
}
