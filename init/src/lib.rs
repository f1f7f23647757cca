//! The contract of the three shared volumes: names, modes, paths, the seed configuration, complete and incomplete folders,
//! and the transaction around a reload. The controller and the init container use this one definition. No dependencies.
//!
//! Files are written without `fsync` and only ever replaced by rename. The first keeps live changes fast, the second keeps
//! the set startable while the node is up; what a node that lost power leaves behind is found by [`state_of`].

mod failure;
mod folder;
mod prepare;
mod seal;
mod seed;
mod transaction;
mod volumes;
mod write;

pub use failure::{Failure, Place, Process};
pub use folder::{FolderState, state_of};
pub use prepare::{Options, Outcome, prepare};
pub use seal::{fnv1a, seal, unseal};
pub use seed::{Families, SEED_MARK, seed};
pub use transaction::Transaction;
pub use volumes::{FILE_MODE, FOLDER_MODE, HEALTHZ_PORT, SHARDS, Volumes, prepare_folders, shard_of};
pub use write::write_atomic;

#[cfg(test)]
mod scratch;
