//! Model × capabilities → texts of units; infallible. Pure.
//!
//! A unit is what can be changed by itself: the main text, a backend, a map entry, a certificate. [`Renderer::refresh`]
//! renders the units that a change touched, [`Renderer::full`] all of them; both give the same texts.
#![deny(clippy::disallowed_methods)]

mod backend;
mod certificate;
mod escape;
mod fixed;
mod frontend;
mod main_file;
mod route;
mod server;
mod slots;
mod spare;
#[cfg(test)]
pub(crate) mod tests;
mod text;

use std::sync::Arc;

use outrigger_init::Volumes;

use crate::cluster::ObjectName;
use crate::model::{BackendName, Capabilities, Model, RouteKey, Touched};
use crate::plan::{Texts, Unit, Units};

/// Renders models for one HAProxy version and one set of folders.
#[derive(Debug, Clone)]
pub struct Renderer {
    volumes: Volumes,
    capabilities: Capabilities,
}

impl Renderer {
    /// A renderer of files that HAProxy will find under `volumes`.
    pub fn new(volumes: Volumes, capabilities: Capabilities) -> Self {
        Self { volumes, capabilities }
    }

    /// Renders the touched units of `model` into `wanted`; tells which they are. `running` is what runs: slots, before 2.6,
    /// keep their places.
    pub fn refresh(&self, model: &Model, touched: &Touched, running: &Texts, wanted: &mut Texts) -> Units {
        let mut units = Units::default();
        if touched.global {
            self.global(model, wanted);
            units.insert(Unit::Main);
            units.insert(Unit::DefaultCertificate);
        }
        for name in &touched.backends {
            self.backend(model, name, running, wanted);
            units.insert(Unit::Backend(name.clone()));
        }
        for key in &touched.routes {
            units.insert(route(model, key, wanted));
        }
        for secret in &touched.certificates {
            units.insert(certificate(model, secret, wanted));
        }
        units
    }

    /// Renders everything.
    pub fn full(&self, model: &Model, running: &Texts) -> Texts {
        let mut wanted = Texts::default();
        self.global(model, &mut wanted);
        for name in model.backends.keys() {
            self.backend(model, name, running, &mut wanted);
        }
        for key in model.routes.keys() {
            route(model, key, &mut wanted);
        }
        for secret in model.certificates.keys() {
            certificate(model, secret, &mut wanted);
        }
        wanted
    }

    /// What is not about one object.
    fn global(&self, model: &Model, wanted: &mut Texts) {
        wanted.main = main_file::render(&model.global, &self.volumes, self.capabilities).into();
        wanted.default_certificate = Some(Arc::new(certificate::default(&model.default_certificate)));
        if self.capabilities.dynamic_servers() {
            let text = |name: &BackendName| Arc::new(spare::render(name, self.capabilities));
            BackendName::spares().for_each(|name| wanted.backends.insert_mut(name.clone(), text(&name)));
        }
    }

    fn backend(&self, model: &Model, name: &BackendName, running: &Texts, wanted: &mut Texts) {
        match model.backends.get(name) {
            Some(backend) => {
                let running = running.backends.get(name).map(AsRef::as_ref);
                let text = backend::render(backend, self.capabilities, running, model.global.server_slots);
                wanted.backends.insert_mut(name.clone(), Arc::new(text));
            }
            None => _ = wanted.backends.remove_mut(name),
        }
    }
}

fn route(model: &Model, key: &RouteKey, wanted: &mut Texts) -> Unit {
    let (id, text) = route::key(key);
    match model.routes.get(key).and_then(|route| route::value(route)) {
        Some(value) => wanted.map_mut(id).insert_mut(text.clone(), value),
        None => _ = wanted.map_mut(id).remove_mut(&text),
    }
    Unit::Entry(id, text)
}

fn certificate(model: &Model, secret: &ObjectName, wanted: &mut Texts) -> Unit {
    let file = certificate::file(secret);
    match model.certificates.get(secret).and_then(|certificate| certificate::render(certificate)) {
        Some(text) => wanted.certificates.insert_mut(file.clone(), Arc::new(text)),
        None => _ = wanted.certificates.remove_mut(&file),
    }
    Unit::Certificate(file)
}
