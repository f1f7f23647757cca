//! Servers and the way to them.

mod authority;
mod external;
mod transport;

use super::Context;
use crate::model::Policy;
use crate::model::policy::servers::{Check, MaxConnections, Persistence, Retries};
use crate::options::servers::{
    ABORT_ON_CLOSE, CHECK, CHECK_HTTP, CHECK_INTERVAL, COOKIE_PERSISTENCE, COOKIE_PERSISTENCE_NO_DYNAMIC,
    LOAD_BALANCE, POD_MAXCONN, REDISPATCH, RETRIES, RETRY_ON, TIMEOUT_CHECK,
};
use crate::options::{SERVERS_INCREMENT, Scope};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    policy.balance = context.get(&LOAD_BALANCE).unwrap_or_default();
    let servers = &mut policy.servers;
    // What the ConfigMap says of slots counts for all backends.
    servers.slots = match context.layers.find(&SERVERS_INCREMENT) {
        Some((slots, Scope::Service | Scope::Ingress, _)) => Some(slots),
        _ => None,
    };
    servers.max_connections =
        context.get(&POD_MAXCONN).map(|total| MaxConnections::shared(total, context.replicas));
    servers.check = check(context);
    servers.persistence = persistence(context);
    servers.abort_on_close = context.get(&ABORT_ON_CLOSE);
    servers.retries = Retries {
        count: context.get(&RETRIES),
        on: context.get(&RETRY_ON).unwrap_or_default(),
        redispatch: context.get(&REDISPATCH),
    };
    transport::read(context, servers, notes);
    external::read(context, servers, notes);
}

/// Checks are off unless somebody wants them; `check: false` anywhere wins over `check-http`, as in haproxytech's controller,
/// whose users switch them off in the ConfigMap.
fn check(context: &Context<'_>) -> Option<Check> {
    let http = context.get(&CHECK_HTTP);
    context.get(&CHECK).unwrap_or_else(|| http.is_some()).then(|| Check {
        http,
        interval: context.get(&CHECK_INTERVAL),
        timeout: context.get(&TIMEOUT_CHECK),
    })
}

/// The key on the more specific object counts.
fn persistence(context: &Context<'_>) -> Option<Persistence> {
    let dynamic = context.layers.find(&COOKIE_PERSISTENCE);
    let by_name = context.layers.find(&COOKIE_PERSISTENCE_NO_DYNAMIC);
    match (dynamic, by_name) {
        (Some((_, scope, _)), Some((cookie, closer, _))) if closer < scope => {
            Some(Persistence { cookie, by_name: true })
        }
        (Some((cookie, ..)), _) => Some(Persistence { cookie, by_name: false }),
        (None, Some((cookie, ..))) => Some(Persistence { cookie, by_name: true }),
        (None, None) => None,
    }
}
