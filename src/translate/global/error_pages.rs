//! Error pages of users.

use super::Context;
use crate::model::Global;
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(_context: &Context<'_>, _global: &mut Global, _notes: &mut Notes) {}
