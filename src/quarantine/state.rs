//! Who is left out, why, and who is tried again.

use std::collections::{BTreeMap, VecDeque};

use super::blame::{Blame, Read};
use super::{LeftOut, Part, Place, blame, snippet_of, snippets};
use crate::cluster::{Kind, ObjectName, Origin};
use crate::model::{Model, Snippet};
use crate::plan::Texts;

/// Refusals with words that one update answers by leaving out what they name; later ones are answered as if without words.
const NAMED: usize = 4;
/// More suspects than this are not searched for the guilty ones: all of them wait until they change.
const SEARCHED: usize = 64;

/// Why a part is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Where the part is written.
    pub origin: Origin,
    /// What HAProxy says about it.
    pub words: String,
}

/// A refused reload.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// What HAProxy says; empty before 2.7.
    pub log: &'a str,
    /// The lines that it names.
    pub places: &'a [Place],
    /// What it read.
    pub texts: &'a Texts,
    /// What that was made of.
    pub model: &'a Model,
    /// Where the files are.
    pub volumes: &'a outrigger_init::Volumes,
    /// What runs.
    pub running: &'a Texts,
    /// Whether there are certificates that HAProxy has not loaded before, and that can be left out.
    pub new_certificates: bool,
}

/// What waits for a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pending {
    /// Parts that may be innocent.
    Suspects,
    /// Parts that HAProxy refused as a whole.
    Sections,
}

/// What to do after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Reload without what is left out now.
    Again,
    /// Reload without new certificates.
    WithoutCertificates,
    /// Leaving parts out does not help.
    GiveUp,
}

/// How far one update is with its refusals.
#[derive(Debug, Default)]
pub struct Progress {
    named: usize,
    step: usize,
    without_certificates: bool,
    suspected: Vec<Part>,
}

impl Progress {
    /// Whether parts are left out that HAProxy does not name.
    pub fn has_suspects(&self) -> bool {
        !self.suspected.is_empty()
    }
}

/// Suspects that are tried together.
#[derive(Debug)]
struct Group {
    parts: Vec<Part>,
    /// Without them it went well, so at least one of them is guilty: no use to try all of them.
    guilty: bool,
}

/// Who is left out.
#[derive(Debug, Default)]
pub struct Quarantine {
    convicted: BTreeMap<Part, Verdict>,
    /// Groups that are left out until their trial.
    suspects: VecDeque<Group>,
    /// Suspects that the next reload tries.
    trial: Vec<Part>,
    left_out: LeftOut,
}

impl Quarantine {
    /// What the renderer leaves out.
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// Parts that HAProxy refuses.
    pub fn convicted(&self) -> impl Iterator<Item = (&Part, &Verdict)> {
        self.convicted.iter()
    }

    /// What waits for a trial.
    pub fn pending(&self) -> Option<Pending> {
        let section = |part: &Part| !matches!(part, Part::Snippet(_));
        if self.suspects.is_empty() {
            self.convicted.keys().any(section).then_some(Pending::Sections)
        } else {
            Some(Pending::Suspects)
        }
    }

    /// Whether the next reload is a trial.
    pub fn is_on_trial(&self) -> bool {
        !self.trial.is_empty()
    }

    /// Nobody is left out any more.
    pub fn forget(&mut self) -> bool {
        let changed = !self.left_out.is_empty() || !self.trial.is_empty();
        *self = Self::default();
        changed
    }

    /// Parts that changed or are gone are not left out any more; tells whether there were any.
    pub fn keep_current(&mut self, model: &Model) -> bool {
        if self.left_out.is_empty() {
            return false;
        }
        let suspects = self.suspects.iter().flat_map(|group| &group.parts);
        let stale: Vec<Part> = (self.convicted.keys().chain(suspects))
            .filter(|part| !self.left_out.is_current(part, model))
            .cloned()
            .collect();
        for part in &stale {
            self.acquit(part);
            self.convicted.remove(part);
        }
        !stale.is_empty()
    }

    /// Suspects come back for a trial: a group, or half of it. When there are none, whole sections do: what was wrong with
    /// them may not have been their text.
    pub fn begin_trial(&mut self) {
        if self.suspects.is_empty() {
            let sections: Vec<Part> =
                self.convicted.keys().filter(|part| !matches!(part, Part::Snippet(_))).cloned().collect();
            for part in &sections {
                self.left_out.remove(part);
            }
            self.trial = sections;
            return;
        }
        let Some(mut group) = self.suspects.pop_front() else { return };
        if group.guilty && group.parts.len() > 1 {
            let parts = group.parts.split_off(group.parts.len().div_ceil(2));
            self.suspects.push_front(Group { parts, guilty: false });
        }
        for part in &group.parts {
            self.left_out.remove(part);
        }
        self.trial.extend(group.parts);
    }

    /// HAProxy took what was not left out.
    pub fn accepted(&mut self, progress: &Progress, model: &Model) {
        for part in self.trial.drain(..) {
            self.convicted.remove(&part);
        }
        // A single suspect without whom it went well needs no trial; so many are not searched.
        let alone = progress.suspected.len() == 1 && !progress.without_certificates;
        if alone || progress.suspected.len() > SEARCHED {
            for part in &progress.suspected {
                self.acquit(part);
                self.convict(part.clone(), UNEXPLAINED.to_owned(), model);
            }
        }
    }

    /// HAProxy refused: who is left out next.
    pub fn refused(&mut self, case: &Case<'_>, progress: &mut Progress) -> Next {
        let Case { model, texts, volumes, .. } = *case;
        let read = Read { texts, model, volumes, left_out: &self.left_out };
        let blames: Vec<Blame> = blame(case.log, case.places, &read);
        if case.log.contains("cannot bind") && !blames.iter().any(|blame| blame.sure) {
            // A port that somebody else holds is not the configuration's mistake.
            return Next::GiveUp;
        }
        let (sure, unsure): (Vec<Blame>, Vec<Blame>) = blames.into_iter().partition(|blame| blame.sure);
        let has_words = !case.log.trim().is_empty();
        if !sure.is_empty() && progress.named < NAMED {
            progress.named += 1;
            return self.convict_all(sure, model);
        }
        if !self.trial.is_empty() {
            self.end_trial(model);
            return Next::Again;
        }
        if has_words && case.new_certificates && !progress.without_certificates {
            progress.without_certificates = true;
            return Next::WithoutCertificates;
        }
        let can_wait = |part: &Part| *part != Part::Main || !case.running.main.is_empty();
        let unsure: Vec<Blame> = unsure.into_iter().filter(|blame| can_wait(&blame.part)).collect();
        if !unsure.is_empty() && progress.named < NAMED {
            progress.named += 1;
            return self.convict_all(unsure, model);
        }
        self.suspect(case, progress)
    }

    fn convict_all(&mut self, blames: Vec<Blame>, model: &Model) -> Next {
        for blame in blames {
            self.trial.retain(|part| *part != blame.part);
            self.convict(blame.part, blame.words, model);
        }
        Next::Again
    }

    fn convict(&mut self, part: Part, words: String, model: &Model) {
        let origin = match &part {
            Part::Snippet(snippet) => snippet.origin.clone(),
            Part::Backend(name) if model.backends.contains_key(name) => model.backends[name].origin.clone(),
            Part::Backend(_) | Part::Main => Origin::object(Kind::Flag, ObjectName::cluster("configuration")),
        };
        self.left_out.add(&part, model);
        self.convicted.insert(part, Verdict { origin, words });
    }

    /// The trial went wrong: of several, halves get another; a single one is guilty.
    fn end_trial(&mut self, model: &Model) {
        let group = std::mem::take(&mut self.trial);
        // What HAProxy said of a part before still counts.
        let known = group.iter().all(|part| self.convicted.contains_key(part));
        for part in &group {
            self.left_out.add(part, model);
        }
        if known {
            return;
        }
        if group.len() == 1 {
            for part in group {
                self.convict(part, UNEXPLAINED.to_owned(), model);
            }
            return;
        }
        self.suspects.push_front(Group { parts: group, guilty: true });
    }

    /// Nothing says who it is: ever more suspects are left out, those that changed first, until it goes well.
    fn suspect(&mut self, case: &Case<'_>, progress: &mut Progress) -> Next {
        loop {
            progress.step += 1;
            let candidates = match progress.step {
                1 => changed_snippets(case),
                2 if case.new_certificates && !progress.without_certificates => {
                    progress.without_certificates = true;
                    return Next::WithoutCertificates;
                }
                2 => continue,
                3 => parts(snippets(case.model)),
                4 => changed_sections(case),
                _ => break,
            };
            let new: Vec<Part> = candidates.into_iter().filter(|part| !self.leaves_out(part)).collect();
            if new.is_empty() {
                continue;
            }
            for part in &new {
                self.left_out.add(part, case.model);
            }
            progress.suspected.extend(new.iter().cloned());
            self.suspects.push_back(Group { parts: new, guilty: true });
            return Next::Again;
        }
        // It was none of them.
        for part in progress.suspected.drain(..) {
            self.acquit(&part);
        }
        Next::GiveUp
    }

    /// A suspect is none any more.
    fn acquit(&mut self, part: &Part) {
        self.left_out.remove(part);
        self.suspects.iter_mut().for_each(|group| group.parts.retain(|suspect| suspect != part));
        self.suspects.retain(|group| !group.parts.is_empty());
    }

    fn leaves_out(&self, part: &Part) -> bool {
        let mut suspects = self.suspects.iter().flat_map(|group| &group.parts);
        self.convicted.contains_key(part) || suspects.any(|suspect| suspect == part)
    }
}

/// In place of HAProxy's words.
const UNEXPLAINED: &str = "HAProxy refuses the configuration with it, and says why only in its own log";

/// Snippets in sections that HAProxy has not taken as they are.
fn changed_snippets(case: &Case<'_>) -> Vec<Part> {
    let main = (case.texts.main != case.running.main).then(|| case.model.global.snippets.iter());
    let backends = case.texts.backends.iter().filter(|(name, text)| {
        case.running.backends.get(name).is_none_or(|running| running.header != text.header)
    });
    let backends = backends.filter_map(|(name, _)| snippet_of(case.model, name));
    parts(main.into_iter().flatten().chain(backends))
}

/// Each once, in order.
fn parts<'a>(snippets: impl Iterator<Item = &'a Snippet>) -> Vec<Part> {
    let snippets: std::collections::BTreeSet<&Snippet> = snippets.collect();
    snippets.into_iter().cloned().map(Part::Snippet).collect()
}

/// Backends and the main text, where they are not as HAProxy has taken them.
fn changed_sections(case: &Case<'_>) -> Vec<Part> {
    let main = !case.running.main.is_empty() && case.texts.main != case.running.main;
    let changed = case.texts.backends.iter().filter(|(name, text)| {
        case.running.running_as(name).is_none_or(|runs| runs.own_header() != text.own_header())
    });
    changed.map(|(name, _)| Part::Backend(name.clone())).chain(main.then_some(Part::Main)).collect()
}
