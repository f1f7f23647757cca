//! What HAProxy refuses is left out alone, and everybody else's changes go on. Pure: no IO, no clock.
//!
//! From 2.7 on a refusal says which line is wrong: [`blame`] finds the part that it belongs to. Before, the parts that
//! changed are suspects: they are left out together, and come back by halves until the guilty ones are found
//! ([`Quarantine`]). A part is what it says: when its text changes it is another one, and is tried.
#![deny(clippy::disallowed_methods)]

mod blame;
mod left_out;
mod state;
#[cfg(test)]
mod tests;

pub use blame::Place;
pub use left_out::LeftOut;
pub use state::{Case, Next, Pending, Progress, Quarantine, Verdict};

use blame::blame;

use std::sync::Arc;

use crate::model::{BackendName, Model, Policy, Snippet};

/// Something that can be left out alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Raw configuration of one object, wherever it stands.
    Snippet(Snippet),
    /// A backend: what ran before under its name goes on; when nothing did, its routes answer 503.
    Backend(BackendName),
    /// Global, defaults, frontends: what ran before goes on.
    Main,
}

/// The policy of a backend, spares included.
fn policy_of<'a>(model: &'a Model, backend: &BackendName) -> Option<&'a Arc<Policy>> {
    if backend.is_spare() {
        return Some(&model.global.plain);
    }
    model.backends.get(backend).map(|backend| &backend.policy)
}

/// The raw configuration in a backend.
fn snippet_of<'a>(model: &'a Model, backend: &BackendName) -> Option<&'a Snippet> {
    policy_of(model, backend)?.raw.snippet.as_ref()
}

/// All raw configuration.
fn snippets(model: &Model) -> impl Iterator<Item = &Snippet> {
    let backends = model.backends.keys().filter_map(|name| snippet_of(model, name));
    model.global.snippets.iter().chain(&model.global.plain.raw.snippet).chain(backends)
}
