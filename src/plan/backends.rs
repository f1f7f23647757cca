//! The backends of [`Texts`](super::Texts), kept by shard: writing one of the 256 files does not walk through all of them.

use std::sync::Arc;

use outrigger_init::shard_of;

use super::BackendText;
use crate::cluster::Map;
use crate::model::BackendName;

/// Backends by name, ordered by shard, then name. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Backends {
    texts: Map<(usize, BackendName), Arc<BackendText>>,
    /// Backend → the spare that stands for it, as the texts of the spares say: every plan asks, and there are many spares.
    standing: Map<BackendName, BackendName>,
}

impl Backends {
    /// A backend.
    pub fn get(&self, name: &BackendName) -> Option<&Arc<BackendText>> {
        self.texts.get(&key(name))
    }

    /// Whether it is there.
    pub fn contains_key(&self, name: &BackendName) -> bool {
        self.texts.contains_key(&key(name))
    }

    /// Adds or replaces a backend.
    pub fn insert_mut(&mut self, name: BackendName, text: Arc<BackendText>) {
        self.forget_standing(&name);
        if name.is_spare()
            && let Some(stands_for) = text.stands_for()
        {
            self.standing.insert_mut(stands_for, name.clone());
        }
        self.texts.insert_mut((shard_of(name.as_str()), name), text);
    }

    /// Removes a backend; tells whether it was there.
    pub fn remove_mut(&mut self, name: &BackendName) -> bool {
        self.forget_standing(name);
        self.texts.remove_mut(&key(name))
    }

    /// Backend → the spare that stands for it.
    pub(super) fn standing(&self) -> &Map<BackendName, BackendName> {
        &self.standing
    }

    fn forget_standing(&mut self, spare: &BackendName) {
        if spare.is_spare()
            && let Some(stood_for) = self.get(spare).and_then(|text| text.stands_for())
        {
            self.standing.remove_mut(&stood_for);
        }
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.texts.size()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// All of them, ordered by shard, then name.
    pub fn iter(&self) -> impl Iterator<Item = (&BackendName, &Arc<BackendText>)> {
        self.texts.iter().map(|((_, name), text)| (name, text))
    }

    /// Those of a shard, by name.
    pub fn shard(&self, shard: usize) -> impl Iterator<Item = (&BackendName, &Arc<BackendText>)> {
        let first = |shard| (shard, BackendName::parsed(""));
        self.texts.range(first(shard)..first(shard + 1)).map(|((_, name), text)| (name, text))
    }
}

fn key(name: &BackendName) -> (usize, BackendName) {
    (shard_of(name.as_str()), name.clone())
}
