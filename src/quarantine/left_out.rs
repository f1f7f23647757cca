//! What the renderer leaves out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Part, policy_of, snippets};
use crate::model::{BackendName, Global, ListName, Model, Policy, Snippet};

/// Parts with what they say: what says something else is not left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// With the pattern files of theirs that exist.
    snippets: BTreeMap<Snippet, BTreeSet<ListName>>,
    backends: BTreeMap<BackendName, Arc<Policy>>,
    main: Option<Arc<Global>>,
}

impl LeftOut {
    /// Leaves a part out, with what it says in this model.
    pub fn add(&mut self, part: &Part, model: &Model) {
        match part {
            Part::Snippet(snippet) => {
                self.snippets.insert(snippet.clone(), files_of(snippet, model));
            }
            Part::Backend(name) => {
                if let Some(policy) = policy_of(model, name) {
                    self.backends.insert(name.clone(), policy.clone());
                }
            }
            Part::Main => self.main = Some(model.global.clone()),
        }
    }

    /// Takes a part back.
    pub fn remove(&mut self, part: &Part) {
        match part {
            Part::Snippet(snippet) => _ = self.snippets.remove(snippet),
            Part::Backend(name) => _ = self.backends.remove(name),
            Part::Main => self.main = None,
        }
    }

    /// Whether a part still says in this model what was left out; a snippet says something else when a pattern file that it
    /// names has come.
    pub fn is_current(&self, part: &Part, model: &Model) -> bool {
        match part {
            Part::Snippet(snippet) => {
                snippets(model).any(|used| used == snippet)
                    && self.snippets.get(snippet) == Some(&files_of(snippet, model))
            }
            Part::Backend(name) => policy_of(model, name).is_some_and(|policy| self.backend(name, policy)),
            Part::Main => self.main(&model.global),
        }
    }

    /// True when nothing is left out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether whole backends are left out.
    pub fn has_backends(&self) -> bool {
        !self.backends.is_empty()
    }

    /// Whether a snippet is left out.
    pub fn snippet(&self, snippet: &Snippet) -> bool {
        self.snippets.contains_key(snippet)
    }

    /// Whether a backend is left out as a whole.
    pub fn backend(&self, name: &BackendName, policy: &Arc<Policy>) -> bool {
        self.backends.get(name) == Some(policy)
    }

    /// Whether the main text is left out.
    pub fn main(&self, global: &Arc<Global>) -> bool {
        self.main.as_ref() == Some(global)
    }
}

/// The pattern files that a snippet names, of those that exist. HAProxy refuses a configuration that names another one.
fn files_of(snippet: &Snippet, model: &Model) -> BTreeSet<ListName> {
    let words = snippet.lines.iter().flat_map(|line| line.split_whitespace());
    let named = words.filter_map(|word| word.strip_prefix("patterns/")).map(ListName::file);
    named.filter(|name| model.lists.contains_key(name)).collect()
}
