//! Servers and the way to them.

use super::Family;

/// The keys of this file.
pub(super) static KEYS: Family = &[];
