//! Headers, paths, redirects, captures.

use super::Context;
use crate::model::Policy;
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(_context: &Context<'_>, _policy: &mut Policy, _notes: &mut Notes) {}
