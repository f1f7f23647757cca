//! Model × capabilities → texts of units; infallible. Pure.
//!
//! A unit is what can be changed by itself: the main text, a backend, a map entry, a certificate. [`Renderer::refresh`]
//! renders the units that a change touched, [`Renderer::full`] all of them; both give the same texts.
#![deny(clippy::disallowed_methods)]

mod backend;
mod certificate;
mod clients;
mod defaults;
mod endpoints;
mod escape;
mod fixed;
mod frontend;
mod kept;
mod logs;
mod main_file;
mod needs;
mod passthrough;
mod route;
mod routing;
mod server;
mod shares;
mod slots;
mod spare;
mod tcp;
#[cfg(test)]
pub(crate) mod tests;
mod text;

use std::sync::Arc;

use outrigger_init::Volumes;

use crate::model::{
    Asset, BackendName, Capabilities, CertificateKey, HostMatch, ListName, Model, PathMatch, Policy,
    RouteKey, Touched,
};
use crate::plan::{BackendText, MapId, Texts, Unit, Units};
use crate::quarantine::LeftOut;

/// What rendering depends on besides the model: where HAProxy finds files, and what it can do.
#[derive(Debug, Clone, Copy)]
struct Paths<'a> {
    volumes: &'a Volumes,
    capabilities: Capabilities,
    /// What HAProxy refused before.
    left_out: &'a LeftOut,
}

impl Paths<'_> {
    /// A map, as the argument of a converter.
    fn map(&self, id: MapId) -> String {
        escape::argument(&self.volumes.maps().join(id.file()).to_string_lossy())
    }

    /// A list of patterns, as the word behind `-f`.
    fn list(&self, name: &ListName) -> String {
        escape::word(&self.volumes.patterns().join(&*escape::file_name(name.as_str())).to_string_lossy())
    }

    /// A file that a text refers to, as a word.
    fn asset(&self, asset: &Asset) -> String {
        let folder = self.volumes.assets(asset.kind().is_state(), asset.kind().folder());
        escape::word(&folder.join(asset.name().as_ref()).to_string_lossy())
    }
}

/// Renders models for one HAProxy version and one set of folders.
#[derive(Debug, Clone)]
pub struct Renderer {
    volumes: Volumes,
    capabilities: Capabilities,
    left_out: LeftOut,
}

impl Renderer {
    /// A renderer of files that HAProxy will find under `volumes`.
    pub fn new(volumes: Volumes, capabilities: Capabilities) -> Self {
        Self { volumes, capabilities, left_out: LeftOut::default() }
    }

    /// From now on these parts are left out; [`Self::full`] makes it so in texts that were rendered before.
    pub fn leave_out(&mut self, left_out: LeftOut) {
        self.left_out = left_out;
    }

    /// Renders the touched units of `model` into `wanted`; tells which they are. `running` is what runs: slots, before 2.6,
    /// keep their places.
    pub fn refresh(&self, model: &Model, touched: &Touched, running: &Texts, wanted: &mut Texts) -> Units {
        let mut units = Units::default();
        if touched.global {
            self.global(model, running, wanted);
            units.insert(Unit::Main);
            units.insert(Unit::DefaultCertificate);
        }
        for name in &touched.backends {
            self.backend(model, name, running, wanted);
            units.insert(Unit::Backend(name.clone()));
        }
        for key in &touched.routes {
            route(model, key, wanted, &mut |unit| units.insert(unit));
        }
        for key in &touched.certificates {
            units.insert(self.certificate(model, key, wanted));
        }
        for host in &touched.passthroughs {
            units.insert(passthrough(model, host, wanted));
        }
        for name in &touched.lists {
            units.insert(list(model, name, wanted));
        }
        for key in &touched.values {
            units.insert(value(model, key, wanted));
        }
        if self.left_out.has_backends() {
            kept::unavailable(wanted);
            return Units::All;
        }
        units
    }

    /// Renders everything.
    pub fn full(&self, model: &Model, running: &Texts) -> Texts {
        let mut wanted = Texts::default();
        self.global(model, running, &mut wanted);
        for name in model.backends.keys() {
            self.backend(model, name, running, &mut wanted);
        }
        for key in model.routes.keys() {
            route(model, key, &mut wanted, &mut drop);
        }
        for key in model.certificates.keys() {
            self.certificate(model, key, &mut wanted);
        }
        for host in model.passthroughs.keys() {
            passthrough(model, host, &mut wanted);
        }
        for name in model.lists.keys() {
            list(model, name, &mut wanted);
        }
        for key in model.values.keys() {
            value(model, key, &mut wanted);
        }
        if self.left_out.has_backends() {
            kept::unavailable(&mut wanted);
        }
        wanted
    }

    fn paths(&self) -> Paths<'_> {
        Paths { volumes: &self.volumes, capabilities: self.capabilities, left_out: &self.left_out }
    }

    /// What is not about one object.
    fn global(&self, model: &Model, running: &Texts, wanted: &mut Texts) {
        if self.left_out.main(&model.global) && !running.main.is_empty() {
            wanted.main = running.main.clone();
            wanted.main_assets.clone_from(&running.main_assets);
        } else {
            wanted.main = main_file::render(&model.global, &self.paths()).into();
            wanted.main_assets = model.global.assets();
            wanted.main_assets.extend(backend::auth::script(&model.global));
        }
        wanted.default_certificate = Some(Arc::new(certificate::default(&model.default_certificate)));
        if self.capabilities.dynamic_servers() {
            for name in BackendName::spares() {
                let text = spare::render(&name, &model.global.plain, &self.paths());
                self.put(&name, &model.global.plain, text, running, wanted);
            }
        }
    }

    fn certificate(&self, model: &Model, key: &CertificateKey, wanted: &mut Texts) -> Unit {
        let file = certificate::file(key);
        let certificate = model.certificates.get(key);
        match certificate.and_then(|certificate| certificate::render(certificate, &self.paths())) {
            Some(text) => wanted.certificates.insert_mut(file.clone(), Arc::new(text)),
            None => _ = wanted.certificates.remove_mut(&file),
        }
        Unit::Certificate(file)
    }

    fn backend(&self, model: &Model, name: &BackendName, running: &Texts, wanted: &mut Texts) {
        match model.backends.get(name) {
            Some(backend) => {
                let runs = running.backends.get(name).map(AsRef::as_ref);
                let text = backend::render(backend, &self.paths(), runs, model.global.server_slots);
                self.put(name, &backend.policy, text, running, wanted);
            }
            None => _ = wanted.backends.remove_mut(name),
        }
    }

    /// Puts a rendered backend in its place, or what runs there when HAProxy refuses it.
    fn put(
        &self,
        name: &BackendName,
        policy: &Arc<Policy>,
        text: BackendText,
        running: &Texts,
        wanted: &mut Texts,
    ) {
        if !self.left_out.backend(name, policy) {
            return wanted.backends.insert_mut(name.clone(), Arc::new(text));
        }
        match running.running_as(name) {
            Some(runs) => wanted.backends.insert_mut(name.clone(), Arc::new(kept::backend(&runs, text))),
            None => _ = wanted.backends.remove_mut(name),
        }
    }
}

/// The entries of a route. The root of a host says whether it has regular expressions, so it is rendered again with them.
fn route(model: &Model, key: &RouteKey, wanted: &mut Texts, touched: &mut dyn FnMut(Unit)) {
    let (id, text) = route::key(key);
    let found = model.routes.get(key);
    let entries = found.map(|route| route::entries(route, has_regexes(model, key))).unwrap_or_default();
    let old = wanted.map(id).get(&text);
    if !entries.others.is_empty() || old.is_some_and(|old| route::has_others(old)) {
        let route = route::id(key);
        for map in [MapId::Split, MapId::Match] {
            // `}` comes behind `|`.
            let (from, to): (Arc<str>, Arc<str>) = (format!("{route}|").into(), format!("{route}}}").into());
            let there: Vec<Arc<str>> = wanted.map(map).range(from..to).map(|(key, _)| key.clone()).collect();
            for gone in there.into_iter().filter(|key| !entries.others.contains_key(&(map, key.clone()))) {
                wanted.map_mut(map).remove_mut(&gone);
                touched(Unit::Entry(map, gone));
            }
        }
        for ((map, key), value) in entries.others {
            if wanted.map(map).get(&key) != Some(&value) {
                wanted.map_mut(map).insert_mut(key.clone(), value);
            }
            touched(Unit::Entry(map, key));
        }
    }
    match entries.value {
        Some(value) => wanted.map_mut(id).insert_mut(text.clone(), value),
        None => _ = wanted.map_mut(id).remove_mut(&text),
    }
    touched(Unit::Entry(id, text));
    if let PathMatch::Regex(_) = key.path {
        let root = RouteKey { path: PathMatch::Prefix("".into()), ..key.clone() };
        route(model, &root, wanted, touched);
    }
}

/// Whether this is the root of a host that has paths that are regular expressions.
fn has_regexes(model: &Model, key: &RouteKey) -> bool {
    if !matches!(&key.path, PathMatch::Prefix(path) if path.is_empty()) {
        return false;
    }
    let first = RouteKey { path: PathMatch::Regex("".into()), ..key.clone() };
    model.routes.range(first..).next().is_some_and(|(found, _)| {
        (&found.table, &found.host) == (&key.table, &key.host) && matches!(found.path, PathMatch::Regex(_))
    })
}

fn passthrough(model: &Model, host: &HostMatch, wanted: &mut Texts) -> Unit {
    let key = route::server_name(host);
    match model.passthroughs.get(host) {
        Some(backend) => {
            let backend = escape::name(backend.as_str());
            wanted.map_mut(MapId::Sni).insert_mut(key.clone(), backend.into());
        }
        None => _ = wanted.map_mut(MapId::Sni).remove_mut(&key),
    }
    Unit::Entry(MapId::Sni, key)
}

fn list(model: &Model, name: &ListName, wanted: &mut Texts) -> Unit {
    let file: Arc<str> = escape::file_name(name.as_str()).into();
    match model.lists.get(name) {
        Some(list) => {
            let patterns = list.iter().filter_map(|pattern| escape::pattern(pattern)).map(Arc::from);
            wanted.lists.insert_mut(file.clone(), Arc::new(patterns.collect()));
        }
        None => _ = wanted.lists.remove_mut(&file),
    }
    Unit::List(file)
}

fn value(model: &Model, key: &Arc<str>, wanted: &mut Texts) -> Unit {
    let text: Arc<str> = escape::map_key(key).into();
    match model.values.get(key) {
        Some(value) => {
            wanted.map_mut(MapId::Values).insert_mut(text.clone(), escape::map_key(value).into());
        }
        None => _ = wanted.map_mut(MapId::Values).remove_mut(&text),
    }
    Unit::Entry(MapId::Values, text)
}
