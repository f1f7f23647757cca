//! What the files hold now, and what changed since the last look.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::document::{Parsed, parse};
use super::tree::{Fingerprint, Found, QUIET, Tree, scan};
use crate::cluster::{Change, Kind, Object, ObjectName, ObjectRef, Origin};
use crate::problem::{Code, Problem, Severity};

/// The standard input, as a path.
const STDIN: &str = "-";

/// All files and their objects.
#[derive(Debug)]
pub(super) struct Shelf {
    paths: Vec<PathBuf>,
    files: BTreeMap<PathBuf, Shelved>,
    /// Objects as last told.
    told: BTreeMap<ObjectRef, Arc<Object>>,
    /// Problems as last told.
    problems: BTreeMap<Origin, Vec<Problem>>,
    skipped: BTreeMap<String, usize>,
    /// Problems of paths that could not be read at the last look.
    places: BTreeMap<Origin, Vec<Problem>>,
    is_fresh: bool,
}

/// One file.
#[derive(Debug)]
struct Shelved {
    fingerprint: Option<Fingerprint>,
    /// It was being written to, or was gone, when last looked at.
    is_restless: bool,
    objects: Vec<Arc<Object>>,
    /// The objects come from a file without mistakes.
    is_whole: bool,
    problems: Vec<Problem>,
    skipped: BTreeMap<String, usize>,
}

/// What a look brought.
#[derive(Debug, Default)]
pub(super) struct Update {
    pub(super) changes: Vec<Change>,
    /// For each origin whose problems changed: all of them.
    pub(super) problems: Vec<(Origin, Vec<Problem>)>,
    /// What is not for us, when that changed: `3 objects of kinds Deployment, Pod`.
    pub(super) skipped: Option<String>,
    /// Look again this soon: somebody is writing.
    pub(super) look_again: Option<Duration>,
}

impl Shelf {
    pub(super) fn new(paths: Vec<PathBuf>) -> Self {
        Self {
            paths,
            files: BTreeMap::new(),
            told: BTreeMap::new(),
            problems: BTreeMap::new(),
            skipped: BTreeMap::new(),
            places: BTreeMap::new(),
            is_fresh: true,
        }
    }

    /// Looks at the files, reads those that changed.
    pub(super) fn look(&mut self) -> Update {
        let (stdin, paths): (Vec<PathBuf>, Vec<PathBuf>) =
            self.paths.iter().cloned().partition(|path| path.as_os_str() == STDIN);
        let tree = scan(&paths);
        let mut is_changed = std::mem::take(&mut self.is_fresh);
        if let Some(stdin) = stdin.first()
            && !self.files.contains_key(stdin)
        {
            self.shelve(stdin, None, false);
        }
        for found in &tree.files {
            is_changed |= self.visit(found);
        }
        is_changed |= self.forget(&tree);
        let places = places(&tree);
        if !is_changed && places == self.places {
            return Update { look_again: self.look_again(), ..Update::default() };
        }
        self.places.clone_from(&places);
        let order = stdin.into_iter().take(1).chain(tree.files.into_iter().map(|found| found.path)).collect();
        self.tell(order, places)
    }

    /// Reads a file that changed; tells whether it did.
    fn visit(&mut self, found: &Found) -> bool {
        let known = self.files.get_mut(&found.path);
        if let Some(known) = known {
            let is_same = known.fingerprint == Some(found.fingerprint);
            if is_same && !known.is_restless {
                return false;
            }
            // A file that is being written may be empty or cut off: its objects must not vanish for a moment.
            if !found.is_quiet {
                known.is_restless = true;
                return false;
            }
        }
        self.shelve(&found.path, Some(found.fingerprint), !found.is_quiet);
        true
    }

    fn shelve(&mut self, path: &Path, fingerprint: Option<Fingerprint>, is_restless: bool) {
        let origin = origin(path);
        let read = if path.as_os_str() == STDIN {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map(|_| text)
        } else {
            fs::read_to_string(path)
        };
        let parsed = match read {
            Ok(text) => parse(&origin, &text),
            Err(error) => {
                Parsed { problems: vec![unusable(&origin, &error)], is_broken: true, ..Parsed::default() }
            }
        };
        let mut objects: Vec<Arc<Object>> = parsed.objects.into_iter().map(Arc::new).collect();
        let mut is_whole = !parsed.is_broken;
        if parsed.is_broken
            && let Some(last) = self.files.get_mut(path).filter(|last| last.is_whole)
        {
            objects = std::mem::take(&mut last.objects);
            is_whole = true;
        }
        let (problems, skipped) = (parsed.problems, parsed.skipped);
        let shelved = Shelved { fingerprint, is_restless, objects, is_whole, problems, skipped };
        self.files.insert(path.to_owned(), shelved);
    }

    /// Drops files that are gone at two looks: an editor may replace a file by taking it away first. What lies in a folder that
    /// cannot be read stays.
    fn forget(&mut self, tree: &Tree) -> bool {
        let found: BTreeSet<&Path> = tree.files.iter().map(|found| found.path.as_path()).collect();
        let is_there = |path: &Path| {
            path.as_os_str() == STDIN
                || found.contains(path)
                || tree
                    .unreadable
                    .iter()
                    .any(|(place, error)| error.kind() != io::ErrorKind::NotFound && path.starts_with(place))
        };
        let gone: Vec<PathBuf> = self.files.keys().filter(|path| !is_there(path)).cloned().collect();
        let mut is_changed = false;
        for path in gone {
            if let Some(file) = self.files.get_mut(&path).filter(|file| file.fingerprint.is_some()) {
                (file.fingerprint, file.is_restless) = (None, true);
            } else {
                is_changed |= self.files.remove(&path).is_some();
            }
        }
        is_changed
    }

    fn look_again(&self) -> Option<Duration> {
        self.files.values().any(|file| file.is_restless).then_some(QUIET)
    }

    /// Compares with what was told.
    fn tell(&mut self, mut order: Vec<PathBuf>, places: BTreeMap<Origin, Vec<Problem>>) -> Update {
        // Files that are kept though they were not found, first: any file that can be seen wins over them.
        let found: BTreeSet<&PathBuf> = order.iter().collect();
        let kept: Vec<PathBuf> = self.files.keys().filter(|path| !found.contains(path)).cloned().collect();
        order.splice(0..0, kept);

        let mut problems = places;
        let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
        let mut winners: BTreeMap<ObjectRef, (Arc<Object>, &Path)> = BTreeMap::new();
        for path in &order {
            let Some(file) = self.files.get(path) else { continue };
            problems.entry(origin(path)).or_default().extend(file.problems.iter().cloned());
            for (kind, count) in &file.skipped {
                *skipped.entry(kind.clone()).or_default() += count;
            }
            for object in &file.objects {
                let reference = object.reference();
                if let Some((_, loser)) = winners.insert(reference.clone(), (object.clone(), path)) {
                    problems.entry(origin(loser)).or_default().push(replaced(&reference, loser, path));
                }
            }
        }
        let winners: BTreeMap<ObjectRef, Arc<Object>> =
            winners.into_iter().map(|(reference, (object, _))| (reference, object)).collect();
        let gone = self.told.keys().filter(|reference| !winners.contains_key(reference)).cloned();
        let mut changes: Vec<Change> = gone.map(Change::Delete).collect();
        for (reference, object) in &winners {
            if self.told.get(reference) != Some(object) {
                changes.push(Change::Upsert(Object::clone(object)));
            }
        }
        problems.retain(|_, problems| !problems.is_empty());
        let mended = self.problems.keys().filter(|origin| !problems.contains_key(origin));
        let mut told: Vec<(Origin, Vec<Problem>)> =
            mended.map(|origin| (origin.clone(), Vec::new())).collect();
        let is_new = |(origin, now): &(&Origin, &Vec<Problem>)| self.problems.get(origin) != Some(now);
        told.extend(problems.iter().filter(is_new).map(|(origin, now)| (origin.clone(), now.clone())));
        let update = Update {
            changes,
            problems: told,
            skipped: (skipped != self.skipped && !skipped.is_empty()).then(|| skipped_text(&skipped)),
            look_again: self.look_again(),
        };
        (self.told, self.problems, self.skipped) = (winners, problems, skipped);
        update
    }
}

/// Problems of paths that cannot be read.
fn places(tree: &Tree) -> BTreeMap<Origin, Vec<Problem>> {
    tree.unreadable
        .iter()
        .map(|(path, error)| {
            let origin = origin(path);
            (origin.clone(), vec![unusable(&origin, error)])
        })
        .collect()
}

fn origin(path: &Path) -> Origin {
    Origin::object(Kind::File, ObjectName::cluster(path.to_string_lossy().as_ref()))
}

fn unusable(origin: &Origin, error: &io::Error) -> Problem {
    let (message, hint) = match error.kind() {
        io::ErrorKind::NotFound => {
            ("does not exist".to_owned(), "create it (it is picked up when it appears), or name another path")
        }
        io::ErrorKind::PermissionDenied => {
            (format!("cannot be read: {error}"), "let the user that Outrigger runs as read it")
        }
        _ => (format!("cannot be read: {error}"), "mend the file; until then its last good objects stay"),
    };
    Problem {
        origin: origin.clone(),
        code: Code::ManifestInvalid,
        severity: Severity::Error,
        message,
        hint: hint.to_owned(),
    }
}

fn replaced(reference: &ObjectRef, loser: &Path, winner: &Path) -> Problem {
    let place = if loser == winner {
        "again later in this file".to_owned()
    } else {
        format!("also in `{}`", winner.display())
    };
    Problem {
        origin: origin(loser),
        code: Code::ManifestConflict,
        severity: Severity::Warning,
        message: format!("`{reference}` is {place}, which counts"),
        hint: "remove one of the two".to_owned(),
    }
}

fn skipped_text(skipped: &BTreeMap<String, usize>) -> String {
    let kinds: Vec<&str> = skipped.keys().map(String::as_str).collect();
    let (objects, word) = (skipped.values().sum::<usize>(), if kinds.len() == 1 { "kind" } else { "kinds" });
    format!("{objects} objects of {word} {}", kinds.join(", "))
}
