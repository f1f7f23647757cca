//! Where TLS is passed through, HAProxy neither reads nor wraps the bytes: what would guard requests closes the path, what would
//! change them has no effect.

use super::Context;
use crate::cluster::{Kind, Origin};
use crate::model::Policy;
use crate::options::Key;
use crate::options::access::{AUTH_TYPE, CORS_ENABLE, MAX_BODY_SIZE, RATE_LIMIT_REQUESTS};
use crate::options::auth::AUTH_URL;
use crate::options::rewriting::{
    PATH_REWRITE, REQUEST_CAPTURE, REQUEST_REDIRECT, REQUEST_SET_HEADER, RESPONSE_SET_HEADER, SET_HOST,
    SRC_IP_HEADER,
};
use crate::options::servers::{
    CHECK_HTTP, COOKIE_PERSISTENCE, COOKIE_PERSISTENCE_NO_DYNAMIC, SERVER_CA, SERVER_CRT, SERVER_PROTO,
    SERVER_SSL,
};
use crate::options::tls::{CLIENT_CA, CLIENT_CRT_OPTIONAL, HSTS, SSL_PASSTHROUGH};
use crate::problem::{Code, Problem, Severity};
use crate::translate::clients::{self, Asked};
use crate::translate::notes::Notes;

/// Settles what the keys mean that are about requests, cookies, certificates and TLS.
pub(super) fn read(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    guards(context, policy, notes);
    let servers = &mut policy.servers;
    servers.persistence = None;
    if let Some(check) = &mut servers.check {
        // A connection says what can be said.
        check.http = None;
    }
    let mut unused = Unused { context, notes };
    unused.key(&RATE_LIMIT_REQUESTS, |_| true);
    unused.key(&CORS_ENABLE, |on| *on);
    unused.key(&MAX_BODY_SIZE, |bytes| *bytes > 0);
    unused.key(&PATH_REWRITE, |_| true);
    unused.key(&SET_HOST, |_| true);
    unused.key(&REQUEST_SET_HEADER, |_| true);
    unused.key(&RESPONSE_SET_HEADER, |_| true);
    unused.key(&REQUEST_REDIRECT, |_| true);
    unused.key(&REQUEST_CAPTURE, |_| true);
    unused.key(&SRC_IP_HEADER, |_| true);
    unused.key(&HSTS, |on| *on);
    unused.key(&COOKIE_PERSISTENCE, |_| true);
    unused.key(&COOKIE_PERSISTENCE_NO_DYNAMIC, |_| true);
    unused.key(&CHECK_HTTP, |_| true);
    unused.key(&SERVER_SSL, |on| *on);
    unused.key(&SERVER_CA, |_| true);
    unused.key(&SERVER_CRT, |_| true);
    unused.key(&SERVER_PROTO, |_| true);
}

/// What says who may, and cannot look: nobody may then.
fn guards(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    let written = |origin: Option<Origin>| origin.map(|origin| (origin, true));
    let auth_type = context.refused(&AUTH_TYPE).or_else(|| Some(context.said(&AUTH_TYPE)?.origin));
    let asks = || context.said(&AUTH_URL).filter(|said| said.value.is_some());
    let auth_url = context.refused(&AUTH_URL).or_else(|| Some(asks()?.origin));
    let found = [
        (&AUTH_TYPE.entry, "ask for a password", written(auth_type)),
        (&AUTH_URL.entry, "ask a service", written(auth_url)),
        (&CLIENT_CA.entry, "check certificates of clients", client_ca(context)),
    ];
    for (entry, deed, origin) in found {
        let Some((origin, is_written)) = origin else { continue };
        policy.access.closed = true;
        let path = context.path.and_then(|path| path.key).map(ToString::to_string).unwrap_or_default();
        let name = entry.name;
        let off = match origin.object.kind {
            Kind::ConfigMap if name == AUTH_URL.entry.name => "write `auth-url: \"off\"` on the Ingress",
            _ if is_written && origin.object.kind != Kind::ConfigMap => "remove it",
            _ => "write it on those Ingresses only that need it",
        };
        notes.problems.push(Problem {
            origin,
            code: Code::AccessClosed,
            severity: Severity::Error,
            message: format!(
                "`{name}` cannot {deed} where TLS is passed through: connections to `{path}` are closed"
            ),
            hint: format!("{off}, or remove `ssl-passthrough`"),
        });
    }
}

/// Where it is written that clients must show certificates, and whether it is this key that is written there.
fn client_ca(context: &Context<'_>) -> Option<(Origin, bool)> {
    let path = context.path?;
    let object = Origin::object(Kind::Ingress, path.ingress?.clone());
    if !matches!(clients::asked_by(context.layers.ingress, &object).0, Asked::Nothing) {
        return Some((clients::origin_of(&CLIENT_CA, context.layers.ingress, &object), true));
    }
    let passed = context.said(&SSL_PASSTHROUGH)?.origin;
    if path.clients.is_some() {
        // Another Ingress says so for the host.
        return Some((passed, false));
    }
    let object = Origin::object(Kind::ConfigMap, context.settings.config_map.clone()?);
    let config = context.layers.config;
    let asks = match clients::asked_by(config, &object).0 {
        Asked::Nothing => false,
        Asked::Unclear => true,
        // Those without certificate are let in, so nothing is guarded.
        Asked::Check(_) => config.get(&CLIENT_CRT_OPTIONAL) != Some(true),
    };
    asks.then_some((passed, false))
}

/// Says which keys have no effect.
struct Unused<'a, 'b> {
    context: &'a Context<'b>,
    notes: &'a mut Notes,
}

impl Unused<'_, '_> {
    /// A key with a value that would do something. What the ConfigMap says of all paths is not meant for each.
    fn key<T>(&mut self, key: &Key<T>, acts: fn(&T) -> bool) {
        let said = self.context.said(key).filter(|said| said.object.kind != Kind::ConfigMap);
        let Some(said) = said.filter(|said| acts(&said.value)) else { return };
        let name = key.entry.name;
        self.notes.problems.push(Problem {
            origin: said.origin,
            code: Code::KeyIneffective,
            severity: Severity::Warning,
            message: format!("`{name}` has no effect where TLS is passed through: HAProxy sees no requests"),
            hint: format!("remove `{name}` or `ssl-passthrough`"),
        });
    }
}
