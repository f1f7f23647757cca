//! Ports of the HTTP and HTTPS listeners, which the ConfigMap may say otherwise than flags.

use super::Context;
use crate::model::Global;
use crate::options::Key;
use crate::options::global::{HTTP_PORT, HTTPS_PORT};
use crate::problem::{Code, Problem, Severity};
use crate::translate::notes::Notes;

/// Ports from here on can be bound by everybody.
const UNPRIVILEGED: u16 = 1024;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, global: &mut Global, notes: &mut Notes) {
    let flags = &context.inputs.settings.listeners;
    let others = [flags.stats, flags.healthz];
    let listeners = &mut global.listeners;
    let https = listeners.https;
    if let Some(port) = wanted(context, &HTTP_PORT, listeners.http, notes) {
        let clash = others.contains(&port) || context.get(&HTTPS_PORT).or(https) == Some(port);
        settle(context, &HTTP_PORT, &mut listeners.http, (port, clash), notes);
    }
    let http = listeners.http;
    if let Some(port) = wanted(context, &HTTPS_PORT, listeners.https, notes) {
        let clash = others.contains(&port) || http == Some(port);
        settle(context, &HTTPS_PORT, &mut listeners.https, (port, clash), notes);
    }
}

/// The port that the key says, for a listener that is on.
fn wanted(context: &Context<'_>, key: &Key<u16>, flag: Option<u16>, notes: &mut Notes) -> Option<u16> {
    let port = context.get(key)?;
    let flag = flag?;
    if port < UNPRIVILEGED && port != flag {
        notes.problems.extend(privileged(context, key, port));
    }
    Some(port)
}

fn settle(
    context: &Context<'_>,
    key: &Key<u16>,
    place: &mut Option<u16>,
    (port, clash): (u16, bool),
    notes: &mut Notes,
) {
    if !clash {
        *place = Some(port);
        return;
    }
    let stays = place.unwrap_or(port);
    notes.problems.extend(context.origin(key).map(|origin| Problem {
        origin,
        code: Code::PortConflict,
        severity: Severity::Error,
        message: format!("port {port} belongs to another listener of HAProxy; {stays} stays"),
        hint: "choose a port that no other listener has".to_owned(),
    }));
}

fn privileged(context: &Context<'_>, key: &Key<u16>, port: u16) -> Option<Problem> {
    Some(Problem {
        origin: context.origin(key)?,
        code: Code::PortPrivileged,
        severity: Severity::Warning,
        message: format!("port {port} is below 1024: HAProxy, which is not root, may be refused it"),
        hint: "set the sysctl `net.ipv4.ip_unprivileged_port_start` of the pod to `0`, or let the Service map the port"
            .to_owned(),
    })
}
