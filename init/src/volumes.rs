//! Names, paths and modes on the three shared volumes.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{Failure, fnv1a};

/// Number of files that backends are spread over (by a hash of their name), so that one change writes a small file.
pub const SHARDS: usize = 256;

/// Mode of files: the owner writes, the group (`fsGroup`) reads. Sockets are HAProxy's own, 0660.
pub const FILE_MODE: u32 = 0o640;

/// Mode of folders: what is made in them belongs to their group (`fsGroup`), whoever makes it.
pub const FOLDER_MODE: u32 = 0o2770;

/// Port of HAProxy's own health endpoint.
pub const HEALTHZ_PORT: u16 = 1042;

/// The three shared folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volumes {
    /// Configuration: `*.cfg`, `maps/`, `patterns/`, `errors/`. HAProxy reads it.
    pub config: PathBuf,
    /// State: certificates, CA files, CRLs, crt-lists. HAProxy reads it.
    pub state: PathBuf,
    /// Sockets. HAProxy writes it.
    pub run: PathBuf,
}

impl Default for Volumes {
    fn default() -> Self {
        Self {
            config: "/etc/haproxy".into(),
            state: "/var/lib/haproxy".into(),
            run: "/var/run/haproxy".into(),
        }
    }
}

impl Volumes {
    /// The main file: global, defaults, frontends. Sorts before the shards.
    pub fn main_file(&self) -> PathBuf {
        self.config.join("haproxy.cfg")
    }

    /// The file of a shard, 0 .. [`SHARDS`].
    pub fn shard_file(&self, shard: usize) -> PathBuf {
        self.config.join(format!("haproxy_{shard:02x}.cfg"))
    }

    /// Folder of map files.
    pub fn maps(&self) -> PathBuf {
        self.config.join("maps")
    }

    /// Folder of pattern files (allow and deny lists).
    pub fn patterns(&self) -> PathBuf {
        self.config.join("patterns")
    }

    /// Folder of error pages.
    pub fn errors(&self) -> PathBuf {
        self.config.join("errors")
    }

    /// A folder of files that only a reload reads, on the state volume (CA files, key pairs) or on the configuration volume
    /// (error pages, scripts).
    pub fn assets(&self, on_state: bool, folder: &str) -> PathBuf {
        if on_state { self.state.join(folder) } else { self.config.join(folder) }
    }

    /// Folder of certificate files (chain and key in one PEM).
    pub fn certificates(&self) -> PathBuf {
        self.state.join("certs")
    }

    /// The certificate for clients whose server name matches no other.
    pub fn default_certificate(&self) -> PathBuf {
        self.certificates().join("default.pem")
    }

    /// The list of certificates of the HTTPS listener.
    pub fn crt_list(&self) -> PathBuf {
        self.state.join("https.crt-list")
    }

    /// The worker's own socket, only rendered where a reload needs it to keep the listening sockets (before 2.6).
    pub fn worker_socket(&self) -> PathBuf {
        self.run.join("worker.sock")
    }

    /// Where HAProxy itself brings connections to its HTTPS listener when others on the same port are passed through.
    pub fn https_socket(&self) -> PathBuf {
        self.run.join("https.sock")
    }

    /// The master CLI socket.
    pub fn master_socket(&self) -> PathBuf {
        self.run.join("master.sock")
    }

    /// The mark of an open [`Transaction`](crate::Transaction).
    pub fn pending(&self) -> PathBuf {
        self.config.join("pending")
    }

    /// What ran before the open transaction, of the configuration volume.
    pub fn last_good(&self) -> PathBuf {
        self.config.join("last-good")
    }

    /// What ran before the open transaction, of the state volume (links do not reach over volumes).
    pub fn last_good_state(&self) -> PathBuf {
        self.state.join("last-good")
    }

    /// Whether this is the name of a shard file, of this or another number of shards.
    pub(crate) fn is_shard(name: &str) -> bool {
        name.starts_with("haproxy_") && has_extension(name, "cfg")
    }
}

/// Whether a file name ends in a dot and this, in lower case like everything HAProxy and we write.
pub(crate) fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

/// Which shard a backend is in: FNV-1a of its name.
#[allow(clippy::cast_possible_truncation, reason = "less than SHARDS")]
pub fn shard_of(backend: &str) -> usize {
    (fnv1a(backend.as_bytes()) % SHARDS as u64) as usize
}

/// Creates the subfolders that this process may write. The volumes themselves must be there: kubelet makes them.
pub fn prepare_folders(volumes: &Volumes) -> Result<(), Failure> {
    for volume in [&volumes.config, &volumes.state] {
        let found = fs::metadata(volume).map_err(|e| Failure::new("use the folder", volume, e))?;
        if !found.is_dir() {
            return Err(Failure::new("use the folder", volume, ErrorKind::NotADirectory.into()));
        }
    }
    let folders = [
        volumes.maps(),
        volumes.patterns(),
        volumes.errors(),
        volumes.assets(false, "scripts"),
        volumes.assets(true, "files"),
        volumes.certificates(),
    ];
    for folder in folders {
        make_folder(&folder)?;
    }
    Ok(())
}

/// Creates a folder with [`FOLDER_MODE`]. One that exists gets the mode too, when it can: it may belong to another user, or
/// be a mount of its own.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    // The mode of `mkdir` has no effect on the set-gid bit (Linux), hence the second call.
    let mode = Permissions::from_mode(FOLDER_MODE);
    match fs::create_dir(folder) {
        Ok(()) => fs::set_permissions(folder, mode).map_err(|e| Failure::new("set the mode of", folder, e)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match fs::metadata(folder) {
            Ok(found) if !found.is_dir() => {
                Err(Failure::new("create the folder", folder, ErrorKind::NotADirectory.into()))
            }
            Ok(found) => {
                if found.permissions().mode() & 0o7777 != FOLDER_MODE {
                    let _ = fs::set_permissions(folder, mode);
                }
                Ok(())
            }
            Err(error) => Err(Failure::new("look at", folder, error)),
        },
        Err(error) => Err(Failure::new("create the folder", folder, error)),
    }
}

/// Names of the files in a folder that do not start with a dot, sorted; none when the folder is missing.
pub(crate) fn files_in(folder: &Path) -> Result<Vec<String>, Failure> {
    let failed = |error| Failure::new("list", folder, error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            continue;
        }
        // A name that is not UTF-8 is not ours.
        if let Ok(name) = entry.file_name().into_string()
            && !name.starts_with('.')
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backend_stays_in_its_file_over_versions() {
        assert_eq!(shard_of("default_web_80"), 20);
        assert_eq!(shard_of(""), 0x25);
        assert_eq!(Volumes::default().shard_file(0x0a), Path::new("/etc/haproxy/haproxy_0a.cfg"));
    }

    #[test]
    fn shards_of_any_number_are_told_from_other_files() {
        assert!(Volumes::is_shard("haproxy_00.cfg") && Volumes::is_shard("haproxy_1ff.cfg"));
        for name in ["haproxy.cfg", "haproxy_00.cfg.replaced", "zz.cfg", "haproxy-own.cfg"] {
            assert!(!Volumes::is_shard(name), "{name}");
        }
    }
}
