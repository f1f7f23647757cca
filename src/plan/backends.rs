//! The backends of [`Texts`](super::Texts), kept by shard: writing one of the 256 files does not walk through all of them.

use std::sync::Arc;

use outrigger_init::shard_of;

use super::BackendText;
use crate::cluster::Map;
use crate::model::BackendName;

/// Backends by name, ordered by shard, then name. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Backends(Map<(usize, BackendName), Arc<BackendText>>);

impl Backends {
    /// A backend.
    pub fn get(&self, name: &BackendName) -> Option<&Arc<BackendText>> {
        self.0.get(&key(name))
    }

    /// Whether it is there.
    pub fn contains_key(&self, name: &BackendName) -> bool {
        self.0.contains_key(&key(name))
    }

    /// Adds or replaces a backend.
    pub fn insert_mut(&mut self, name: BackendName, text: Arc<BackendText>) {
        self.0.insert_mut((shard_of(name.as_str()), name), text);
    }

    /// Removes a backend; tells whether it was there.
    pub fn remove_mut(&mut self, name: &BackendName) -> bool {
        self.0.remove_mut(&key(name))
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.0.size()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, ordered by shard, then name.
    pub fn iter(&self) -> impl Iterator<Item = (&BackendName, &Arc<BackendText>)> {
        self.0.iter().map(|((_, name), text)| (name, text))
    }

    /// Those of a shard, by name.
    pub fn shard(&self, shard: usize) -> impl Iterator<Item = (&BackendName, &Arc<BackendText>)> {
        let first = |shard| (shard, BackendName::parsed(""));
        self.0.range(first(shard)..first(shard + 1)).map(|((_, name), text)| (name, text))
    }
}

fn key(name: &BackendName) -> (usize, BackendName) {
    (shard_of(name.as_str()), name.clone())
}
