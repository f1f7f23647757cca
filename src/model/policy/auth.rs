//! External authentication: a sub-request decides.

/// External authentication of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Auth {}
