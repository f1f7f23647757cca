//! Backend references, and the backend unit.

use std::borrow::Cow;
use std::sync::Arc;

use super::facts::entry_problem;
use super::servers::{Servers, servers_of};
use crate::cluster::{IngressBackend, Kind, ObjectName, Origin, PortRef, Service, ServicePort, Snapshot};
use crate::model::{Backend, BackendName, Policy};
use crate::options::{Layer, Scope};
use crate::problem::{Code, Problem, Severity};

/// What a backend of HAProxy is made of: a Service port and a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) service: ObjectName,
    /// Number of the Service port.
    pub(super) port: u16,
    pub(super) policy: Arc<Policy>,
    /// Whether the policy is the plain one.
    pub(super) is_plain: bool,
}

impl Target {
    /// Name in HAProxy.
    pub(super) fn name(&self) -> BackendName {
        if self.is_plain {
            BackendName::service(&self.service, self.port)
        } else {
            BackendName::with_policy(&self.service, self.port, self.policy.fingerprint())
        }
    }
}

/// The Service port that a reference means, or what is wrong with it.
pub(super) fn resolve<'a>(
    backend: &IngressBackend,
    namespace: &str,
    origin: &Origin,
    snapshot: &'a Snapshot,
) -> Result<(&'a Service, Cow<'a, ServicePort>), Problem> {
    resolve_or(backend, namespace, origin, snapshot, "requests are answered with 503")
}

/// The same with what comes of it when something is wrong.
pub(super) fn resolve_or<'a>(
    backend: &IngressBackend,
    namespace: &str,
    origin: &Origin,
    snapshot: &'a Snapshot,
    effect: &str,
) -> Result<(&'a Service, Cow<'a, ServicePort>), Problem> {
    let problem = |code, message: String, hint: &str| Problem {
        origin: origin.clone(),
        code,
        severity: Severity::Error,
        message: format!("{message}; {effect}"),
        hint: hint.to_owned(),
    };
    match backend {
        IngressBackend::Resource(resource) => Err(problem(
            Code::BackendNotSupported,
            format!("`{resource}` is a resource backend, which is not supported"),
            "name a Service in `service.name` and `service.port`",
        )),
        IngressBackend::Missing => Err(problem(
            Code::BackendNotSupported,
            "the backend names no Service".to_owned(),
            "name a Service in `service.name` and `service.port`",
        )),
        IngressBackend::Service { name, port } => {
            let service = ObjectName::new(namespace, name.clone());
            let Some(port) = port else {
                return Err(problem(
                    Code::ServicePortNotFound,
                    format!("no port of Service `{service}` is named"),
                    "write `service.port.number` or `service.port.name`",
                ));
            };
            resolve_service(&service, Some(port), snapshot)
                .map_err(|(code, message, hint)| problem(code, message, &hint))
        }
    }
}

/// The Service port, the first one when no port is given; else code, message and hint.
pub(super) fn resolve_service<'a>(
    name: &ObjectName,
    port: Option<&PortRef>,
    snapshot: &'a Snapshot,
) -> Result<(&'a Service, Cow<'a, ServicePort>), (Code, String, String)> {
    let Some(service) = snapshot.services.get(name) else {
        return Err((
            Code::ServiceNotFound,
            format!("Service `{name}` does not exist"),
            "create the Service, or name one that exists in the same namespace".to_owned(),
        ));
    };
    let found = match port {
        None => service.ports.first(),
        Some(PortRef::Number(number)) => service.ports.iter().find(|p| p.port == *number),
        Some(PortRef::Name(name)) => service.ports.iter().find(|p| p.name.as_ref() == Some(name)),
    };
    match (found, port) {
        (Some(found), _) => Ok((service, Cow::Borrowed(found))),
        // What has no endpoints needs no ports in its specification either.
        (None, Some(PortRef::Number(number))) if service.external_name.is_some() => {
            Ok((service, Cow::Owned(ServicePort { name: None, port: *number, app_protocol: None })))
        }
        (None, port) => Err((
            Code::ServicePortNotFound,
            match port {
                None => format!("Service `{name}` has no TCP port"),
                Some(PortRef::Number(number)) => format!("Service `{name}` has no TCP port {number}"),
                Some(PortRef::Name(port)) => format!("Service `{name}` has no TCP port named `{port}`"),
            },
            format!(
                "{}; mind that `port.number` is the port of the Service, not of the pod",
                ports_of(service)
            ),
        )),
    }
}

fn ports_of(service: &Service) -> String {
    let show = |port: &ServicePort| match &port.name {
        Some(name) => format!("{} (`{name}`)", port.port),
        None => port.port.to_string(),
    };
    match service.ports.as_slice() {
        [] => "add a TCP port to the Service".to_owned(),
        ports => format!("name one of its ports: {}", ports.iter().map(show).collect::<Vec<_>>().join(", ")),
    }
}

/// The backend of a target; `None` when its Service port is gone.
pub(super) fn compute(
    target: &Target,
    snapshot: &Snapshot,
    loopback: bool,
) -> (Option<Backend>, Vec<Problem>) {
    let Some(service) = snapshot.services.get(&target.service) else { return (None, Vec::new()) };
    let found = match service.ports.iter().find(|p| p.port == target.port) {
        // Its server stands in the policy.
        _ if service.external_name.is_some() => Servers::default(),
        Some(port) => servers_of(service, port, snapshot.slices_of(&target.service), loopback),
        None => return (None, Vec::new()),
    };
    let origin = Origin::object(Kind::Service, target.service.clone());
    let (_, findings) = Layer::of_annotations(Scope::Service, &service.annotations);
    let refused = (found.refused.iter()).map(|(address, reason)| Problem {
        origin: Origin::object(Kind::EndpointSlice, target.service.clone()),
        code: Code::EndpointRefused,
        severity: Severity::Error,
        message: format!(
            "endpoint `{address}` of Service `{}` gets no traffic: the address is {reason}",
            target.service
        ),
        hint: "endpoints must be addresses of pods or of other hosts".to_owned(),
    });
    let problems = findings.iter().map(|finding| entry_problem(&origin, finding)).chain(refused).collect();
    let backend = Backend {
        name: target.name(),
        origin: origin.at(format!("port {}", target.port)),
        policy: target.policy.clone(),
        servers: found.servers,
    };
    (Some(backend), problems)
}
