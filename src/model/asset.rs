//! Files that backends and frontends refer to and that only a reload reads: CA files, client certificates, error pages, scripts.

use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

/// What a file is for: says where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AssetKind {
    /// Certificate authorities (PEM), on the state volume.
    Authority,
    /// Certificate revocation list (PEM), on the state volume.
    Revocation,
    /// Certificate and key that HAProxy shows to servers, or signs with (PEM), on the state volume.
    KeyPair,
    /// A whole HTTP response, on the configuration volume.
    ErrorPage,
    /// Lua, on the configuration volume.
    Script,
}

impl AssetKind {
    /// Folder on its volume.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Authority | Self::Revocation | Self::KeyPair => "files",
            Self::ErrorPage => "errors",
            Self::Script => "scripts",
        }
    }

    /// Whether it lies on the state volume, else on the configuration volume.
    pub fn is_state(self) -> bool {
        matches!(self, Self::Authority | Self::Revocation | Self::KeyPair)
    }

    /// Extension of the file name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Authority | Self::Revocation | Self::KeyPair => "pem",
            Self::ErrorPage => "http",
            Self::Script => "lua",
        }
    }
}

/// A file with a name that says its content: whoever refers to another content refers to another name. So it is written before
/// what refers to it, never changes, and goes after the last reference.
#[derive(Clone)]
pub struct Asset {
    kind: AssetKind,
    name: Arc<str>,
    bytes: Bytes,
}

impl Asset {
    /// A file; `stem` (letters, digits, `-_.`) is for people who look into the folder.
    pub fn new(kind: AssetKind, stem: &str, bytes: Bytes) -> Self {
        let digest = Sha256::digest(&bytes);
        let mut hex = String::with_capacity(16);
        for byte in digest.iter().take(8) {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let stem: String = stem.chars().map(|c| if allowed(c) { c } else { '-' }).take(180).collect();
        let stem = stem.trim_start_matches('.');
        Self { kind, name: format!("{stem}-{hex}.{}", kind.extension()).into(), bytes }
    }

    /// What it is for.
    pub fn kind(&self) -> AssetKind {
        self.kind
    }

    /// File name, unique by content.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Content.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

impl PartialEq for Asset {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.name) == (other.kind, &other.name)
    }
}

impl Eq for Asset {}

impl PartialOrd for Asset {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Asset {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.kind, &self.name).cmp(&(other.kind, &other.name))
    }
}

impl Hash for Asset {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind, &self.name).hash(state);
    }
}

impl fmt::Debug for Asset {
    /// Without the content, which may be a private key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Asset").field(&self.name).finish()
    }
}
