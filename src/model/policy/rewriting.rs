//! Headers, paths, redirects, captures.

/// What is changed in requests and responses of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Rewriting {}
