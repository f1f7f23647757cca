//! Error pages of users.

/// Error pages by status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorPages {}
