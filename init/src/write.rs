//! Writing files so that a reader sees the old text or the new one, never a part.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::Failure;

/// End of the names of temporary files; with the leading dot HAProxy does not read them as configuration (2.2 to 3.4).
const TEMPORARY: &str = ".outrigger";

/// The temporary file that becomes `path`. One name per file, so that what a crash leaves behind does not pile up.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(TEMPORARY);
    path.with_file_name(name)
}

/// Removes temporary files that an interrupted write left in a folder; what cannot be removed stays.
pub(crate) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(TEMPORARY) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Replaces a file: a temporary one in the same folder, then a rename. No `fsync`: see [`seal`](crate::seal).
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    let temporary = temporary(path);
    let written = create(&temporary, mode)
        .and_then(|mut file| {
            // The umask does not count: HAProxy reads as a member of the group.
            file.set_permissions(Permissions::from_mode(mode))?;
            file.write_all(bytes)
        })
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        Failure::new("write", path, error)
    })
}

/// A new file in any case: the leftover of an interrupted restore is a second link to a file of the last good set, which
/// must not be written into.
fn create(temporary: &Path, mode: u32) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).mode(mode).open(temporary);
    create().or_else(|error| {
        if error.kind() != ErrorKind::AlreadyExists {
            return Err(error);
        }
        fs::remove_file(temporary)?;
        create()
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::FILE_MODE;
    use crate::scratch::Scratch;

    #[test]
    fn a_write_replaces_the_file_and_leaves_nothing_else() {
        let scratch = Scratch::new();
        let path = scratch.path("a.cfg");
        write_atomic(&path, b"one", FILE_MODE).unwrap();
        let before = fs::metadata(&path).unwrap();
        write_atomic(&path, b"two", FILE_MODE).unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(after.mode() & 0o7777, 0o640);
        assert_ne!(before.ino(), after.ino(), "a reader of the old file keeps the old text");
        assert_eq!(fs::read_dir(scratch.root()).unwrap().count(), 1);
    }

    #[test]
    fn the_temporary_name_is_hidden_and_not_a_configuration() {
        let name = temporary(Path::new("/x/haproxy.cfg"));
        assert_eq!(name, Path::new("/x/.haproxy.cfg.outrigger"));
    }

    #[test]
    fn a_leftover_link_is_not_written_through() {
        let scratch = Scratch::new();
        let kept = scratch.path("kept");
        fs::write(&kept, "last good").unwrap();
        let path = scratch.path("a.cfg");
        fs::hard_link(&kept, temporary(&path)).unwrap();
        write_atomic(&path, b"new", FILE_MODE).unwrap();
        assert_eq!(fs::read_to_string(kept).unwrap(), "last good");
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_alone() {
        let scratch = Scratch::new();
        let path = scratch.path("folder");
        fs::create_dir(&path).unwrap();
        let failure = write_atomic(&path, b"text", FILE_MODE).unwrap_err();
        assert!(failure.to_string().starts_with(&format!("cannot write `{}`", path.display())), "{failure}");
        assert_eq!(fs::read_dir(scratch.root()).unwrap().count(), 1);
    }

    #[test]
    fn sweeping_takes_only_our_temporary_files() {
        let scratch = Scratch::new();
        for name in [".a.cfg.outrigger", ".keep", "b.outrigger"] {
            fs::write(scratch.path(name), "").unwrap();
        }
        sweep(scratch.root());
        assert!(!scratch.path(".a.cfg.outrigger").exists());
        assert!(scratch.path(".keep").exists() && scratch.path("b.outrigger").exists());
    }
}
