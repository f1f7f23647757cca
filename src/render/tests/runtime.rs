//! What HAProxy itself says about the texts: the mark, the texts of servers as runtime commands, lines of the crt-list.

use super::haproxy::{HaProxy, pem};
use super::models::*;
use super::requests::{on_every_branch, tls};
use crate::model::*;
use crate::plan::{CertificateText, Command, Units, plan};
use crate::render::Renderer;

on_every_branch!(mark, servers_change, filters_change);

fn mark(branch: &str) {
    let mut model = empty();
    model.default_certificate = pem(&["default.test"]).0;
    let haproxy = HaProxy::start(branch, &mut model);
    let info = haproxy.command("show info");
    let mark = info.lines().find_map(|line| line.strip_prefix("description: "));
    assert_eq!(
        mark,
        Some(format!("outrigger-{}", haproxy.texts.generation()).as_str()),
        "HAProxy {branch}: {info}"
    );
}

/// The commands of a plan, spelled out, are accepted.
fn servers_change(branch: &str) {
    let mut model = empty();
    model.default_certificate = pem(&["default.test"]).0;
    let before =
        [server("10.0.0.1", 8080, ServerState::Active), server("10.0.0.2", 8080, ServerState::Active)];
    add_backend(&mut model, backend("ns/web", 80, &before));
    let haproxy = HaProxy::start(branch, &mut model);
    let after = [
        server("10.0.0.2", 8080, ServerState::Draining),
        server("10.0.0.3", 8080, ServerState::Active),
        server("2001:db8::1", 8080, ServerState::Active),
        server("2001:db8::2", 8080, ServerState::Draining),
    ];
    let name = add_backend(&mut model, backend("ns/web", 80, &after));
    let wanted = Renderer::new(haproxy.volumes.clone(), capabilities(branch)).full(&model, &haproxy.texts);
    let plan = plan(&haproxy.texts, &wanted, &Units::All, capabilities(branch));
    assert!(plan.reload.is_empty(), "{:?}", plan.reload);
    for command in plan.steps.iter().flat_map(|step| &step.commands) {
        for (spelled, answer) in spell(command) {
            let said = haproxy.command(&spelled);
            assert!(
                said.contains(answer) && (!answer.is_empty() || said.is_empty()),
                "HAProxy {branch}: {spelled}: {said}"
            );
        }
    }
    let state = haproxy.command(&format!("show servers state {name}"));
    let mut servers: Vec<String> = state
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .filter(|words| words.get(1) == Some(&name.as_str()) && words[18] != "1")
        // Address, port, whether it is in maintenance (bit 4 only says that it once was, by configuration), weight.
        .map(|words| (words[6].parse::<u8>().unwrap() & !4, words))
        .map(|(maintenance, words)| format!("{} {} {maintenance} {}", words[4], words[18], words[7]))
        .collect();
    servers.sort_unstable();
    let expected = ["10.0.0.2 8080 0 0", "10.0.0.3 8080 0 1", "2001:db8::1 8080 0 1", "2001:db8::2 8080 0 0"];
    assert_eq!(servers, expected, "HAProxy {branch}: {state}");
}

fn spell(command: &Command) -> Vec<(String, &'static str)> {
    match command {
        Command::AddServer { backend, server, line } => {
            vec![(format!("add server {backend}/{server} {line}"), "New server registered.")]
        }
        Command::RemoveServer { backend, server, .. } => vec![
            (format!("set server {backend}/{server} state maint"), ""),
            (format!("del server {backend}/{server}"), "Server deleted."),
        ],
        Command::SetMode { backend, server, mode } => {
            let mode = match mode {
                crate::plan::ServerMode::Ready => "ready",
                crate::plan::ServerMode::Maintenance => "maint",
            };
            vec![(format!("set server {backend}/{server} state {mode}"), "")]
        }
        Command::SetWeight { backend, server, weight } => {
            vec![(format!("set server {backend}/{server} weight {weight}"), "")]
        }
        Command::SetAddress { backend, server, address, port } => {
            vec![(format!("set server {backend}/{server} addr {address} port {port}"), "IP changed from")]
        }
        other => panic!("not about servers: {other:?}"),
    }
}

/// The filters of a certificate change without a moment in which its host has the default certificate.
fn filters_change(branch: &str) {
    let mut model = empty();
    let (default, default_der) = pem(&["default.test"]);
    let (a, a_der) = pem(&["a.test", "b.test"]);
    model.default_certificate = default;
    add_certificate(&mut model, certificate("ns/a", a.clone(), &["a.test"]));
    let haproxy = HaProxy::start(branch, &mut model);
    add_certificate(&mut model, certificate("ns/a", a, &["a.test", "b.test"]));
    let wanted = Renderer::new(haproxy.volumes.clone(), capabilities(branch)).full(&model, &haproxy.texts);
    let plan = plan(&haproxy.texts, &wanted, &Units::All, capabilities(branch));
    let shown = |name: &str| tls(&haproxy, Some(name), "GET / HTTP/1.1\r\nHost: x\r\n").0;
    assert!(shown("b.test") == default_der, "HAProxy {branch}");

    let list = haproxy.volumes.crt_list();
    let list = list.display();
    for command in plan.steps.iter().flat_map(|step| &step.commands) {
        let said = match command {
            Command::AddToList { file, filters } => {
                let file = haproxy.volumes.certificates().join(file.as_ref());
                haproxy.command(&format!("add ssl crt-list {list} <<\n{} {filters}\n", file.display()))
            }
            Command::RemoveFromList { file } => {
                let lines = haproxy.command(&format!("show ssl crt-list -n {list}"));
                let oldest = lines.lines().find(|l| l.contains(file.as_ref())).unwrap();
                haproxy.command(&format!("del ssl crt-list {list} {}", oldest.split(' ').next().unwrap()))
            }
            other => panic!("unexpected {other:?}"),
        };
        assert!(said.contains("Success!") || said.contains("deleted in crtlist"), "HAProxy {branch}: {said}");
        assert!(shown("a.test") == a_der, "HAProxy {branch}, after {command:?}");
    }
    assert!(shown("b.test") == a_der, "HAProxy {branch}");
    assert!(shown("other.test") == default_der, "HAProxy {branch}");
    let lines = haproxy.command(&format!("show ssl crt-list {list}"));
    assert_eq!(lines.matches("ns_a.pem").count(), 1, "HAProxy {branch}: {lines}");
    assert!(lines.contains(CertificateText::DEFAULT_FILTER), "HAProxy {branch}: {lines}");
}
