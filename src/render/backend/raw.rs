//! Raw configuration.

use crate::model::Policy;
use crate::render::Paths;
use crate::render::text::Text;

/// Writes the lines of this family.
pub(super) fn write(text: &mut Text, policy: &Policy, paths: &Paths<'_>) {
    text.snippet(policy.raw.snippet.as_ref(), paths);
}
