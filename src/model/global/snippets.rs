//! Raw configuration in global, frontends and statistics.

/// Raw lines of the main text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippets {}
