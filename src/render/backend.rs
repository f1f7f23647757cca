//! A backend of a Service: its header, and its servers as `add server` takes them.

use super::text::Text;
use super::{escape, main_file, server, slots as server_slots};
use crate::model::{Backend, BackendName, Balance, Capabilities, Policy};
use crate::plan::BackendText;

/// Renders a backend. `running` is what runs under its name: slots keep their places, and come in
/// multiples of `slots`.
pub(super) fn render(
    backend: &Backend,
    capabilities: Capabilities,
    running: Option<&BackendText>,
    slots: u16,
) -> BackendText {
    let mut text = header(&backend.name, &backend.origin.to_string(), &backend.policy, capabilities);
    let servers = if capabilities.dynamic_servers() {
        backend.servers.values().map(|server| (server::name(server.key), server::line(server))).collect()
    } else {
        let places = server_slots::assign(backend.servers.values(), running, slots);
        // The number of slots is part of the header: another number needs a reload.
        text.line(format_args!("# {} slots", places.len()));
        places
    };
    BackendText { header: text.finish().into(), servers }
}

/// The text of a backend but for its servers.
pub(super) fn header(name: &BackendName, comment: &str, policy: &Policy, capabilities: Capabilities) -> Text {
    let mut text = Text::default();
    let from = main_file::from(capabilities);
    text.section(format_args!("backend {}{from}", escape::name(name.as_str())));
    text.line(format_args!("# {}", escape::comment(comment)));
    // Dynamic servers need one of the dynamic algorithms; a hash would need `hash-type consistent`.
    text.line(format_args!(
        "balance {}",
        match policy.balance {
            Balance::RoundRobin => "roundrobin",
            Balance::LeastConn => "leastconn",
        }
    ));
    text
}
