//! From objects to a model, as a reader of the objects would expect it.

mod access;
mod auth;
mod backends;
mod build;
mod classes;
mod contest;
mod incremental;
mod passthrough;
mod reference;
mod rewriting;
mod routing;
mod servers;
mod snippets;
mod tls;

pub(super) use build::{EC, EC2, Pair, RSA, secret_with};

use std::fmt::Write as _;

use super::{Settings, Translator};
use crate::cluster::{Change, Object, Snapshot};
use crate::model::{Condition, Expression, Filter, Model, ServerState};

/// The snapshot of these objects.
fn snapshot(objects: impl IntoIterator<Item = Object>) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for object in objects {
        snapshot.apply(Change::Upsert(object), &mut std::collections::BTreeSet::new());
    }
    snapshot
}

/// A translator that has seen these objects.
fn translated(settings: Settings, objects: impl IntoIterator<Item = Object>) -> Translator {
    let mut translator = Translator::new(settings);
    translator.update(&snapshot(objects), &std::collections::BTreeSet::new());
    translator
}

/// Translates, and compares model and problems, line by line.
fn check(settings: Settings, objects: impl IntoIterator<Item = Object>, expected: &[&str]) {
    let translator = translated(settings, objects);
    let shown = show(&translator);
    let shown: Vec<&str> = shown.lines().collect();
    assert_eq!(shown, expected, "\n{}\n{:#?}", shown.join("\n"), translator.problems().collect::<Vec<_>>());
}

/// Routes, backends, certificates, then problems (place and code).
fn show(translator: &Translator) -> String {
    let mut text = show_model(translator.model());
    for problem in translator.problems() {
        let _ = writeln!(text, "! {}: {}", problem.origin, problem.code);
    }
    text
}

fn show_model(model: &Model) -> String {
    let mut text = String::new();
    for (key, route) in &model.routes {
        let _ = write!(text, "{key} ->");
        if route.candidates.is_empty() {
            let _ = write!(text, " nothing");
        }
        for candidate in &route.candidates {
            for condition in &candidate.conditions {
                let _ = match condition {
                    Condition::Header(name, value) => write!(text, " [{name}: {value}]"),
                    Condition::Cookie(name, value) => write!(text, " [{name}={value}]"),
                    Condition::Expression(Expression(words)) => write!(text, " [{}]", words.join(" ")),
                    other => write!(text, " [{other:?}]"),
                };
            }
            for Filter::RedirectToHttps { status, port } in &candidate.filters {
                let _ = write!(text, " {status}");
                if let Some(port) = port {
                    let _ = write!(text, " port {port}");
                }
            }
            for share in &candidate.split {
                let _ = write!(text, " {}", share.backend);
                if candidate.split.len() > 1 {
                    let _ = write!(text, " x{}", share.weight);
                }
            }
        }
        text.push('\n');
    }
    for backend in model.backends.values() {
        let _ = write!(text, "{}:", backend.name);
        for server in backend.servers.values() {
            let _ = write!(text, " {}:{}", server.key.address, server.key.port);
            if server.state == ServerState::Draining {
                let _ = write!(text, " draining");
            }
        }
        text.push('\n');
    }
    for (host, backend) in &model.passthroughs {
        let _ = writeln!(text, "{host:?} => {backend}");
    }
    for certificate in model.certificates.values() {
        let hosts: Vec<&str> = certificate.hosts.iter().map(AsRef::as_ref).collect();
        let secret =
            certificate.key.secret.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string);
        let key_type = certificate.key_type.map(|key_type| format!(" {key_type:?}")).unwrap_or_default();
        let _ = write!(text, "{secret}{key_type} for {}", hosts.join(" "));
        if let Some(check) = &certificate.check {
            let required = if check.required { "required" } else { "optional" };
            let revoked = if check.revoked.is_some() { " but revoked" } else { "" };
            let _ = write!(text, ", clients {required}{revoked}");
        }
        text.push('\n');
    }
    text
}
