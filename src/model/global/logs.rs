//! Where logs go, and their format.

/// Log settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logs {}
