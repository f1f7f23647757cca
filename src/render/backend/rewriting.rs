//! Headers, paths, redirects, captures.

use crate::model::Policy;
use crate::render::Paths;
use crate::render::text::Text;

/// Writes the lines of this family.
pub(super) fn write(_text: &mut Text, _policy: &Policy, _paths: &Paths<'_>) {}
