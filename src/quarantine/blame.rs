//! From HAProxy's words to the parts that they are about.

use outrigger_init::{SHARDS, Volumes};

use super::{LeftOut, Part, policy_of, snippet_of};
use crate::model::{BackendName, Model, Snippet};
use crate::plan::{FileId, Texts};

/// A line that HAProxy names as wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// File, as HAProxy read it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// A part that HAProxy refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blame {
    /// The part.
    pub(super) part: Part,
    /// What HAProxy says about it.
    pub(super) words: String,
    /// Whether the wrong line is a line of this part, and not only of the section that it stands in.
    pub(super) sure: bool,
}

/// What HAProxy read: `texts`, made of `model` without `left_out`.
#[derive(Clone, Copy)]
pub(super) struct Read<'a> {
    pub(super) texts: &'a Texts,
    pub(super) model: &'a Model,
    pub(super) volumes: &'a Volumes,
    pub(super) left_out: &'a LeftOut,
}

/// The parts that a refusal is about, each once.
pub(super) fn blame(log: &str, places: &[Place], read: &Read<'_>) -> Vec<Blame> {
    let mut found: Vec<Blame> = Vec::new();
    let mut add = |blame: Blame| match found.iter_mut().find(|known| known.part == blame.part) {
        Some(known) if blame.sure && !known.sure => *known = blame,
        Some(_) => {}
        None => found.push(blame),
    };
    places.iter().filter_map(|place| at(read, place)).for_each(&mut add);
    // Lines without place, or with one in a file that is not ours, may name a backend. Their words may quote that file.
    let ours =
        |line: &str| places.iter().any(|place| line.contains(&format!("[{}:{}]", place.file, place.line)));
    let alerts = log.lines().filter(|line| line.starts_with("[ALERT]") && !ours(line));
    alerts.filter_map(|line| named(read, line)).for_each(&mut add);
    found
}

/// What stands at this place.
fn at(read: &Read<'_>, place: &Place) -> Option<Blame> {
    let id = file_id(read.volumes, &place.file)?;
    let bytes = read.texts.file(&id, read.volumes)?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let before: Vec<&str> = text.lines().take(place.line).collect();
    let line = before.last()?.trim();
    let section = before.iter().rev().find(|line| !line.is_empty() && !line.starts_with([' ', '#']))?;
    let mut section = section.split(' ');
    let (kind, name) = (section.next()?, section.next().unwrap_or_default());
    let backend = (kind == "backend" && id != FileId::Main).then(|| BackendName::parsed(name));
    let here: Vec<&Snippet> = match &backend {
        Some(backend) => snippet_of(read.model, backend).into_iter().collect(),
        None => main_snippets(read.model, kind, name),
    };
    let here: Vec<&Snippet> = here.into_iter().filter(|snippet| !read.left_out.snippet(snippet)).collect();
    let words = shown(read.volumes, &place.message);
    // A snippet begins with a comment that says so, and has none inside.
    let comment = before.iter().rev().map(|line| line.trim()).find(|line| line.starts_with('#'));
    if comment.is_some_and(|comment| comment.starts_with(Snippet::MARK))
        && let Some(snippet) = here.iter().find(|snippet| snippet.lines.iter().any(|own| is(own, line)))
    {
        let words = format!("`{line}`: {words}");
        return Some(Blame { part: Part::Snippet((*snippet).clone()), words, sure: true });
    }
    // A socket that cannot be had is nobody's text.
    if words.contains("cannot bind") {
        return None;
    }
    let part = match (here.first(), backend) {
        (Some(snippet), _) => Part::Snippet((*snippet).clone()),
        (None, Some(backend)) => whole(read, backend)?,
        (None, None) if read.left_out.main(&read.model.global) => return None,
        (None, None) => Part::Main,
    };
    Some(Blame { part, words, sure: false })
}

/// Whether a line of a snippet is this line of a file, where names of pattern files are whole.
fn is(own: &str, line: &str) -> bool {
    own == line || own.contains("-f patterns/")
}

/// What an alert without place names.
fn named(read: &Read<'_>, line: &str) -> Option<Blame> {
    let name_character = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let names = line.split(|c| !name_character(c)).map(|name| name.trim_end_matches([':', '.']));
    let backend = names.map(BackendName::parsed).find(|name| read.model.backends.contains_key(name))?;
    let snippet = snippet_of(read.model, &backend).filter(|snippet| !read.left_out.snippet(snippet));
    let part = match snippet {
        Some(snippet) => Part::Snippet(snippet.clone()),
        None => whole(read, backend)?,
    };
    let rest = line.strip_prefix("[ALERT]").unwrap_or(line);
    let words = match rest.split_once(") : ") {
        Some((_, words)) if !rest.contains('[') => shown(read.volumes, words),
        _ => "HAProxy refuses it".to_owned(),
    };
    Some(Blame { part, words, sure: false })
}

/// A backend as a whole; not one that runs as it did before already.
fn whole(read: &Read<'_>, backend: BackendName) -> Option<Part> {
    let policy = policy_of(read.model, &backend)?;
    (!read.left_out.backend(&backend, policy)).then_some(Part::Backend(backend))
}

/// The snippets of a section of the main text.
fn main_snippets<'a>(model: &'a Model, kind: &str, name: &str) -> Vec<&'a Snippet> {
    let snippets = &model.global.snippets;
    let snippet = match (kind, name) {
        ("global", _) => &snippets.global,
        ("frontend", "http" | "https") => &snippets.frontends,
        ("frontend", "stats") => &snippets.stats,
        _ => &None,
    };
    snippet.iter().collect()
}

/// The file of ours that HAProxy calls so.
fn file_id(volumes: &Volumes, file: &str) -> Option<FileId> {
    let is = |id: &FileId| id.path(volumes).to_str() == Some(file);
    std::iter::once(FileId::Main).chain((0..SHARDS).map(FileId::Shard)).find(is)
}

/// HAProxy's words in one line of bounded length, without folders of ours.
fn shown(volumes: &Volumes, message: &str) -> String {
    const LONGEST: usize = 300;
    let mut text: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    for folder in [&volumes.config, &volumes.state, &volumes.run] {
        text = text.replace(&format!("{}/", folder.display()), "");
    }
    let mut short: String = text.trim_end_matches('.').chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
