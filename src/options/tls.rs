//! TLS towards clients.

use super::Family;

/// The keys of this file.
pub(super) static KEYS: Family = &[];
