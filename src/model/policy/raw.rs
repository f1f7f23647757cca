//! Raw configuration in a backend.

/// Raw lines of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Raw {}
