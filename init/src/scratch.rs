//! A folder for one test, removed with it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{SHARDS, Volumes, prepare_folders, seal};

static NEXT: AtomicUsize = AtomicUsize::new(0);

pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// In memory where there is such a place: the tests make thousands of files.
    pub(crate) fn new() -> Self {
        Self::below(Path::new("/dev/shm")).unwrap_or_else(Self::on_disk)
    }

    /// On disk: programs may be started from there.
    pub(crate) fn on_disk() -> Self {
        Self::below(&std::env::temp_dir()).unwrap()
    }

    fn below(folder: &Path) -> Option<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = folder.join(format!("outrigger-init-{}-{number}", std::process::id()));
        // A leftover of a killed run with the same process id.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).ok().map(|()| Self(folder))
    }

    pub(crate) fn root(&self) -> &Path {
        &self.0
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Three empty volumes.
    pub(crate) fn volumes(&self) -> Volumes {
        let volumes = Volumes { config: self.path("etc"), state: self.path("lib"), run: self.path("run") };
        for folder in [&volumes.config, &volumes.state] {
            fs::create_dir(folder).unwrap();
        }
        prepare_folders(&volumes).unwrap();
        volumes
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) const PEM: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n\
                              -----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n";

/// Writes a complete generated configuration whose texts carry `tag`, with `certificates` besides the default one.
pub(crate) fn generate(volumes: &Volumes, tag: &str, certificates: usize) {
    let write = |path: PathBuf, text: String| {
        let temporary = path.with_file_name(".new");
        fs::write(&temporary, text).unwrap();
        fs::rename(temporary, path).unwrap();
    };
    let mut list = format!("{}\n", volumes.default_certificate().display());
    write(volumes.default_certificate(), PEM.to_owned());
    for number in 0..certificates {
        let path = volumes.certificates().join(format!("ns_{number}.pem"));
        let _ = writeln!(list, "{} [alpn h2] {number}.example {number}.test", path.display());
        write(path, PEM.to_owned());
    }
    let _ = writeln!(list, "# {tag}");
    write(volumes.crt_list(), seal(list));
    for map in ["exact.map", "prefix.map"] {
        write(volumes.maps().join(map), seal(format!("web#{tag} route\n")));
    }
    write(volumes.patterns().join("deny.lst"), format!("# {tag}\n"));
    write(volumes.errors().join("503.http"), format!("HTTP/1.0 503 {tag}\r\n\r\n"));
    for shard in 0..SHARDS {
        write(volumes.shard_file(shard), seal(format!("backend b{shard} # {tag}\n")));
    }
    let main = format!(
        "global # {tag}\n\
         frontend web\n  bind :8443 ssl crt-list {list}\n  http-request set-var(txn.r) str(),map_str({maps}/exact.map)\n  \
         http-request set-var(txn.p) str(),map_beg(\"{maps}/prefix.map\",none)\n  \
         http-request deny if {{ src -f {patterns}/deny.lst }}\n  # {maps}/only-a-comment.map\n  \
         http-request deny if {{ src -f opt@{patterns}/optional.lst }}\n  errorfile 503 {errors}/503.http\n",
        list = volumes.crt_list().display(),
        maps = volumes.maps().display(),
        patterns = volumes.patterns().display(),
        errors = volumes.errors().display(),
    );
    write(volumes.main_file(), seal(main));
}
