//! A backend of a Service: its header, and its servers as `add server` takes them.

mod access;
pub(super) mod auth;
mod raw;
mod rewriting;
mod servers;
mod tls;

use super::text::Text;
use super::{Paths, escape, main_file, server, slots as server_slots};
use crate::model::{Backend, BackendName, Mode, Policy};
use crate::plan::BackendText;

/// Renders a backend. `running` is what runs under its name: slots keep their places, and come in
/// multiples of `slots`.
pub(super) fn render(
    backend: &Backend,
    paths: &Paths<'_>,
    running: Option<&BackendText>,
    slots: u16,
) -> BackendText {
    let mut text = header(&backend.name, &backend.origin.to_string(), &backend.policy, paths);
    let keywords = server::Keywords::new(&backend.policy, paths);
    let servers = if backend.policy.servers.external.is_some() {
        server::Servers::new()
    } else if paths.capabilities.dynamic_servers() {
        let line = |server| server::line(server, &keywords);
        backend.servers.values().map(|server| (server::name(server.key), line(server))).collect()
    } else {
        let slots = backend.policy.servers.slots.unwrap_or(slots);
        let places = server_slots::assign(backend, &keywords, running, slots);
        // The number of slots is part of the header: another number needs a reload.
        text.line(format_args!("# {} slots", places.len()));
        places
    };
    BackendText { header: text.finish().into(), servers, assets: backend.policy.assets() }
}

/// The text of a backend but for its servers.
pub(super) fn header(name: &BackendName, comment: &str, policy: &Policy, paths: &Paths<'_>) -> Text {
    let mut text = Text::default();
    let from = main_file::from(paths.capabilities);
    text.section(format_args!("backend {}{from}", escape::name(name.as_str())));
    text.line(format_args!("# {}", escape::comment(comment)));
    if policy.mode == Mode::Tcp {
        text.line(format_args!("mode tcp"));
        servers::write(&mut text, policy, paths);
        access::write(&mut text, policy, paths);
        raw::write(&mut text, policy, paths);
        return text;
    }
    // Rules run in the order in which they stand: who may comes before what is changed. Raw lines come last.
    servers::write(&mut text, policy, paths);
    rewriting::write_first(&mut text, policy, paths);
    tls::write_clients(&mut text, policy);
    access::write(&mut text, policy, paths);
    auth::write(&mut text, policy, paths);
    rewriting::write(&mut text, policy, paths);
    tls::write(&mut text, policy);
    raw::write(&mut text, policy, paths);
    text
}
