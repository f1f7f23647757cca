//! TLS, HTTP version and PROXY protocol to the servers.

use std::sync::Arc;

use super::super::{Context, Said};
use super::authority::authorities;
use crate::cluster::{Kind, ObjectName, Secret};
use crate::model::policy::servers::{Protocol, ServerPolicy, ServerTls};
use crate::model::{Asset, AssetKind};
use crate::options::servers::{SEND_PROXY_PROTOCOL, SERVER_CA, SERVER_CRT, SERVER_PROTO, SERVER_SSL};
use crate::options::value::ObjectRef;
use crate::options::{Key, Scope};
use crate::problem::{Code, Problem, Severity};
use crate::translate::key_pair;
use crate::translate::notes::Notes;

/// Who says something, the most specific first: what a port says is closer to it than what the ConfigMap says of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Service,
    Ingress,
    Port,
    ConfigMap,
}

impl From<Scope> for Rank {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Service => Self::Service,
            Scope::Ingress => Self::Ingress,
            Scope::ConfigMap => Self::ConfigMap,
        }
    }
}

/// Reads the keys.
pub(super) fn read(context: &Context<'_>, servers: &mut ServerPolicy, notes: &mut Notes) {
    servers.proxy_protocol = context.get(&SEND_PROXY_PROTOCOL);
    if context.path.is_some_and(|path| path.passthrough) {
        // It is the client that speaks TLS with the pod, and HTTP in it.
        return;
    }
    // The bytes of a TCP service are passed on as they come: whether they are TLS is up to its clients.
    let is_route = context.path.is_some_and(|path| path.key.is_some());
    let port = context.port().filter(|_| is_route);
    let port = port.and_then(|port| app_protocol(port.app_protocol.as_deref()?));
    let protocol =
        context.layers.find(&SERVER_PROTO).map(|(protocol, scope, _)| (Rank::from(scope), protocol));
    let protocols = [protocol, port.map(|(_, protocol)| (Rank::Port, protocol))];
    servers.protocol = closest(protocols.into_iter().flatten()).unwrap_or_default();

    let named =
        |key: &Key<ObjectRef>| context.layers.find(key).map(|(_, scope, _)| (Rank::from(scope), true));
    let flag = context.layers.find(&SERVER_SSL).map(|(on, scope, _)| (Rank::from(scope), on));
    // Of equal rank the first counts: who names an authority wants TLS.
    let said = [named(&SERVER_CA), named(&SERVER_CRT), flag, port.map(|(tls, _)| (Rank::Port, tls))];
    if !closest(said.into_iter().flatten()).unwrap_or_default() {
        return;
    }
    let mut tls = ServerTls::default();
    if let Some(said) = context.said(&SERVER_CA) {
        let consequence = "requests are answered with 503";
        match asset(context, &said, consequence, notes, |secret| {
            Ok((AssetKind::Authority, authorities(secret)?))
        }) {
            Some(authority) => tls.authority = Some(authority),
            // Without it requests would go to whoever answers.
            None => servers.refused = true,
        }
    }
    if let Some(said) = context.said(&SERVER_CRT) {
        let pair = |secret: &Secret| Ok((AssetKind::KeyPair, key_pair::parse(secret)?.pem));
        tls.certificate = asset(context, &said, "no certificate is shown to the pods", notes, pair);
    }
    servers.tls = Some(tls);
}

/// What is said by who is the most specific.
fn closest<T>(said: impl Iterator<Item = (Rank, T)>) -> Option<T> {
    said.min_by_key(|(rank, _)| *rank).map(|(_, value)| value)
}

/// TLS or not, and the HTTP version, of the well-known names; others say nothing.
fn app_protocol(name: &str) -> Option<(bool, Protocol)> {
    match name {
        "http" | "kubernetes.io/ws" => Some((false, Protocol::Any)),
        "kubernetes.io/h2c" | "grpc" => Some((false, Protocol::Http2)),
        "https" => Some((true, Protocol::Any)),
        "kubernetes.io/wss" => Some((true, Protocol::Http1)),
        "grpcs" => Some((true, Protocol::Http2)),
        _ => None,
    }
}

/// The file that is made of a Secret; `None`, with a problem, when that cannot be.
fn asset(
    context: &Context<'_>,
    said: &Said<ObjectRef>,
    consequence: &str,
    notes: &mut Notes,
    parse: impl Fn(&Secret) -> Result<(AssetKind, bytes::Bytes), String>,
) -> Option<Asset> {
    let own = &said.object.name.namespace;
    let name: ObjectName = said.value.in_namespace(own);
    let mut problem = |code, message: String, hint: String| {
        let message = format!("{message}; {consequence}");
        notes.problems.push(Problem {
            origin: said.origin.clone(),
            code,
            severity: Severity::Error,
            message,
            hint,
        });
        None
    };
    if said.object.kind != Kind::ConfigMap && name.namespace != *own {
        return problem(
            Code::SecretForbidden,
            format!("Secret `{name}` is in another namespace, which only the ConfigMap may name"),
            format!("copy the Secret to namespace `{own}` and name that one"),
        );
    }
    notes.secrets.insert(name.clone());
    let Some(secret): Option<&Arc<Secret>> = context.snapshot.secrets.get(&name) else {
        return problem(
            Code::SecretNotFound,
            format!("Secret `{name}` does not exist"),
            "create the Secret, or name one that exists".to_owned(),
        );
    };
    match parse(secret) {
        Ok((kind, bytes)) => Some(Asset::new(kind, &format!("{}_{}", name.namespace, name.name), bytes)),
        Err(reason) => problem(
            Code::CertificateInvalid,
            format!("Secret `{name}` cannot be used: {reason}"),
            "put PEM into the Secret".to_owned(),
        ),
    }
}
