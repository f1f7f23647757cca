//! The verdict of each unit.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{CertificateText, Command, MapId, Plan, ReloadReason, Step, Texts, Unit, Units, servers, spares};
use crate::model::{BackendName, Capabilities};

/// So many changes of one list are made one by one: each is a command, and up to 2.8 a deletion searches the whole list.
const MOST_PATTERNS: usize = 5_000;

/// What brings `running` to `wanted`, looking at the touched units only. Backends that are new take spare ones (2.6+).
pub fn plan(running: &Texts, wanted: &Texts, touched: &Units, capabilities: Capabilities) -> Plan {
    let units = look_at(running, wanted, touched);
    if units.is_empty() || !capabilities.dynamic_servers() {
        return differences(running, wanted.clone(), &units, capabilities);
    }
    let (placed, units) = spares::place(running, wanted, units, capabilities);
    differences(running, placed, &units, capabilities)
}

/// The same where every backend has the place that it shall have: what runs, and what should.
pub fn diff(running: &Texts, wanted: &Texts, touched: &Units, capabilities: Capabilities) -> Plan {
    differences(running, wanted.clone(), &look_at(running, wanted, touched), capabilities)
}

fn look_at(running: &Texts, wanted: &Texts, touched: &Units) -> BTreeSet<Unit> {
    match touched {
        Units::Only(units) => units.clone(),
        Units::All => all(running, wanted),
    }
}

/// Live changes go first, in the order in which each finds what it refers to: certificates, servers, route entries that are
/// added or changed, entries that go, certificates that go. A reload does the rest.
fn differences(running: &Texts, wanted: Texts, units: &BTreeSet<Unit>, capabilities: Capabilities) -> Plan {
    let mut differ = Differ {
        running,
        wanted: &wanted,
        capabilities,
        phases: Default::default(),
        plan: Plan::default(),
        loaded: OnceCell::new(),
    };
    let regex = |unit: &&Unit| matches!(unit, Unit::Entry(MapId::Regex, _));
    for unit in units.iter().filter(|unit| !regex(unit)) {
        differ.unit(unit);
    }
    differ.regexes(units.iter().filter(regex));
    let Differ { phases, mut plan, .. } = differ;
    plan.steps = phases.into_iter().flatten().collect();
    plan.placed = wanted;
    plan
}

/// The units that differ, in their order.
fn all(running: &Texts, wanted: &Texts) -> BTreeSet<Unit> {
    let mut units = BTreeSet::from([Unit::Main, Unit::DefaultCertificate]);
    for (name, text) in wanted.backends.iter() {
        if running.backends.get(name) != Some(text) {
            units.insert(Unit::Backend(name.clone()));
        }
    }
    for id in MapId::ALL {
        let (running, wanted) = (running.map(id), wanted.map(id));
        let changed =
            wanted.iter().filter(|(key, value)| running.get(*key) != Some(value)).map(|(key, _)| key);
        let gone = running.keys().filter(|key| !wanted.contains_key(*key));
        units.extend(changed.chain(gone).map(|key| Unit::Entry(id, key.clone())));
    }
    let changed = wanted.lists.iter().filter(|(file, list)| running.lists.get(*file) != Some(list));
    units.extend(changed.map(|(file, _)| Unit::List(file.clone())));
    let (running, wanted) = (&running.certificates, &wanted.certificates);
    let changed = wanted.iter().filter(|(file, text)| running.get(*file) != Some(text)).map(|(file, _)| file);
    let gone = running.keys().filter(|file| !wanted.contains_key(*file));
    units.extend(changed.chain(gone).map(|file| Unit::Certificate(file.clone())));
    units
}

#[derive(Clone, Copy)]
enum Phase {
    Certificates,
    Servers,
    Patterns,
    Entries,
    EntriesGone,
    CertificatesGone,
}

struct Differ<'a> {
    running: &'a Texts,
    wanted: &'a Texts,
    capabilities: Capabilities,
    phases: [Vec<Step>; 6],
    plan: Plan,
    /// Names of the files that what runs refers to, looked up at the first question: thousands of lists may come at once.
    loaded: OnceCell<BTreeSet<&'a str>>,
}

impl Differ<'_> {
    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Main if self.running.main != self.wanted.main => {
                let reason = ReloadReason::main(&self.running.main, &self.wanted.main);
                self.wait(unit, Some(reason));
            }
            Unit::Main => {}
            Unit::Backend(name) => self.backend(unit, name),
            Unit::Entry(id, key) => self.entry(unit, *id, key),
            Unit::Entries(id, keys) => {
                for key in keys {
                    self.entry(&Unit::Entry(*id, key.clone()), *id, key);
                }
            }
            Unit::List(file) => self.list(unit, file),
            Unit::Certificate(file) => self.certificate(unit, file),
            Unit::DefaultCertificate => self.default_certificate(unit),
        }
    }

    fn backend(&mut self, unit: &Unit, name: &BackendName) {
        // One that nobody wants any more runs on, unreachable, until the next reload.
        let Some(wanted) = self.wanted.backends.get(name) else { return };
        let Some(running) = self.running.backends.get(name) else {
            // More spares (files of an older controller) come with the next reload, and are no reason for one.
            let reason = (!name.is_spare()).then(|| ReloadReason::NewBackend(name.clone()));
            return self.wait(unit, reason);
        };
        if running == wanted {
            return;
        }
        if running.own_header() != wanted.own_header() {
            return self.wait(unit, Some(ReloadReason::header(name, running, wanted)));
        }
        let commands = if self.capabilities.dynamic_servers() {
            servers::dynamic(name, running, wanted, self.capabilities)
        } else {
            servers::slots(name, running, wanted)
        };
        match commands {
            Some(commands) => self.step(Phase::Servers, unit, commands),
            None => self.wait(unit, Some(ReloadReason::BackendChanged(name.clone()))),
        }
    }

    fn entry(&mut self, unit: &Unit, map: MapId, key: &Arc<str>) {
        let key = key.clone();
        let (phase, command) = match (self.running.map(map).get(&key), self.wanted.map(map).get(&key)) {
            (old, new) if old == new => return,
            (_, Some(value)) if !self.answers(map, value) => {
                return self.wait(unit, None);
            }
            (None, Some(value)) => (Phase::Entries, Command::AddMapEntry { map, key, value: value.clone() }),
            (Some(_), Some(value)) => {
                (Phase::Entries, Command::SetMapEntry { map, key, value: value.clone() })
            }
            (_, None) => (Phase::EntriesGone, Command::DeleteMapEntry { map, key }),
        };
        if self.loads_map(map) {
            self.step(phase, unit, vec![command]);
        } else {
            self.unloaded(phase, unit);
        }
    }

    /// Entries of the map of regular expressions. HAProxy tries them in their order and can only append to it, so the whole
    /// map is replaced when there is a new one.
    fn regexes<'u>(&mut self, units: impl Iterator<Item = &'u Unit>) {
        const MAP: MapId = MapId::Regex;
        let (mut entries, mut keys, mut others) =
            (self.running.map(MAP).clone(), BTreeSet::new(), Vec::new());
        let mut is_new = false;
        for unit in units {
            let Unit::Entry(_, key) = unit else { continue };
            match (self.running.map(MAP).get(key), self.wanted.map(MAP).get(key)) {
                (old, new) if old == new => continue,
                (_, Some(value)) if !self.answers(MAP, value) => {
                    self.wait(unit, None);
                    continue;
                }
                (old, Some(value)) => {
                    is_new |= old.is_none();
                    entries.insert_mut(key.clone(), value.clone());
                }
                (_, None) => _ = entries.remove_mut(key),
            }
            keys.insert(key.clone());
            others.push(unit);
        }
        if is_new && self.loads_map(MAP) && self.capabilities.map_versions() {
            let entries = MAP.in_order(&entries).into_iter().map(|(key, value)| (key.clone(), value.clone()));
            let command = Command::ReplaceMap { map: MAP, entries: entries.collect() };
            return self.step(Phase::Entries, &Unit::Entries(MAP, keys), vec![command]);
        }
        for unit in others {
            let Unit::Entry(_, key) = unit else { continue };
            if self.running.map(MAP).get(key).is_none() && self.loads_map(MAP) {
                self.wait(unit, Some(ReloadReason::NewRegex));
            } else {
                self.entry(unit, MAP, key);
            }
        }
    }

    fn list(&mut self, unit: &Unit, file: &Arc<str>) {
        // One that nobody wants any more stays until the next reload: what still runs may refer to it.
        let Some(wanted) = self.wanted.lists.get(file) else { return };
        let Some(running) = self.running.lists.get(file) else {
            // What refers to it needs a reload anyway; a file that nothing refers to is just written.
            if self.loads(file) {
                self.wait(unit, None);
            } else {
                self.unloaded(Phase::Patterns, unit);
            }
            return;
        };
        if running == wanted {
            return;
        }
        if !self.loads(file) {
            return self.unloaded(Phase::Patterns, unit);
        }
        let command = |add: bool, pattern: &Arc<str>| {
            let (list, pattern) = (file.clone(), pattern.clone());
            if add { Command::AddPattern { list, pattern } } else { Command::DeletePattern { list, pattern } }
        };
        let added = wanted.difference(running).map(|pattern| command(true, pattern));
        let commands: Vec<Command> =
            added.chain(running.difference(wanted).map(|pattern| command(false, pattern))).collect();
        if commands.len() > MOST_PATTERNS {
            return self.wait(unit, Some(ReloadReason::ListChanged(file.clone())));
        }
        self.step(Phase::Patterns, unit, commands);
    }

    fn certificate(&mut self, unit: &Unit, file: &Arc<str>) {
        let (phase, commands) =
            match (self.running.certificates.get(file), self.wanted.certificates.get(file)) {
                (old, new) if old == new => return,
                (_, Some(new)) if new.pem.is_none() => return self.wait(unit, None),
                (old, new) if needs_reload(old, new) => {
                    return self.wait(unit, Some(ReloadReason::ClientChecks(file.clone())));
                }
                // The hosts that it loses get a line with options by the reload: until then they keep this one.
                (Some(old), new) if self.is_handed_over(old, new.map(AsRef::as_ref)) => {
                    return self.wait(unit, None);
                }
                (None, Some(new)) => (Phase::Certificates, added(file, new)),
                (Some(old), Some(new)) => (Phase::Certificates, changed(file, old, new)),
                (_, None) => (Phase::CertificatesGone, removed(file)),
            };
        self.listed(phase, unit, commands);
    }

    fn default_certificate(&mut self, unit: &Unit) {
        match (&self.running.default_certificate, &self.wanted.default_certificate) {
            (Some(old), Some(new)) if old.digest != new.digest => {
                let Some(pem) = new.pem.clone() else { return self.wait(unit, None) };
                let file = CertificateText::DEFAULT_FILE.into();
                self.listed(Phase::Certificates, unit, vec![Command::SetCertificate { file, pem }]);
            }
            (None, Some(_)) => self.wait(unit, Some(ReloadReason::NoDefaultCertificate)),
            _ => {}
        }
    }

    /// A change of the certificates that HAProxy knows by the list of the HTTPS listener.
    fn listed(&mut self, phase: Phase, unit: &Unit, commands: Vec<Command>) {
        if self.running.main.contains(" crt-list ") {
            self.step(phase, unit, commands);
        } else {
            self.unloaded(phase, unit);
        }
    }

    /// A change of something that HAProxy has not loaded (a listener is off): nothing to say to it, only a file to write.
    /// When a reload comes anyway it need not be a step.
    fn unloaded(&mut self, phase: Phase, unit: &Unit) {
        if self.running.main == self.wanted.main {
            self.step(phase, unit, Vec::new());
        } else {
            self.wait(unit, None);
        }
    }

    fn step(&mut self, phase: Phase, unit: &Unit, commands: Vec<Command>) {
        self.phases[phase as usize].push(Step { unit: unit.clone(), commands });
    }

    fn wait(&mut self, unit: &Unit, reason: Option<ReloadReason>) {
        self.plan.waiting.push(unit.clone());
        self.plan.reload.extend(reason);
    }

    /// Whether what runs refers to this file, in the main text or in a backend.
    fn loads(&self, file: &str) -> bool {
        let loaded = self.loaded.get_or_init(|| {
            let headers = self.running.backends.iter().map(|(_, text)| text.header.as_ref());
            headers.chain([self.running.main.as_ref()]).flat_map(files_in).collect()
        });
        loaded.contains(file)
    }

    /// Whether a host of a line of the list goes over to one with options.
    fn is_handed_over(&self, old: &CertificateText, new: Option<&CertificateText>) -> bool {
        let kept: BTreeSet<&str> = new.iter().flat_map(|new| new.filters.split(' ')).collect();
        let lost: BTreeSet<&str> = old.filters.split(' ').filter(|host| !kept.contains(host)).collect();
        let takes = |text: &CertificateText| text.filters.split(' ').any(|host| lost.contains(host));
        let comes = |file, text| needs_reload(self.running.certificates.get(file), Some(text));
        !lost.is_empty()
            && (self.wanted.certificates.iter())
                .any(|(file, text)| !text.options.is_empty() && takes(text) && comes(file, text))
    }

    /// The same for a map; only values are looked up outside of the frontends.
    fn loads_map(&self, map: MapId) -> bool {
        if map == MapId::Values { self.loads(map.file()) } else { self.running.main.contains(map.file()) }
    }

    /// Whether HAProxy can do what a map value says.
    fn answers(&self, map: MapId, value: &str) -> bool {
        map.backends_in(value).all(|backend| self.runs(backend))
            && map.demands(value).iter().all(|text| self.running.main.contains(text))
    }

    /// Whether a backend that a map value names runs.
    fn runs(&self, backend: &str) -> bool {
        backend == "-"
            || self.running.backends.contains_key(&BackendName::parsed(backend))
            || has_backend(&self.running.main, backend)
    }
}

/// The names of the files that a text refers to: what stands behind the last slash of a word, or of an argument in it.
fn files_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '\'' | '"'));
    words.filter_map(|word| word.rsplit_once('/')).map(|(_, file)| file)
}

/// Whether a line of the list, as it runs or is wanted, has options that differ: HAProxy has the files in memory only when it
/// has loaded them.
fn needs_reload(running: Option<&Arc<CertificateText>>, wanted: Option<&Arc<CertificateText>>) -> bool {
    let line =
        |text: Option<&Arc<CertificateText>>| text.map(|text| (text.options.clone(), text.filters.clone()));
    let has_options = |text: Option<&Arc<CertificateText>>| text.is_some_and(|text| !text.options.is_empty());
    (has_options(running) || has_options(wanted)) && line(running) != line(wanted)
}

/// Whether the main text has this fixed backend.
fn has_backend(main: &str, name: &str) -> bool {
    let names = main.lines().filter_map(|line| line.strip_prefix("backend "));
    names.map(|rest| rest.split(' ').next().unwrap_or(rest)).any(|found| found == name)
}

fn added(file: &Arc<str>, new: &CertificateText) -> Vec<Command> {
    let pem = new.pem.clone().unwrap_or_default();
    let (file, filters) = (file.clone(), new.filters.clone());
    vec![Command::AddCertificate { file: file.clone(), pem }, Command::AddToList { file, filters }]
}

fn changed(file: &Arc<str>, old: &CertificateText, new: &CertificateText) -> Vec<Command> {
    let mut commands = Vec::new();
    if old.digest != new.digest {
        let pem = new.pem.clone().unwrap_or_default();
        commands.push(Command::SetCertificate { file: file.clone(), pem });
    }
    if old.filters != new.filters {
        // One file may have several lines (2.2 to 3.4): with the new one in place before the old one goes, no handshake
        // falls to the default certificate.
        commands.push(Command::AddToList { file: file.clone(), filters: new.filters.clone() });
        commands.push(Command::RemoveFromList { file: file.clone() });
    }
    commands
}

fn removed(file: &Arc<str>) -> Vec<Command> {
    vec![Command::RemoveFromList { file: file.clone() }, Command::DeleteCertificate { file: file.clone() }]
}
