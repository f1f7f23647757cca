//! What a backend says about TLS to clients: whose certificates let them in, HSTS.

use super::Context;
use crate::cluster::{Kind, Origin};
use crate::model::policy::tls::{Clients, Hsts};
use crate::model::{HostMatch, Policy};
use crate::options::tls::{
    CLIENT_CA, CLIENT_CRT_OPTIONAL, DEFAULT_MAX_AGE, HSTS, HSTS_INCLUDE_SUBDOMAINS, HSTS_MAX_AGE,
    HSTS_PRELOAD,
};
use crate::problem::{Code, Problem, Severity};
use crate::translate::clients::{self, Asked};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    policy.tls.clients = clients_of(context, notes);
    policy.tls.hsts = context.get(&HSTS).unwrap_or(false).then(|| Hsts {
        max_age: context.get(&HSTS_MAX_AGE).unwrap_or(DEFAULT_MAX_AGE),
        subdomains: context.get(&HSTS_INCLUDE_SUBDOMAINS).unwrap_or(false),
        preload: context.get(&HSTS_PRELOAD).unwrap_or(false),
    });
}

/// Whose certificates let clients in: the host says so, else the ConfigMap.
fn clients_of(context: &Context<'_>, notes: &mut Notes) -> Option<Clients> {
    let Some(path) = context.path else { return listener(context) };
    if let Some(rule) = path.clients {
        return Some(match &rule.check {
            Some(check) => Clients::Host { required: check.required },
            None => Clients::HostClosed,
        });
    }
    let Some(ingress) = path.ingress else { return context.plain.tls.clients };
    let object = Origin::object(Kind::Ingress, ingress.clone());
    if matches!(clients::asked_by(context.layers.ingress, &object).0, Asked::Nothing) {
        return context.plain.tls.clients;
    }
    if path.key.is_some_and(|key| matches!(key.host, HostMatch::Any | HostMatch::Default)) {
        notes.problems.push(Problem {
            origin: clients::origin_of(&CLIENT_CA, context.layers.ingress, &object),
            code: Code::KeyIneffective,
            severity: Severity::Error,
            message:
                "clients of a rule without host cannot be asked for certificates; its requests are refused"
                    .to_owned(),
            hint: "name the hosts in the rules of the Ingress".to_owned(),
        });
    }
    Some(Clients::HostClosed)
}

/// What the ConfigMap says, without Problems: the global settings have them.
fn listener(context: &Context<'_>) -> Option<Clients> {
    let config = context.layers.config;
    let object = Origin::object(Kind::ConfigMap, context.settings.config_map.clone()?);
    let required = !config.get(&CLIENT_CRT_OPTIONAL).unwrap_or(false);
    let check = match clients::asked_by(config, &object).0 {
        Asked::Nothing => return None,
        Asked::Unclear => None,
        Asked::Check(secrets) => {
            clients::read(&secrets, required, context.snapshot, &object, &mut Notes::default())
        }
    };
    Some(if check.is_some() { Clients::Listener { required } } else { Clients::ListenerClosed })
}
