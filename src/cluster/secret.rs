//! Secret and ConfigMap (`v1`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::{ObjectName, Strings};

/// A Secret. Its data never appears in `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// Namespace and name.
    pub name: ObjectName,
    /// Decoded `data`.
    pub data: BTreeMap<Arc<str>, Bytes>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.data.keys().map(AsRef::as_ref).collect();
        f.debug_struct("Secret").field("name", &self.name).field("keys", &keys).finish_non_exhaustive()
    }
}

/// A ConfigMap that a flag names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigMap {
    /// Namespace and name.
    pub name: ObjectName,
    /// `data`.
    pub data: Strings,
}
