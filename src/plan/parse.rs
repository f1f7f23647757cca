//! Files back into texts: parsing what was rendered gives the same texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use outrigger_init::{SHARDS, unseal};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use super::file::MARK;
use super::{BackendText, CertificateText, FileId, MapId, Texts};
use crate::cluster::Map;
use crate::model::BackendName;

/// What the files hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The texts; certificates without their PEM.
    pub texts: Texts,
    /// The generation mark in the main file; empty when there is none.
    pub generation: String,
}

/// Files that are not what we wrote.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseError {
    /// A file is not there.
    #[error("{0:?} is missing")]
    Missing(FileId),
    /// A file was cut off or altered.
    #[error("{0:?} is incomplete or was altered")]
    Damaged(FileId),
    /// A line that we do not write.
    #[error("{0:?}, line {1}: not ours")]
    Line(FileId, usize),
}

impl Texts {
    /// Reads all files; `read` gives their content, `lists` are the names in the patterns folder. Every file must be there,
    /// and every text file sealed.
    pub fn parse(
        mut read: impl FnMut(&FileId) -> Option<Bytes>,
        lists: impl IntoIterator<Item = Arc<str>>,
    ) -> Result<Parsed, ParseError> {
        let mut texts = Self::default();
        let (main, generation) = parse_main(&text(&mut read, &FileId::Main)?);
        texts.main = main.into();
        for shard in 0..SHARDS {
            let id = FileId::Shard(shard);
            parse_shard(&text(&mut read, &id)?, &id, &mut texts)?;
        }
        for map in MapId::ALL {
            let id = FileId::Map(map);
            *texts.map_mut(map) = parse_map(&text(&mut read, &id)?, &id)?;
        }
        for file in lists {
            let id = FileId::List(file.clone());
            let patterns = text(&mut read, &id)?.lines().map(Arc::from).collect();
            texts.lists.insert_mut(file, Arc::new(patterns));
        }
        parse_crt_list(&mut read, &mut texts)?;
        Ok(Parsed { texts, generation })
    }
}

fn text(read: &mut impl FnMut(&FileId) -> Option<Bytes>, id: &FileId) -> Result<String, ParseError> {
    let bytes = read(id).ok_or_else(|| ParseError::Missing(id.clone()))?;
    let sealed = std::str::from_utf8(&bytes).ok();
    sealed.and_then(unseal).map(str::to_owned).ok_or_else(|| ParseError::Damaged(id.clone()))
}

fn parse_main(text: &str) -> (String, String) {
    let mut main = String::with_capacity(text.len());
    let mut generation = None;
    for line in text.split_inclusive('\n') {
        match line.strip_prefix(MARK) {
            Some(mark) if generation.is_none() => generation = Some(mark.trim_end().to_owned()),
            _ => main.push_str(line),
        }
    }
    (main, generation.unwrap_or_default())
}

fn parse_shard(text: &str, id: &FileId, texts: &mut Texts) -> Result<(), ParseError> {
    let mut current: Option<Section> = None;
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let error = || ParseError::Line(id.clone(), number + 1);
        if let Some(rest) = line.strip_prefix("backend ") {
            let name = BackendName::parsed(rest.split(' ').next().unwrap_or(rest));
            let next = Section { name, header: format!("{line}\n"), servers: BTreeMap::new() };
            if let Some(section) = current.replace(next) {
                section.finish(texts);
            }
            continue;
        }
        let section = current.as_mut().ok_or_else(error)?;
        if let Some(server) = line.strip_prefix("  server ") {
            let (name, rest) = server.split_once(' ').ok_or_else(error)?;
            section.servers.insert(name.into(), rest.into());
        } else {
            section.header.push_str(line);
            section.header.push('\n');
        }
    }
    if let Some(section) = current {
        section.finish(texts);
    }
    Ok(())
}

/// A backend while its lines are read.
struct Section {
    name: BackendName,
    header: String,
    servers: BTreeMap<Arc<str>, Arc<str>>,
}

impl Section {
    fn finish(self, texts: &mut Texts) {
        let text = BackendText { header: self.header.into(), servers: self.servers, assets: Vec::new() };
        texts.backends.insert_mut(self.name, Arc::new(text));
    }
}

fn parse_map(text: &str, id: &FileId) -> Result<Map<Arc<str>, Arc<str>>, ParseError> {
    let mut entries = Map::default();
    for (number, line) in text.lines().enumerate() {
        let (key, value) = line.split_once(' ').ok_or_else(|| ParseError::Line(id.clone(), number + 1))?;
        entries.insert_mut(key.into(), value.into());
    }
    Ok(entries)
}

fn parse_crt_list(
    read: &mut impl FnMut(&FileId) -> Option<Bytes>,
    texts: &mut Texts,
) -> Result<(), ParseError> {
    let list = text(read, &FileId::CrtList)?;
    for (number, line) in list.lines().enumerate() {
        let error = || ParseError::Line(FileId::CrtList, number + 1);
        let (path, rest) = line.split_once(".pem ").ok_or_else(error)?;
        let (options, filters) = match rest.strip_prefix('[') {
            Some(rest) => rest.rsplit_once("] ").ok_or_else(error)?,
            None => ("", rest),
        };
        let stem = path.rsplit('/').next().unwrap_or(path);
        let default = filters == CertificateText::DEFAULT_FILTER;
        let file: Arc<str> = format!("{stem}.pem").into();
        let id = if default { FileId::DefaultCertificate } else { FileId::Certificate(file.clone()) };
        let pem = read(&id).ok_or_else(|| ParseError::Missing(id.clone()))?;
        let text = CertificateText {
            digest: Sha256::digest(&pem).into(),
            pem: None,
            options: options.into(),
            filters: filters.into(),
            assets: Vec::new(),
        };
        if default {
            texts.default_certificate = Some(Arc::new(text));
        } else {
            texts.certificates.insert_mut(file, Arc::new(text));
        }
    }
    Ok(())
}
