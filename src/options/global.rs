//! HAProxy as a whole: limits, timeouts, logs, statistics.

use super::Family;

/// The keys of this file.
pub(super) static KEYS: Family = &[];
