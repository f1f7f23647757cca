//! The transaction around a reload: what runs is kept beside, and comes back when the candidate is refused or the update
//! is cut off.
//!
//! Every transaction is a list of steps, each a single change of a folder, so that a process may die between any two. The
//! mark `pending` is written after the last good set is whole and removed after it is back: with it, the set counts;
//! without it, what lies in `last-good` is a leftover.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::volumes::{files_in, has_extension, make_folder};
use crate::write::temporary;
use crate::{FILE_MODE, Failure, Volumes, write_atomic};

const MARK: &[u8] = b"An update is under way. What ran before it is in last-good/.\n";

/// An update that is neither committed nor restored. Lives on the volume: every process finds the same one.
///
/// It covers what HAProxy reads: `*.cfg`, maps, patterns, error pages, crt-lists. Certificate files are not part of it: they
/// are added before and removed after.
#[derive(Debug)]
pub struct Transaction {
    volumes: Volumes,
}

impl Transaction {
    /// Keeps what runs beside, and marks the volume. An open transaction goes on: what ran before it stays the last good
    /// set, whatever candidates followed.
    ///
    /// Files are kept by hard links; so between here and the end nobody may write into a file, only replace it by
    /// [`write_atomic`].
    pub fn begin(volumes: &Volumes) -> Result<Self, Failure> {
        if let Some(open) = Self::open(volumes) {
            return Ok(open);
        }
        run(&begin_steps(volumes)?)?;
        Ok(Self { volumes: volumes.clone() })
    }

    /// The transaction that is open on these volumes.
    pub fn open(volumes: &Volumes) -> Option<Self> {
        volumes.pending().symlink_metadata().is_ok().then(|| Self { volumes: volumes.clone() })
    }

    /// The candidate is proven: it is what counts from now on.
    pub fn commit(&self) -> Result<(), Failure> {
        run(&commit_steps(&self.volumes)?)
    }

    /// Puts the last good set back; `false` when there is none (its volume was lost), which changes nothing.
    ///
    /// What is referred to comes back before what refers to it, and files that only the candidate has go last, so that
    /// HAProxy finds a set to start with as soon as possible. Files that did not change are not touched.
    pub fn restore(&self) -> Result<bool, Failure> {
        if !self.volumes.last_good().is_dir() {
            return Ok(false);
        }
        run(&restore_steps(&self.volumes)?)?;
        Ok(true)
    }

    /// Removes what an interrupted begin or commit left behind. Does nothing while a transaction is open.
    pub fn clean(volumes: &Volumes) -> Result<(), Failure> {
        if Self::open(volumes).is_some() { Ok(()) } else { run(&cleaning(volumes)?) }
    }

    /// Forgets an open transaction whose last good set is lost, once something else that starts is in its place.
    pub(crate) fn abandon(volumes: &Volumes) -> Result<(), Failure> {
        run(&commit_steps(volumes)?)
    }
}

/// One change of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    MakeFolder(PathBuf),
    /// A second name for a file, in place of what had that name.
    Link {
        from: PathBuf,
        to: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Mark(PathBuf),
    Remove(PathBuf),
    RemoveFolder(PathBuf),
}

fn run(steps: &[Step]) -> Result<(), Failure> {
    steps.iter().try_for_each(Step::run)
}

impl Step {
    fn run(&self) -> Result<(), Failure> {
        match self {
            Self::MakeFolder(path) => make_folder(path),
            Self::Link { from, to } => link(from, to).map_err(|e| Failure::new("link", to, e)),
            Self::Rename { from, to } => fs::rename(from, to).map_err(|e| Failure::new("replace", to, e)),
            Self::Mark(path) => write_atomic(path, MARK, FILE_MODE),
            Self::Remove(path) => gone(fs::remove_file(path)).map_err(|e| Failure::new("remove", path, e)),
            Self::RemoveFolder(path) => {
                gone(fs::remove_dir(path)).map_err(|e| Failure::new("remove", path, e))
            }
        }
    }
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// A hard link, or a copy where the file system has none, or where they are refused: for files of other users
/// (`fs.protected_hardlinks`) and over mounts inside a volume.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    gone(fs::remove_file(to))?;
    match fs::hard_link(from, to) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ReadOnlyFilesystem) => {
            Err(error)
        }
        Err(_) => fs::copy(from, to).map(drop),
        Ok(()) => Ok(()),
    }
}

/// A folder that HAProxy reads, and where its files are kept.
struct Part {
    live: PathBuf,
    last_good: PathBuf,
    /// Only files with this extension count, when set.
    extension: Option<&'static str>,
}

/// What a transaction covers, in the order in which it comes back: what is referred to before what refers to it.
fn parts(volumes: &Volumes) -> Vec<Part> {
    let mut parts: Vec<Part> = ["errors", "patterns", "maps"]
        .map(|name| Part {
            live: volumes.config.join(name),
            last_good: volumes.last_good().join(name),
            extension: None,
        })
        .into();
    parts.push(Part {
        live: volumes.state.clone(),
        last_good: volumes.last_good_state(),
        extension: Some("crt-list"),
    });
    parts.push(Part { live: volumes.config.clone(), last_good: volumes.last_good(), extension: Some("cfg") });
    parts
}

impl Part {
    /// Names in one of the two folders; backends (shards) before the main file that refers to them.
    fn names(&self, folder: &Path) -> Result<Vec<String>, Failure> {
        let mut names = files_in(folder)?;
        if let Some(extension) = self.extension {
            names.retain(|name| has_extension(name, extension));
        }
        names.sort_unstable_by(|a, b| (a == "haproxy.cfg", a).cmp(&(b == "haproxy.cfg", b)));
        Ok(names)
    }
}

fn begin_steps(volumes: &Volumes) -> Result<Vec<Step>, Failure> {
    let mut steps = cleaning(volumes)?;
    steps.push(Step::MakeFolder(volumes.last_good()));
    for part in parts(volumes) {
        if part.last_good != volumes.last_good() {
            steps.push(Step::MakeFolder(part.last_good.clone()));
        }
        for name in part.names(&part.live)? {
            steps.push(Step::Link { from: part.live.join(&name), to: part.last_good.join(&name) });
        }
    }
    steps.push(Step::Mark(volumes.pending()));
    Ok(steps)
}

fn commit_steps(volumes: &Volumes) -> Result<Vec<Step>, Failure> {
    let mut steps = vec![Step::Remove(volumes.pending())];
    steps.extend(cleaning(volumes)?);
    Ok(steps)
}

fn restore_steps(volumes: &Volumes) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    let mut removals = Vec::new();
    for part in parts(volumes) {
        // A state volume in memory is empty after the node started anew: nothing to put back, nothing to remove.
        if !part.last_good.is_dir() {
            continue;
        }
        let names = part.names(&part.last_good)?;
        if !names.is_empty() && !part.live.is_dir() {
            steps.push(Step::MakeFolder(part.live.clone()));
        }
        for name in &names {
            let (from, to) = (part.last_good.join(name), part.live.join(name));
            // Not by moving: until the mark is gone, the whole set may be needed again.
            if !same(&from, &to) {
                let new = temporary(&to);
                steps.push(Step::Link { from, to: new.clone() });
                steps.push(Step::Rename { from: new, to });
            }
        }
        let names: BTreeSet<&String> = names.iter().collect();
        // Other `*.cfg` files are not ours; the one who put them there takes them away.
        let is_ours =
            |name: &str| name == "haproxy.cfg" || Volumes::is_shard(name) || !has_extension(name, "cfg");
        for name in part.names(&part.live)? {
            if !names.contains(&name) && is_ours(&name) {
                removals.push(Step::Remove(part.live.join(name)));
            }
        }
    }
    // Deletions in the reverse order: what refers to something goes before it.
    steps.extend(removals.into_iter().rev());
    steps.extend(commit_steps(volumes)?);
    Ok(steps)
}

/// Whether two names have the same content: one file (a rename of one link over the other would do nothing and leave both,
/// POSIX) or equal copies.
fn same(one: &Path, other: &Path) -> bool {
    let (Ok(a), Ok(b)) = (fs::metadata(one), fs::metadata(other)) else { return false };
    (a.dev(), a.ino()) == (b.dev(), b.ino())
        || a.len() == b.len() && matches!((fs::read(one), fs::read(other)), (Ok(a), Ok(b)) if a == b)
}

fn cleaning(volumes: &Volumes) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    for folder in [volumes.last_good(), volumes.last_good_state()] {
        remove_tree(&folder, &mut steps)?;
    }
    Ok(steps)
}

fn remove_tree(folder: &Path, steps: &mut Vec<Step>) -> Result<(), Failure> {
    let failed = |error| Failure::new("list", folder, error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            remove_tree(&entry.path(), steps)?;
        } else {
            steps.push(Step::Remove(entry.path()));
        }
    }
    steps.push(Step::RemoveFolder(folder.to_owned()));
    Ok(())
}

#[cfg(test)]
mod tests;
