//! Headers, paths, redirects, captures.

use super::Family;

/// The keys of this file.
pub(super) static KEYS: Family = &[];
