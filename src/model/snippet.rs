//! Raw configuration, as whoever wrote it meant it.

use std::sync::Arc;

use crate::cluster::Origin;

/// Lines that stand in a section as they are. Where they come from is part of what they are: two objects with the same
/// lines have two snippets, and a refused one is left out of one object only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Snippet {
    /// The object and the key.
    pub origin: Origin,
    /// The lines, checked: each is one line of its section.
    pub lines: Arc<[Arc<str>]>,
}

impl Snippet {
    /// Begins the comment before the lines, which then says where they come from.
    pub const MARK: &'static str = "# snippet of ";
    /// The comment behind the lines.
    pub const END: &'static str = "# end of snippet";
}
