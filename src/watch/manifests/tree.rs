//! Which files there are, and how to see that one changed.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file written to less than this ago may be half written.
pub(super) const QUIET: Duration = Duration::from_millis(20);

/// What differs after a file was written or replaced. The change time is there for copies that keep their modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A file that exists.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) fingerprint: Fingerprint,
    /// Nobody wrote to it just now.
    pub(super) is_quiet: bool,
}

/// All files, in the order in which later ones win, and the places that cannot be read.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: Vec<Found>,
    pub(super) unreadable: Vec<(PathBuf, io::Error)>,
}

/// Looks at all files under these paths.
pub(super) fn scan(paths: &[PathBuf]) -> Tree {
    let mut tree = Tree::default();
    let mut visited = BTreeSet::new();
    for path in paths {
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => tree.folder(path, &meta, &mut visited),
            Ok(meta) => tree.file(path, &meta),
            Err(error) => tree.unreadable.push((path.clone(), error)),
        }
    }
    // A file that is named twice counts where it was named last.
    let mut seen = BTreeSet::new();
    let mut files: Vec<Found> =
        tree.files.into_iter().rev().filter(|f| seen.insert(f.path.clone())).collect();
    files.reverse();
    Tree { files, ..tree }
}

impl Tree {
    /// The folder's own files and folders, sorted. Names that start with a dot are left out: swap files of editors, and the
    /// versions behind the links in a mounted ConfigMap (`..data`).
    fn folder(&mut self, path: &Path, meta: &Metadata, visited: &mut BTreeSet<(u64, u64)>) {
        // Links may lead back up.
        if !visited.insert((meta.dev(), meta.ino())) {
            return;
        }
        let mut inside: Vec<PathBuf> = match fs::read_dir(path) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(error) => return self.unreadable.push((path.to_owned(), error)),
        };
        inside.sort();
        for path in inside {
            if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
                continue;
            }
            match fs::metadata(&path) {
                Ok(meta) if meta.is_dir() => self.folder(&path, &meta, visited),
                Ok(meta) if is_manifest(&path) => self.file(&path, &meta),
                Err(error) if is_manifest(&path) && error.kind() != io::ErrorKind::NotFound => {
                    self.unreadable.push((path, error));
                }
                // Other files, and what vanished between the two looks.
                Ok(_) | Err(_) => {}
            }
        }
    }

    fn file(&mut self, path: &Path, meta: &Metadata) {
        let age = meta.modified().ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
        let fingerprint = Fingerprint {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        };
        // A time in the future says nothing about the last write.
        let is_quiet = age.is_none_or(|age| age >= QUIET);
        self.files.push(Found { path: path.to_owned(), fingerprint, is_quiet });
    }
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml" || extension == "json")
}
