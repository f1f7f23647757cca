//! An operation on a volume that failed, with what is needed to mend it.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An operation on a volume that failed: the path, who tried, who owns the place, and the remedy.
#[derive(Debug)]
pub struct Failure {
    /// What was tried, such as `write`.
    pub operation: &'static str,
    /// On what.
    pub path: PathBuf,
    /// What the system answered.
    pub error: io::Error,
    /// Who tried.
    pub process: Process,
    /// The path, when it exists, and the nearest folder above it that does.
    pub places: Vec<Place>,
}

/// The ids of this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Process {
    /// Effective user.
    pub uid: Option<u32>,
    /// Effective group.
    pub gid: Option<u32>,
    /// Supplementary groups.
    pub groups: Vec<u32>,
}

/// Owner and mode of a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where.
    pub path: PathBuf,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Permission bits.
    pub mode: u32,
}

impl Failure {
    pub(crate) fn new(operation: &'static str, path: &Path, error: io::Error) -> Self {
        let itself = Place::of(path);
        let folder = path.ancestors().skip(1).find_map(Place::of);
        Self {
            operation,
            path: path.to_owned(),
            error,
            process: Process::current(),
            places: itself.into_iter().chain(folder).collect(),
        }
    }

    /// What to do about it, in one sentence.
    pub fn remedy(&self) -> String {
        let path = self.path.display();
        match self.error.kind() {
            ErrorKind::ReadOnlyFilesystem => {
                format!("mount the volume of `{path}` into this container without `readOnly: true`")
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => format!(
                "the volume of `{path}` is full: raise its `sizeLimit` (or the node's free space) and remove what does not \
                 belong there"
            ),
            ErrorKind::PermissionDenied => {
                "set `securityContext.fsGroup` of the pod, so that its volumes belong to a \
                                            group of this process, or give the folder to this user"
                    .to_owned()
            }
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                format!("`{path}` must be a folder: remove the file, or mount the volume one level higher")
            }
            ErrorKind::NotFound => {
                format!("mount a volume so that `{path}` exists, or name the right folder (see `--help`)")
            }
            _ => format!(
                "the volume of `{path}` does not work: look at the events of the pod and the log of the node"
            ),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, path, error, process, places } = self;
        write!(f, "cannot {operation} `{}`: {error}; this process is {process}", path.display())?;
        for place in places {
            write!(f, "; {place}")?;
        }
        write!(f, "; remedy: {}", self.remedy())
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // Its text is part of ours.
        self.error.source()
    }
}

impl Process {
    /// Reads `/proc/self/status`; ids stay unknown without it.
    fn current() -> Self {
        Self::parse(&fs::read_to_string("/proc/self/status").unwrap_or_default())
    }

    fn parse(status: &str) -> Self {
        let numbers = |name: &str| -> Vec<u32> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.into_iter().flat_map(str::split_whitespace).filter_map(|word| word.parse().ok()).collect()
        };
        // Columns: real, effective, saved, file system.
        Self {
            uid: numbers("Uid:").get(1).copied(),
            gid: numbers("Gid:").get(1).copied(),
            groups: numbers("Groups:"),
        }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = |id: Option<u32>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        write!(f, "uid {} gid {} groups ", id(self.uid), id(self.gid))?;
        if self.groups.is_empty() {
            return f.write_str("(none)");
        }
        let groups: Vec<String> = self.groups.iter().map(u32::to_string).collect();
        f.write_str(&groups.join(","))
    }
}

impl Place {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self { path: path.to_owned(), uid: found.uid(), gid: found.gid(), mode: found.mode() & 0o7777 })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` belongs to {}:{} with mode {:04o}",
            self.path.display(),
            self.uid,
            self.gid,
            self.mode
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_effective_ones() {
        let process =
            Process::parse("Name:\tx\nUid:\t0\t1000\t0\t0\nGid:\t0\t1001\t0\t0\nGroups:\t4 2000 \n");
        assert_eq!(process.to_string(), "uid 1000 gid 1001 groups 4,2000");
        assert_eq!(Process::parse("").to_string(), "uid ? gid ? groups (none)");
        assert!(Process::current().uid.is_some());
    }

    #[test]
    fn every_kind_of_error_has_its_remedy() {
        for (error, remedy) in [
            (30, "without `readOnly: true`"),  // EROFS
            (28, "`sizeLimit`"),               // ENOSPC
            (122, "`sizeLimit`"),              // EDQUOT
            (13, "`securityContext.fsGroup`"), // EACCES
            (1, "`securityContext.fsGroup`"),  // EPERM
            (20, "must be a folder"),          // ENOTDIR
            (2, "mount a volume"),             // ENOENT
            (5, "does not work"),              // EIO
        ] {
            let failure =
                Failure::new("write", Path::new("/nowhere/haproxy.cfg"), io::Error::from_raw_os_error(error));
            let text = failure.to_string();
            assert!(text.starts_with("cannot write `/nowhere/haproxy.cfg`: "), "{text}");
            assert!(text.contains("; this process is uid ") && text.contains("`/` belongs to 0:0"), "{text}");
            assert!(text.contains(remedy), "{text}");
        }
    }
}
