//! What takes the place of a backend that HAProxy refuses: what ran before, or 503.

use std::sync::Arc;

use crate::model::BackendName;
use crate::plan::{BackendText, MapId, Texts};

/// What runs, with new servers where they are of the same kind.
pub(super) fn backend(runs: &BackendText, wanted: BackendText) -> BackendText {
    let mut kept = runs.clone();
    // Before 2.6 servers are slots, and their number is part of the header.
    let slots =
        |text: &BackendText| text.header.lines().find(|line| line.ends_with(" slots")).map(str::to_owned);
    let kind = |text: &BackendText| text.servers.values().next().map(|server| keywords(server));
    if slots(&wanted) == slots(runs)
        && kind(&wanted).is_none_or(|wanted| kind(runs).is_none_or(|runs| runs == wanted))
    {
        kept.servers = wanted.servers;
    }
    kept.assets.extend(wanted.assets);
    kept
}

/// What a server has besides its address and what tells it from its neighbours.
fn keywords(server: &str) -> String {
    let mut words = server.split(' ').skip(1);
    let mut kept = String::new();
    while let Some(word) = words.next() {
        match word {
            "id" | "weight" => _ = words.next(),
            "disabled" => {}
            word => kept.extend([word, " "]),
        }
    }
    kept
}

/// Entries that lead to a backend that is not there lead to 503 in its place.
pub(super) fn unavailable(wanted: &mut Texts) {
    let fixed = BackendName::fixed(503);
    for id in MapId::ALL {
        let missing = |name: &str| {
            // A name of three parts is that of a Service; the others are in the main text.
            name.split('_').count() > 2 && !wanted.backends.contains_key(&BackendName::parsed(name))
        };
        let count = id.backends_in_value();
        let instead = |value: &str| -> Option<Arc<str>> {
            let mut parts: Vec<&str> = value.split('|').collect();
            let mut changed = false;
            for part in parts.iter_mut().take(count).filter(|part| missing(part)) {
                (*part, changed) = (fixed.as_str(), true);
            }
            changed.then(|| parts.join("|").into())
        };
        let entries = wanted.map(id).iter();
        let changed: Vec<_> =
            entries.filter_map(|(key, value)| Some((key.clone(), instead(value)?))).collect();
        for (key, value) in changed {
            wanted.map_mut(id).insert_mut(key, value);
        }
    }
}
