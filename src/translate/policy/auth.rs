//! External authentication: a sub-request decides. What cannot work closes the path.

use std::sync::Arc;

use super::{Context, Path, Said, servers};
use crate::cluster::{Kind, ObjectName, Origin, PortRef};
use crate::model::policy::auth::{Ask, Auth, AuthBackend, AuthHost, Host};
use crate::model::{Need, Policy};
use crate::options::auth::{
    AUTH_METHOD, AUTH_REQUEST_HEADERS, AUTH_RESPONSE_HEADERS, AUTH_SIGNIN, AUTH_TIMEOUT, AUTH_URL, AuthPlace,
    AuthUrl, DEFAULT_AUTH_METHOD, DEFAULT_AUTH_TIMEOUT,
};
use crate::options::{Key, Layer, Layers, Scope};
use crate::problem::{Code, Problem, Severity};
use crate::translate::backends::{Target, resolve_service};
use crate::translate::notes::Notes;
use crate::translate::servers::refusal;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, policy: &mut Policy, notes: &mut Notes) {
    // A TCP service has no requests.
    if context.path.is_some_and(|path| path.key.is_none()) {
        return;
    }
    if let Some(origin) = context.refused(&AUTH_URL) {
        policy.auth = closed(origin, Code::AuthUnusable, "its value is not allowed", VALUE, notes);
        return;
    }
    let Some(Said { value: Some(url), object, origin }) = context.said(&AUTH_URL) else { return };
    let refused = context.refused(&AUTH_REQUEST_HEADERS).or_else(|| context.refused(&AUTH_RESPONSE_HEADERS));
    if let Some(origin) = refused {
        policy.auth = closed(origin, Code::AuthUnusable, "its value is not allowed", VALUE, notes);
        return;
    }
    policy.auth = match who(context, &url, &object.name.namespace, notes) {
        Err((code, message, hint)) => closed(origin, code, &message, &hint, notes),
        Ok(who) => {
            notes.needs.insert(Need::ExternalAuth);
            if let AuthBackend::Host(host) = &who {
                notes.needs.insert(Need::AuthHost(host.clone()));
            }
            Auth::Ask(Box::new(Ask {
                who,
                host: url.host,
                path: url.path,
                method: get(context, &AUTH_METHOD, DEFAULT_AUTH_METHOD),
                timeout: get(context, &AUTH_TIMEOUT, DEFAULT_AUTH_TIMEOUT),
                sends: get(context, &AUTH_REQUEST_HEADERS, None),
                copies: get(context, &AUTH_RESPONSE_HEADERS, Vec::new()),
                sign_in: context.get(&AUTH_SIGNIN),
            }))
        }
    };
}

const VALUE: &str = "write an allowed value, or remove the key";

fn get<T>(context: &Context<'_>, key: &Key<T>, default: T) -> T {
    context.get(key).unwrap_or(default)
}

fn closed(origin: Origin, code: Code, message: &str, hint: &str, notes: &mut Notes) -> Auth {
    notes.problems.push(Problem {
        origin,
        code,
        severity: Severity::Error,
        message: format!(
            "external authentication cannot be used and its paths are answered with 503: {message}"
        ),
        hint: hint.to_owned(),
    });
    Auth::Closed
}

/// Who is asked, or why nobody can be: code, message and hint.
fn who(
    context: &Context<'_>,
    url: &AuthUrl,
    here: &Arc<str>,
    notes: &mut Notes,
) -> Result<AuthBackend, (Code, String, String)> {
    let loopback = context.settings.loopback_endpoints;
    let refused = |what: &str, reason: &str| {
        let message = format!("`{what}` is refused: it is {reason}");
        (Code::AuthUnusable, message, "name a Service, or a host outside of the cluster".to_owned())
    };
    let host = match &url.place {
        AuthPlace::Service { namespace, name, port } => {
            let service = ObjectName::new(namespace.clone().unwrap_or_else(|| here.clone()), name.clone());
            notes.services.insert(service.clone());
            if url.tls {
                let message = format!("Service `{service}` is named with `https`");
                let hint =
                    "write `http`; keys of that Service say whether its endpoints are reached over TLS";
                return Err((Code::AuthUnusable, message, hint.to_owned()));
            }
            return target(context, &service, port, notes).map(AuthBackend::Service);
        }
        AuthPlace::Address(address, port) => {
            if let Some(reason) = refusal(address.to_canonical(), loopback) {
                return Err(refused(&address.to_string(), reason));
            }
            AuthHost { host: Host::Address(*address), port: *port, tls: url.tls }
        }
        AuthPlace::Name(name, port) => {
            if !loopback && name.rsplit('.').next() == Some("localhost") {
                return Err(refused(name, "loopback"));
            }
            AuthHost { host: Host::Name(name.clone()), port: *port, tls: url.tls }
        }
    };
    Ok(AuthBackend::Host(host))
}

/// The backend of a Service that is asked. Only keys about its servers count: the other ones are about requests of clients,
/// and one that asks for authentication would ask forever.
fn target(
    context: &Context<'_>,
    name: &ObjectName,
    port: &PortRef,
    notes: &mut Notes,
) -> Result<crate::model::BackendName, (Code, String, String)> {
    let (service, port) = resolve_service(name, Some(port), context.snapshot)?;
    let (layer, _) = Layer::of_annotations(Scope::Service, &service.annotations);
    let none = Layer::default();
    let layers = Layers { service: &layer, ingress: &none, config: context.layers.config };
    let origin = Origin::object(Kind::Service, name.clone());
    let path = Path {
        ingress: None,
        key: None,
        origin: &origin,
        service,
        port: &port,
        clients: None,
        passthrough: false,
    };
    let mut policy = Policy { auth: Auth::Service, ..Policy::default() };
    servers::read(&Context { layers, path: Some(path), ..*context }, &mut policy, notes);
    if policy.servers.refused {
        // Why, the Service has been told.
        let message = format!("Service `{name}` cannot be reached");
        return Err((Code::AuthUnusable, message, "mend what is wrong with that Service".to_owned()));
    }
    let target = Target { service: name.clone(), port: port.port, policy: Arc::new(policy), is_plain: false };
    let backend = target.name();
    notes.targets.push(target);
    Ok(backend)
}
