//! Who may, and how often: lists, basic authentication, rate limits, CORS, body size, timeouts.

mod basic_auth;
mod cors;
mod crypt;
mod lists;
mod rate_limit;

use super::Context;
use crate::cluster::Origin;
use crate::model::{Mode, Policy};
use crate::options::Key;
use crate::options::access::{
    ALLOW_LIST, AUTH_SECRET, AUTH_TYPE, DENY_LIST, MAX_BODY_SIZE, TIMEOUT_SERVER, TIMEOUT_TUNNEL,
};
use crate::problem::{Code, Problem, Severity};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    let access = &mut policy.access;
    guard(context, &ALLOW_LIST, &mut access.closed, notes);
    guard(context, &DENY_LIST, &mut access.closed, notes);
    lists::read(context, access, notes);
    access.timeout_server = context.get(&TIMEOUT_SERVER);
    access.timeout_tunnel = context.get(&TIMEOUT_TUNNEL);
    if policy.mode == Mode::Tcp {
        // The other keys are about requests.
        return;
    }
    guard(context, &AUTH_TYPE, &mut access.closed, notes);
    if context.get(&AUTH_TYPE).is_some() {
        guard(context, &AUTH_SECRET, &mut access.closed, notes);
    }
    basic_auth::read(context, access, notes);
    rate_limit::read(context, access, notes);
    cors::read(context, access, notes);
    access.max_body = context.get(&MAX_BODY_SIZE).filter(|bytes| *bytes > 0);
}

/// A key that guards access and whose value is not allowed: open would be worse than closed.
fn guard<T>(context: &Context<'_>, key: &Key<T>, access: &mut bool, notes: &mut Notes) {
    if !context.layers.refuses(key) {
        return;
    }
    *access = true;
    // For the plain policy there is the problem of the value itself, which has no path to name.
    let Some(path) = context.path else { return };
    let name = key.entry.name;
    let message = format!("`{name}` has a value that is not valid, so the path is closed");
    notes.problems.push(closed(context, path.origin.clone(), &message, &format!("mend or remove `{name}`")));
}

/// A path that nobody reaches.
fn closed(context: &Context<'_>, origin: Origin, message: &str, hint: &str) -> Problem {
    let is_passed = context.path.is_some_and(|path| path.passthrough);
    let effect = if is_passed { "connections are closed" } else { "requests are answered with 503" };
    Problem {
        origin,
        code: Code::AccessClosed,
        severity: Severity::Error,
        message: format!("{message}; {effect}"),
        hint: hint.to_owned(),
    }
}
