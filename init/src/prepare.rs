//! What has to happen before HAProxy starts on the volumes.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use crate::folder::examine;
use crate::seed::is_seed;
use crate::volumes::files_in;
use crate::write::sweep;
use crate::{
    FILE_MODE, Failure, Families, FolderState, Transaction, Volumes, prepare_folders, seed, write_atomic,
};

/// How to prepare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Port of the health endpoint in a seed.
    pub healthz_port: u16,
    /// Families of the health endpoint in a seed.
    pub families: Families,
    /// Create the three folders themselves. In a pod they are mounts, and a missing one is an error.
    pub create_volumes: bool,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A complete configuration was there, or a seed like the wanted one.
    Kept(FolderState),
    /// A seed was written, because of this.
    Seeded {
        /// What there was before.
        because: FolderState,
    },
    /// An update had been cut off, what ran before it is back.
    Restored(FolderState),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept(state) => write!(f, "kept what is there: {state}"),
            Self::Seeded { because: FolderState::Pending } => {
                f.write_str("wrote a seed: an update was cut off, and what ran before it is lost")
            }
            Self::Seeded { because: FolderState::Seed } => {
                f.write_str("wrote a seed: the one there was for other settings")
            }
            Self::Seeded { because } => write!(f, "wrote a seed: {because}"),
            Self::Restored(state) => {
                write!(f, "restored what ran before an update that was cut off: {state}")
            }
        }
    }
}

/// Creates the subfolders and sees to it that HAProxy starts: a complete configuration stays, an update that was cut off is
/// undone, and anything else gives way to a seed. To be called while nobody writes the volumes.
pub fn prepare(volumes: &Volumes, options: &Options) -> Result<Outcome, Failure> {
    if options.create_volumes {
        for volume in [&volumes.config, &volumes.state, &volumes.run] {
            fs::create_dir_all(volume).map_err(|e| Failure::new("create the folder", volume, e))?;
        }
    }
    prepare_folders(volumes)?;
    for folder in [
        &volumes.config,
        &volumes.maps(),
        &volumes.patterns(),
        &volumes.errors(),
        &volumes.state,
        &volumes.certificates(),
    ] {
        sweep(folder);
    }

    let mut state = examine(volumes)?;
    let mut restored = false;
    if state == FolderState::Pending
        && let Some(transaction) = Transaction::open(volumes)
        && transaction.restore()?
    {
        restored = true;
        state = examine(volumes)?;
    }
    let wanted = seed(options.healthz_port, options.families);
    let keep = match state {
        FolderState::Complete => true,
        FolderState::Seed => fs::read_to_string(volumes.main_file()).is_ok_and(|found| found == wanted),
        FolderState::Empty | FolderState::Pending | FolderState::Incomplete { .. } => false,
    };
    if !keep {
        write_seed(volumes, &wanted)?;
        return Ok(Outcome::Seeded { because: state });
    }
    Transaction::clean(volumes)?;
    Ok(if restored { Outcome::Restored(state) } else { Outcome::Kept(state) })
}

/// Puts the seed in the place of whatever is there. The controller writes everything anew, so damaged files only have to be
/// out of HAProxy's way; a main file that is not a seed is kept, since it may be somebody's own.
fn write_seed(volumes: &Volumes, seed: &str) -> Result<(), Failure> {
    for name in files_in(&volumes.config)?.into_iter().filter(|name| Volumes::is_shard(name)) {
        let path = volumes.config.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Failure::new("remove", &path, error));
            }
            _ => {}
        }
    }
    let main_file = volumes.main_file();
    let found = fs::read(&main_file).unwrap_or_default();
    let replaced = replaced(volumes);
    if !found.is_empty() && !is_seed(&String::from_utf8_lossy(&found)) && !replaced.exists() {
        fs::rename(&main_file, &replaced).map_err(|e| Failure::new("move away", &main_file, e))?;
    }
    write_atomic(&main_file, seed.as_bytes(), FILE_MODE)?;
    Transaction::abandon(volumes)
}

/// Where the first main file goes that had to give way to a seed. The name does not end in `.cfg`: HAProxy passes over it.
fn replaced(volumes: &Volumes) -> PathBuf {
    volumes.config.join("haproxy.cfg.replaced")
}

#[cfg(test)]
mod tests;
