//! Raw configuration in a backend.

use crate::model::Snippet;

/// Raw lines of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Raw {
    /// Lines at its end.
    pub snippet: Option<Snippet>,
}
