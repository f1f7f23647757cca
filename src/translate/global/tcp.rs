//! TCP services: a port each.

use super::{Context, Read};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(_context: &Context<'_>, _read: &mut Read, _notes: &mut Notes) {}
