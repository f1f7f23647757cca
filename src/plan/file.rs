//! Texts as files: what stands in each, and the generation mark.

use std::fmt::Write as _;
use std::path::Path;

use bytes::Bytes;
use outrigger_init::{SHARDS, Volumes, seal};
use sha2::{Digest as _, Sha256};

use super::{BackendText, CertificateText, FileId, MapId, Texts};
use crate::model::{BackendName, List};

/// The line, first in `global`, whose value `show info` shows as `description`.
pub(super) const MARK: &str = "  description outrigger-";

impl Texts {
    /// The content of a file. `None` for a certificate that these texts do not have, or of which only the digest is known:
    /// what stands on the volume is right.
    pub fn file(&self, id: &FileId, volumes: &Volumes) -> Option<Bytes> {
        let text = match id {
            FileId::Main => self.main_file(),
            FileId::Shard(shard) => {
                shard_file(self.backends.shard(*shard).map(|(name, text)| (name, text.as_ref())))
            }
            FileId::Map(id) => self.map_file(*id),
            FileId::List(file) => list_file(self.lists.get(file)?),
            FileId::CrtList => self.crt_list_file(volumes),
            FileId::Certificate(file) => return self.certificates.get(file)?.pem.clone(),
            FileId::DefaultCertificate => return self.default_certificate.as_ref()?.pem.clone(),
        };
        Some(seal(text).into())
    }

    /// All files, in the order in which they are written: what others refer to comes first.
    pub fn files(&self) -> Vec<FileId> {
        let certificates = self.certificates.keys().cloned().map(FileId::Certificate);
        certificates
            .chain(self.default_certificate.as_ref().map(|_| FileId::DefaultCertificate))
            .chain([FileId::CrtList])
            .chain(self.lists.keys().cloned().map(FileId::List))
            .chain(MapId::ALL.map(FileId::Map))
            .chain((0..SHARDS).map(FileId::Shard))
            .chain([FileId::Main])
            .collect()
    }

    /// Digest of the parts that only a reload changes: the main text, names and headers of the backends (before 2.6 the
    /// number of slots is in the header), list lines with options. Servers, map entries, other certificates, and whom a
    /// spare stands for are not in it.
    pub fn generation(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(self.main.as_bytes());
        for (name, text) in self.backends.iter() {
            for part in [name.as_str(), text.own_header()] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part.as_bytes());
            }
        }
        // Lines of the certificate list that only a reload changes.
        for (file, text) in self.certificates.iter().filter(|(_, text)| !text.options.is_empty()) {
            for part in [file, &text.options, &text.filters] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part.as_bytes());
            }
        }
        digest.finalize().iter().take(8).fold(String::with_capacity(16), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    fn main_file(&self) -> String {
        let Some((before, after)) = split_global(&self.main) else { return self.main.to_string() };
        format!("{before}{MARK}{}\n{after}", self.generation())
    }

    fn map_file(&self, id: MapId) -> String {
        let entries = self.map(id);
        let mut text = String::with_capacity(entries.size() * 64);
        for (key, value) in id.in_order(entries) {
            text.extend([key, " ", value, "\n"]);
        }
        text
    }

    fn crt_list_file(&self, volumes: &Volumes) -> String {
        let mut text = String::new();
        if let Some(default) = &self.default_certificate {
            crt_list_line(&mut text, &volumes.default_certificate(), default);
        }
        let folder = volumes.certificates();
        for (file, certificate) in &self.certificates {
            crt_list_line(&mut text, &folder.join(file.as_ref()), certificate);
        }
        text
    }
}

/// A pattern a line.
fn list_file(list: &List) -> String {
    let mut text = String::with_capacity(list.len() * 20);
    for pattern in list.iter() {
        text.extend([pattern.as_ref(), "\n"]);
    }
    text
}

/// The main text before and behind the end of its `global` line.
fn split_global(main: &str) -> Option<(&str, &str)> {
    const LINE: &str = "global\n";
    let at = if main.starts_with(LINE) { LINE.len() } else { main.find("\nglobal\n")? + 1 + LINE.len() };
    Some(main.split_at(at))
}

fn shard_file<'a>(backends: impl Iterator<Item = (&'a BackendName, &'a BackendText)>) -> String {
    let mut text = String::new();
    for (_, backend) in backends {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&backend.header);
        for (name, line) in &backend.servers {
            text.extend(["  server ", name, " ", line, "\n"]);
        }
    }
    text
}

fn crt_list_line(text: &mut String, path: &Path, certificate: &CertificateText) {
    let CertificateText { options, filters, .. } = certificate;
    let _ = match &**options {
        "" => writeln!(text, "{} {filters}", path.display()),
        options => writeln!(text, "{} [{options}] {filters}", path.display()),
    };
}
