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
    ALLOW_LIST, AUTH_SECRET, AUTH_TYPE, CORS_ENABLE, DENY_LIST, MAX_BODY_SIZE, RATE_LIMIT_REQUESTS,
    TIMEOUT_SERVER, TIMEOUT_TUNNEL,
};
use crate::problem::{Code, Problem, Severity};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    let access = &mut policy.access;
    guard(context, &ALLOW_LIST, &mut access.closed, notes);
    guard(context, &DENY_LIST, &mut access.closed, notes);
    guard(context, &AUTH_TYPE, &mut access.closed, notes);
    if context.get(&AUTH_TYPE).is_some() {
        guard(context, &AUTH_SECRET, &mut access.closed, notes);
    }
    lists::read(context, access, notes);
    basic_auth::read(context, access, notes);
    rate_limit::read(context, access, notes);
    cors::read(context, access, notes);
    access.max_body = context.get(&MAX_BODY_SIZE).filter(|bytes| *bytes > 0);
    access.timeout_server = context.get(&TIMEOUT_SERVER);
    access.timeout_tunnel = context.get(&TIMEOUT_TUNNEL);
}

/// What remains of it when HAProxy does not look into the traffic, which is known only after the other families.
pub(super) fn settle(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    if policy.mode != Mode::Tcp {
        return;
    }
    let access = &mut policy.access;
    if access.login.take().is_some() {
        access.closed = true;
        if let Some(origin) = context.said(&AUTH_TYPE).map(|said| said.origin) {
            let message =
                "`auth-type` cannot ask for a password where TLS is passed through, so the path is closed";
            notes.problems.push(closed(origin, message, "remove `auth-type` or `ssl-passthrough`"));
        }
    }
    let mut ineffective = |origin: Option<Origin>, key: &str| {
        let Some(origin) = origin else { return };
        notes.problems.push(Problem {
            origin,
            code: Code::KeyIneffective,
            severity: Severity::Warning,
            message: format!("`{key}` has no effect where TLS is passed through: HAProxy sees no requests"),
            hint: format!("remove `{key}` or `ssl-passthrough`"),
        });
    };
    if access.rate_limit.take().is_some() {
        ineffective(
            context.said(&RATE_LIMIT_REQUESTS).map(|said| said.origin),
            RATE_LIMIT_REQUESTS.entry.name,
        );
    }
    if access.cors.take().is_some() {
        ineffective(context.said(&CORS_ENABLE).map(|said| said.origin), CORS_ENABLE.entry.name);
    }
    if access.max_body.take().is_some() {
        ineffective(context.said(&MAX_BODY_SIZE).map(|said| said.origin), MAX_BODY_SIZE.entry.name);
    }
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
    notes.problems.push(closed(path.origin.clone(), &message, &format!("mend or remove `{name}`")));
}

/// A path that nobody reaches.
fn closed(origin: Origin, message: &str, hint: &str) -> Problem {
    Problem {
        origin,
        code: Code::AccessClosed,
        severity: Severity::Error,
        message: format!("{message}; requests are answered with 503"),
        hint: hint.to_owned(),
    }
}
