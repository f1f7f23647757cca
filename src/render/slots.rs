//! Servers before 2.6: a fixed number of slots `s1` … `sN` whose address, weight and state change while HAProxy runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::server::{Keywords, Servers, free_slot, slot, socket};
use crate::model::{Backend, Server};
use crate::plan::{BackendText, Slot};

/// So many stay free when slots are laid out.
const SPARE: usize = 2;

/// Gives every server a slot. What runs keeps its place; new servers take places that are free now, only then those that
/// become free with this change. More slots (a reload), in multiples of `increment`, only when they do not suffice.
pub(super) fn assign(
    backend: &Backend,
    words: &Keywords,
    running: Option<&BackendText>,
    increment: u16,
) -> Servers {
    let mut waiting: BTreeMap<String, &Server> =
        backend.servers.values().map(|s| (socket(s.key), s)).collect();
    let running: BTreeMap<usize, Slot> = running
        .map(|text| {
            text.servers.iter().filter_map(|(name, line)| Some((number(name)?, Slot::parse(line)?))).collect()
        })
        .unwrap_or_default();
    let count = if running.is_empty() || waiting.len() > running.len() {
        (waiting.len() + SPARE).next_multiple_of(usize::from(increment.max(1)))
    } else {
        running.len()
    };

    let mut places: BTreeMap<usize, Arc<str>> = BTreeMap::new();
    let mut leaving = BTreeSet::new();
    for (place, old) in running.iter().filter(|(place, _)| **place <= count) {
        match old.socket().and_then(|socket| waiting.remove(&socket)) {
            Some(server) => _ = places.insert(*place, slot(server, words)),
            None if old.is_free() => {}
            None => _ = leaving.insert(*place),
        }
    }
    let free = (1..=count).filter(|place| !places.contains_key(place) && !leaving.contains(place));
    let free: Vec<usize> = free.chain(leaving.iter().copied()).collect();
    places.extend(free.iter().copied().zip(waiting.values().map(|server| slot(server, words))));

    let unused = free_slot(words);
    let text = |place| places.get(&place).unwrap_or(&unused).clone();
    (1..=count).map(|place| (format!("s{place}").into(), text(place))).collect()
}

fn number(name: &str) -> Option<usize> {
    name.strip_prefix('s')?.parse().ok()
}
