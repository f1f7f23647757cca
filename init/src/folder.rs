//! What a configuration folder holds: nothing, a seed, a complete generated configuration, or something that HAProxy
//! cannot be trusted to start with.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::seed::is_seed;
use crate::volumes::files_in;
use crate::{Failure, SHARDS, Volumes, unseal};

/// What the folders hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderState {
    /// No configuration.
    Empty,
    /// A whole seed.
    Seed,
    /// A whole generated configuration: main file, all shards, maps, crt-list and certificates that they name.
    Complete,
    /// A transaction was begun and neither committed nor restored.
    Pending,
    /// Something is missing, cut off or altered.
    Incomplete {
        /// The first such file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for FolderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there was no configuration"),
            Self::Seed => f.write_str("there is a seed"),
            Self::Complete => f.write_str("the configuration is complete"),
            Self::Pending => f.write_str("an update was cut off"),
            Self::Incomplete { path, why } => write!(f, "`{}` {why}", path.display()),
        }
    }
}

/// Looks at the folders. Reads every sealed text, of certificates only the end; what cannot be read counts as incomplete.
pub fn state_of(volumes: &Volumes) -> FolderState {
    examine(volumes).unwrap_or_else(|failure| FolderState::Incomplete {
        path: failure.path,
        why: format!("cannot be read: {}", failure.error),
    })
}

/// Like [`state_of`], but a missing permission is a failure: a good configuration must not give way to a seed because the
/// reader has the wrong ids.
pub(crate) fn examine(volumes: &Volumes) -> Result<FolderState, Failure> {
    match check(volumes) {
        Ok(state) => Ok(state),
        Err(Flaw::Damage { path, why }) => Ok(FolderState::Incomplete { path, why }),
        Err(Flaw::Denied(failure)) => Err(failure),
    }
}

/// Why a folder is not complete.
enum Flaw {
    Damage { path: PathBuf, why: String },
    Denied(Failure),
}

impl Flaw {
    fn damage(path: &Path, why: &str) -> Self {
        Self::Damage { path: path.to_owned(), why: why.to_owned() }
    }

    fn unreadable(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::PermissionDenied => Self::Denied(Failure::new("read", path, error)),
            ErrorKind::NotFound => Self::damage(path, "is missing"),
            ErrorKind::InvalidData => Self::damage(path, "is not text"),
            _ => Self::Damage { path: path.to_owned(), why: format!("cannot be read: {error}") },
        }
    }
}

impl From<Failure> for Flaw {
    fn from(failure: Failure) -> Self {
        Self::unreadable(&failure.path, failure.error)
    }
}

fn check(volumes: &Volumes) -> Result<FolderState, Flaw> {
    if volumes.pending().symlink_metadata().is_ok() {
        return Ok(FolderState::Pending);
    }
    let stray = || -> Result<Option<PathBuf>, Failure> {
        let shard = files_in(&volumes.config)?.into_iter().find(|name| Volumes::is_shard(name));
        Ok(shard.map(|name| volumes.config.join(name)))
    };
    let main_file = volumes.main_file();
    let main = match fs::read_to_string(&main_file) {
        Ok(main) => main,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let state = if stray()?.is_some() {
                Err(Flaw::damage(&main_file, "is missing"))
            } else {
                Ok(FolderState::Empty)
            };
            return state;
        }
        Err(error) => return Err(Flaw::unreadable(&main_file, error)),
    };
    let main_text = whole(&main_file, &main)?;
    if is_seed(&main) {
        return match stray()? {
            Some(shard) => Err(Flaw::damage(&shard, "is left beside a seed")),
            None => Ok(FolderState::Seed),
        };
    }

    let mut references = References::default();
    references.collect(volumes, main_text);
    for shard in 0..SHARDS {
        let path = volumes.shard_file(shard);
        let text = read(&path)?;
        references.collect(volumes, whole(&path, &text)?);
    }
    for path in &references.sealed {
        let text = read(path)?;
        let text = whole(path, &text)?;
        if *path == volumes.crt_list() {
            references.certificates.insert(volumes.default_certificate());
        }
        if path.extension().is_some_and(|extension| extension == CRT_LIST) {
            references.certificates.extend(listed_certificates(text).map(PathBuf::from));
        }
    }
    for path in &references.certificates {
        check_pem(path)?;
    }
    for path in &references.others {
        fs::metadata(path).map_err(|error| Flaw::unreadable(path, error))?;
    }
    Ok(FolderState::Complete)
}

fn read(path: &Path) -> Result<String, Flaw> {
    fs::read_to_string(path).map_err(|error| Flaw::unreadable(path, error))
}

fn whole<'text>(path: &Path, sealed: &'text str) -> Result<&'text str, Flaw> {
    let why = if sealed.is_empty() { "is empty" } else { "was cut off or altered" };
    unseal(sealed).ok_or_else(|| Flaw::damage(path, why))
}

const CRT_LIST: &str = "crt-list";

/// Files that the configuration names; HAProxy does not start without them.
#[derive(Default)]
struct References {
    /// Maps and crt-lists: sealed.
    sealed: BTreeSet<PathBuf>,
    /// PEM files.
    certificates: BTreeSet<PathBuf>,
    /// Pattern files, error pages: users may bring them, so they only have to be there.
    others: BTreeSet<PathBuf>,
}

impl References {
    fn collect(&mut self, volumes: &Volumes, text: &str) {
        for folder in [
            volumes.maps(),
            volumes.patterns(),
            volumes.errors(),
            volumes.assets(false, "scripts"),
            volumes.state.clone(),
        ] {
            for path in paths_under(&folder, text).map(Path::new) {
                let known = match path.extension().and_then(|extension| extension.to_str()) {
                    Some("map") if path.starts_with(volumes.maps()) => &mut self.sealed,
                    Some(CRT_LIST) => &mut self.sealed,
                    Some("pem" | "crt" | "crl") => &mut self.certificates,
                    // Below the state folder also files that may be missing, such as a `server-state-file`.
                    _ if path.starts_with(&volumes.state) => continue,
                    _ => &mut self.others,
                };
                if !known.contains(path) {
                    known.insert(path.to_owned());
                }
            }
        }
    }
}

/// Paths below a folder that a configuration names outside of comment lines. A path ends where an argument ends: at white
/// space, quotes, a comma or a closing parenthesis. `opt@` and `virt@` (HAProxy 3.0) say that the file may be missing.
fn paths_under<'text>(folder: &Path, text: &'text str) -> impl Iterator<Item = &'text str> {
    let folder = format!("{}/", folder.display());
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(&folder)?;
            let end = text[start..]
                .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ')' | '\\'))
                .map_or(text.len(), |length| start + length);
            at = start + folder.len();
            let before = &text[text[..start].rfind('\n').map_or(0, |i| i + 1)..start];
            let begins =
                before.ends_with(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '(' | '@'));
            let optional = before.ends_with("opt@") || before.ends_with("virt@");
            if begins && !optional && !before.trim_start().starts_with('#') && end > at {
                return Some(&text[start..end]);
            }
        }
    })
}

/// The files that a crt-list names: the first word of each line.
fn listed_certificates(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter_map(|line| line.split_whitespace().next()).filter(|word| !word.starts_with('#'))
}

/// A PEM file is whole when its last line ends a block. Only that line is read: there may be thousands.
fn check_pem(path: &Path) -> Result<(), Flaw> {
    // Longer than any last line: `-----END ` label `-----`, blank lines behind it.
    const TAIL: u64 = 160;
    let tail = || -> io::Result<(u64, Vec<u8>)> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        if length > TAIL {
            file.seek(SeekFrom::Start(length - TAIL))?;
        }
        let mut tail = Vec::new();
        file.take(TAIL).read_to_end(&mut tail)?;
        Ok((length, tail))
    };
    let (length, tail) = tail().map_err(|error| Flaw::unreadable(path, error))?;
    if length == 0 {
        return Err(Flaw::damage(path, "is empty"));
    }
    let tail = tail.trim_ascii_end();
    let last = tail.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    if last.starts_with(b"-----END ") && last.ends_with(b"-----") {
        Ok(())
    } else {
        Err(Flaw::damage(path, "was cut off: its last line ends no PEM block"))
    }
}

#[cfg(test)]
mod tests;
