//! Files on the volumes: each replaced by rename, in an order in which every moment starts.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use outrigger_init::{FILE_MODE, SHARDS, Volumes, write_atomic};

use crate::model::{Asset, AssetKind};
use crate::plan::{CertificateText, FileId, MapId, ParseError, Parsed, Texts};

/// Writes a file of these texts. A certificate of which only the digest is known stands on the volume already.
pub(super) fn write(texts: &Texts, id: &FileId, volumes: &Volumes) -> anyhow::Result<()> {
    if let Some(bytes) = texts.file(id, volumes) {
        write_atomic(&id.path(volumes), &bytes, FILE_MODE)?;
    }
    Ok(())
}

/// Writes a file unless it has this content already, so that a reload leaves alone what it does not change.
fn write_if_changed(texts: &Texts, id: &FileId, volumes: &Volumes) -> anyhow::Result<()> {
    let Some(bytes) = texts.file(id, volumes) else { return Ok(()) };
    let path = id.path(volumes);
    if std::fs::read(&path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    write_atomic(&path, &bytes, FILE_MODE)?;
    Ok(())
}

/// Writes a whole candidate over what runs.
///
/// HAProxy may be restarted at any moment by its container runtime and then reads what is there. So what is referred to
/// comes before what refers to it, and what goes is still there until nothing refers to it: certificates, backends (with
/// those that go, and spares as they stand in), maps and lists, the main file, then the backends without those that go.
pub(super) fn write_candidate(running: &Texts, candidate: &Texts, volumes: &Volumes) -> anyhow::Result<()> {
    for file in candidate.certificates.keys() {
        write_if_changed(candidate, &FileId::Certificate(file.clone()), volumes)?;
    }
    write_if_changed(candidate, &FileId::DefaultCertificate, volumes)?;
    write_assets(candidate.assets(), volumes)?;
    for list in candidate.lists.keys() {
        write_if_changed(candidate, &FileId::List(list.clone()), volumes)?;
    }
    let mut both = candidate.clone();
    for (name, text) in running.backends.iter() {
        if !candidate.backends.contains_key(name) || text.stands_for().is_some() {
            both.backends.insert_mut(name.clone(), text.clone());
        }
    }
    for texts in [&both, candidate] {
        for shard in 0..SHARDS {
            write_if_changed(texts, &FileId::Shard(shard), volumes)?;
        }
        for map in MapId::ALL {
            write_if_changed(candidate, &FileId::Map(map), volumes)?;
        }
        write_if_changed(candidate, &FileId::CrtList, volumes)?;
        write_if_changed(candidate, &FileId::Main, volumes)?;
    }
    Ok(())
}

/// Reads a file; `None` when it is not there.
pub(super) fn read(id: &FileId, volumes: &Volumes) -> Option<Bytes> {
    std::fs::read(id.path(volumes)).ok().map(Bytes::from)
}

/// Reads all files back into texts.
pub(super) fn parse(volumes: &Volumes) -> Result<Parsed, ParseError> {
    let names = std::fs::read_dir(volumes.patterns()).into_iter().flatten().flatten();
    let lists = names.filter_map(|entry| entry.file_name().to_str().map(Arc::from));
    Texts::parse(|id| read(id, volumes), lists.collect::<BTreeSet<Arc<str>>>())
}

/// Writes the files that these texts refer to and that are not there yet.
pub(super) fn write_assets<'a>(
    assets: impl Iterator<Item = &'a Asset>,
    volumes: &Volumes,
) -> anyhow::Result<()> {
    for asset in assets {
        let path = asset_path(asset.kind(), volumes).join(asset.name().as_ref());
        if !path.exists() {
            write_atomic(&path, asset.bytes(), FILE_MODE)?;
        }
    }
    Ok(())
}

/// Removes lists and assets that these texts do not name: nothing refers to them any more.
pub(super) fn remove_unnamed(texts: &Texts, volumes: &Volumes) -> anyhow::Result<()> {
    let named: BTreeSet<&str> = texts.assets().map(|asset| asset.name().as_ref()).collect();
    let folders = [AssetKind::Authority, AssetKind::ErrorPage, AssetKind::Script];
    // A text that was read back, and stays because HAProxy refuses its successor, does not say what it refers to.
    let mentioned = |name: &str| texts.mentions(&format!("/{name}"));
    for folder in folders.map(|kind| asset_path(kind, volumes)) {
        // Lines of the certificate list may have been read back, and name their files by their text only.
        let is_listed = |name: &str| texts.certificates.values().any(|text| text.options.contains(name));
        remove_others(&folder, |name| named.contains(name) || is_listed(name) || mentioned(name))?;
    }
    remove_others(&volumes.patterns(), |name| texts.lists.contains_key(name) || mentioned(name))
}

fn remove_others(folder: &Path, keep: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(&keep) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// The folder of assets of a kind.
fn asset_path(kind: AssetKind, volumes: &Volumes) -> PathBuf {
    volumes.assets(kind.is_state(), kind.folder())
}

/// Removes the certificate files that these texts do not name: nothing refers to them any more.
pub(super) fn remove_unnamed_certificates(texts: &Texts, volumes: &Volumes) -> anyhow::Result<()> {
    let folder = volumes.certificates();
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(|| format!("{} cannot be listed", folder.display()))?,
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let named = name.to_str().is_some_and(|name| {
            name == CertificateText::DEFAULT_FILE || texts.certificates.contains_key(name)
        });
        if !named && entry.path().extension().is_some_and(|extension| extension == "pem") {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a file that may be gone already.
pub(super) fn remove(path: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}
