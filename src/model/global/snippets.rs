//! Raw configuration in global, frontends and statistics.

use crate::model::Snippet;

/// Raw lines of the main text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippets {
    /// At the end of the global section.
    pub global: Option<Snippet>,
    /// In the HTTP and the HTTPS frontend.
    pub frontends: Option<Snippet>,
    /// At the end of the frontend with the statistics.
    pub stats: Option<Snippet>,
}

impl Snippets {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Snippet> {
        [&self.global, &self.frontends, &self.stats].into_iter().flatten()
    }
}
