//! Spare backends: they run without servers, and a new Service takes one while HAProxy runs (2.6+).
//!
//! What is wanted knows nothing of that. [`place`] says where it can run before a reload: a backend that is new moves into
//! a spare of its shape, and map values name the spare. A spare that stands in says for whom in the last line of its
//! header, a comment, so the allocation is on disk and is found again by whoever reads the files. It stands for nobody else
//! until the next reload. That gives every backend its own name, and none is made for that alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::servers::can_add;
use super::{BackendText, MapId, Texts, Unit};
use crate::cluster::Map;
use crate::model::{BackendName, Capabilities};

/// Begins the comment of a spare that stands in, which is the last line of its header. A line of a user never looks like it:
/// raw configuration is written without comments.
const STANDS_FOR: &str = "\n  # stands for ";

impl BackendText {
    /// The backend that this spare stands for.
    pub fn stands_for(&self) -> Option<BackendName> {
        self.stand_in().map(|(_, name)| BackendName::parsed(name))
    }

    /// The header but for whom it stands for: what only a reload changes.
    pub fn own_header(&self) -> &str {
        self.stand_in().map_or(&self.header, |(own, _)| own)
    }

    fn stand_in(&self) -> Option<(&str, &str)> {
        let (own, name) = self.header.strip_suffix('\n')?.rsplit_once(STANDS_FOR)?;
        // The line before the comment keeps its end.
        (!name.contains('\n')).then(|| (&self.header[..=own.len()], name))
    }

    /// This spare with another backend in it; a backend of another shape stays what it is, and needs a reload.
    fn standing_for(&self, name: &BackendName, wanted: &Self) -> Self {
        let header = if self.has_shape_of(wanted) {
            format!("{}{STANDS_FOR}{name}\n", self.own_header().trim_end_matches('\n')).into()
        } else {
            wanted.header.clone()
        };
        Self { header, servers: wanted.servers.clone(), assets: wanted.assets.clone() }
    }

    /// Whether two headers say the same, apart from name and comments.
    fn has_shape_of(&self, other: &Self) -> bool {
        shape(&self.header).eq(shape(&other.header))
    }
}

fn shape(header: &str) -> impl Iterator<Item = &str> {
    let lines = header.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.map(|line| match line.strip_prefix("backend ") {
        Some(rest) => rest.split_once(' ').map_or("", |(_, defaults)| defaults),
        None => line,
    })
}

impl Texts {
    /// What runs for a backend: under its own name, or in a spare that stands for it, as it would be under its own name.
    pub fn running_as(&self, name: &BackendName) -> Option<Arc<BackendText>> {
        if let Some(text) = self.backends.get(name) {
            return Some(text.clone());
        }
        let mut spares =
            BackendName::spares().filter_map(|spare| self.backends.get(&spare).cloned().map(|t| (spare, t)));
        let (spare, text) = spares.find(|(_, text)| text.stands_for().as_ref() == Some(name))?;
        let own = format!("backend {name}");
        let header = text.own_header().replacen(&format!("backend {spare}"), &own, 1).into();
        Some(Arc::new(BackendText { header, servers: text.servers.clone(), assets: text.assets.clone() }))
    }
}

/// Where the units of `wanted` can run before a reload, and which units that makes of them.
pub(super) fn place(
    running: &Texts,
    wanted: &Texts,
    mut units: BTreeSet<Unit>,
    capabilities: Capabilities,
) -> (Texts, BTreeSet<Unit>) {
    let mut spares = Spares::of(running);
    let mut placed = wanted.clone();
    // Whom a spare stands for already. When nobody wants that one any more, it stays as it is: a request that is still tried
    // again in it must not reach another Service that took its place.
    for (name, spare) in &spares.taken {
        let unit = Unit::Backend(spare.clone());
        let touched = units.remove(&Unit::Backend(name.clone())) | units.remove(&unit);
        if touched && wanted.backends.contains_key(name) {
            stand_in(running, wanted, &mut placed, name, spare);
            units.insert(unit);
        }
    }
    let new = |name: &BackendName| wanted.backends.contains_key(name) && !running.backends.contains_key(name);
    let new: Vec<BackendName> = units
        .iter()
        .filter_map(|unit| match unit {
            Unit::Backend(name) if !name.is_spare() && new(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    for name in new {
        let Some(spare) = spares.take(running, wanted, &name, capabilities) else { continue };
        stand_in(running, wanted, &mut placed, &name, &spare);
        units.remove(&Unit::Backend(name));
        units.insert(Unit::Backend(spare));
    }
    for unit in &units {
        let Unit::Entry(map, key) = unit else { continue };
        if let Some(value) = wanted.map(*map).get(key).and_then(|value| spares.value(*map, value)) {
            placed.map_mut(*map).insert_mut(key.clone(), value);
        }
    }
    (placed, units)
}

/// Moves a wanted backend into a spare.
fn stand_in(running: &Texts, wanted: &Texts, placed: &mut Texts, name: &BackendName, spare: &BackendName) {
    let (Some(text), Some(own)) = (wanted.backends.get(name), running.backends.get(spare)) else { return };
    placed.backends.remove_mut(name);
    placed.backends.insert_mut(spare.clone(), Arc::new(own.standing_for(name, text)));
}

/// The spares that run.
struct Spares {
    /// Backend → the spare that stands for it.
    taken: Map<BackendName, BackendName>,
    /// Those that stand for nobody; looked for when the first one is needed.
    free: Option<BTreeSet<BackendName>>,
}

impl Spares {
    fn of(running: &Texts) -> Self {
        Self { taken: running.backends.standing().clone(), free: None }
    }

    /// The first free spare of the shape of a wanted backend is no longer free.
    fn take(
        &mut self,
        running: &Texts,
        wanted: &Texts,
        name: &BackendName,
        capabilities: Capabilities,
    ) -> Option<BackendName> {
        let text = wanted.backends.get(name).filter(|text| can_add(text, capabilities))?;
        let is_free = |spare: &BackendName| {
            running.backends.get(spare).is_some_and(|running| running.stands_for().is_none())
        };
        let free = self.free.get_or_insert_with(|| BackendName::spares().filter(is_free).collect());
        let fits = |spare: &&BackendName| {
            running.backends.get(spare).is_some_and(|running| running.has_shape_of(text))
        };
        let spare = free.iter().find(fits)?.clone();
        free.remove(&spare);
        self.taken.insert_mut(name.clone(), spare.clone());
        Some(spare)
    }

    /// A map value with spares for the backends in it that they stand for; `None` when there is none in it.
    fn value(&self, map: MapId, value: &str) -> Option<Arc<str>> {
        let spare = |name: &str| self.taken.get(&BackendName::parsed(name));
        if self.taken.is_empty() || !map.backends_in(value).any(|name| spare(name).is_some()) {
            return None;
        }
        let backends = map.backends_in_value();
        let fields = value.split('|').enumerate().map(|(i, field)| match spare(field) {
            Some(spare) if i < backends => spare.as_str(),
            _ => field,
        });
        Some(fields.collect::<Vec<_>>().join("|").into())
    }
}
