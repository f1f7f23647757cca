//! Error pages of users.

use std::collections::BTreeMap;

use crate::model::Asset;

/// Error pages by status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorPages {
    /// A whole HTTP response for each status.
    pub pages: BTreeMap<u16, Asset>,
}
