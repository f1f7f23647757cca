//! Which requests go where: canary, conditions, regular expressions, passthrough.

use super::Family;

/// The keys of this file.
pub(super) static KEYS: Family = &[];
