//! Units: what changes by itself, and sets of them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use outrigger_init::{Volumes, shard_of};

use super::MapId;
use crate::model::BackendName;

/// A part of the texts that is compared, changed and adopted by itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Global, defaults, frontends, fixed backends.
    Main,
    /// A backend of a Service.
    Backend(BackendName),
    /// An entry of a map, by key.
    Entry(MapId, Arc<str>),
    /// Entries of a map that change together, by key.
    Entries(MapId, BTreeSet<Arc<str>>),
    /// A list of patterns, by file name.
    List(Arc<str>),
    /// A certificate, by file name.
    Certificate(Arc<str>),
    /// The default certificate.
    DefaultCertificate,
}

impl Unit {
    /// The files that hold this unit, in the order in which they are written when it is added or changed.
    pub fn files(&self) -> Vec<FileId> {
        match self {
            Self::Main => vec![FileId::Main],
            Self::Backend(name) => vec![FileId::Shard(shard_of(name.as_str()))],
            Self::Entry(id, _) | Self::Entries(id, _) => vec![FileId::Map(*id)],
            Self::List(file) => vec![FileId::List(file.clone())],
            Self::Certificate(file) => vec![FileId::Certificate(file.clone()), FileId::CrtList],
            Self::DefaultCertificate => vec![FileId::DefaultCertificate],
        }
    }
}

/// Which units to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Units {
    /// Every unit of either side.
    All,
    /// These.
    Only(BTreeSet<Unit>),
}

impl Default for Units {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

impl Units {
    /// Adds a unit.
    pub fn insert(&mut self, unit: Unit) {
        if let Self::Only(units) = self {
            units.insert(unit);
        }
    }

    /// Adds other units.
    pub fn extend(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::All, _) => {}
            (_, Self::All) => *self = Self::All,
            (Self::Only(units), Self::Only(more)) => units.extend(more),
        }
    }

    /// True when there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Only(units) if units.is_empty())
    }
}

impl FromIterator<Unit> for Units {
    fn from_iter<T: IntoIterator<Item = Unit>>(units: T) -> Self {
        Self::Only(units.into_iter().collect())
    }
}

/// A file on the volumes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileId {
    /// A certificate, by file name.
    Certificate(Arc<str>),
    /// The default certificate.
    DefaultCertificate,
    /// The list of certificates of the HTTPS listener.
    CrtList,
    /// A list of patterns, by file name.
    List(Arc<str>),
    /// A map.
    Map(MapId),
    /// A shard of the backends.
    Shard(usize),
    /// `haproxy.cfg`.
    Main,
}

impl FileId {
    /// Where the file is.
    pub fn path(&self, volumes: &Volumes) -> PathBuf {
        match self {
            Self::Certificate(file) => volumes.certificates().join(file.as_ref()),
            Self::DefaultCertificate => volumes.default_certificate(),
            Self::CrtList => volumes.crt_list(),
            Self::List(file) => volumes.patterns().join(file.as_ref()),
            Self::Map(id) => volumes.maps().join(id.file()),
            Self::Shard(shard) => volumes.shard_file(*shard),
            Self::Main => volumes.main_file(),
        }
    }
}
