//! What the keys of Service, Ingress and ConfigMap say about a path, as the policy of its backend: family by family, as in
//! `options` and `model::policy`.

mod access;
mod auth;
mod passthrough;
mod raw;
mod rewriting;
mod routing;
mod servers;
mod tls;

use std::sync::Arc;

use super::Settings;
use super::clients::ClientRule;
use super::notes::Notes;
use crate::cluster::{Kind, ObjectName, ObjectRef, Origin, Service, ServicePort, Snapshot};
use crate::model::{Mode, Policy, RouteKey};
use crate::options::{Key, Layers, Scope};

/// Everything that a policy may depend on.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) layers: Layers<'a>,
    pub(super) snapshot: &'a Snapshot,
    pub(super) settings: &'a Settings,
    /// How many controllers share the traffic.
    pub(super) replicas: u32,
    /// The policy of paths without keys of their own; not yet known while it is made.
    pub(super) plain: &'a Policy,
    /// The path; `None` for the plain policy, which counts for all of them.
    pub(super) path: Option<Path<'a>>,
}

/// The path that a policy is for.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    /// The Ingress; `None` for `--default-backend-service` and TCP services.
    pub(super) ingress: Option<&'a ObjectName>,
    /// Host and path; `None` for TCP services.
    pub(super) key: Option<&'a RouteKey>,
    /// Where it is written.
    pub(super) origin: &'a Origin,
    pub(super) service: &'a Service,
    pub(super) port: &'a ServicePort,
    /// What the host asks of clients.
    pub(super) clients: Option<&'a ClientRule>,
    /// TLS is passed through to this path.
    pub(super) passthrough: bool,
}

/// A value, and where it is written.
pub(super) struct Said<T> {
    pub(super) value: T,
    /// The object.
    pub(super) object: ObjectRef,
    /// The object and the key as it is written in it.
    pub(super) origin: Origin,
}

impl<'a> Context<'a> {
    /// The value that counts for a key, `None` for the default.
    pub(super) fn get<T>(&self, key: &Key<T>) -> Option<T> {
        self.layers.get(key)
    }

    /// The value that counts for a key with where it is written.
    pub(super) fn said<T>(&self, key: &Key<T>) -> Option<Said<T>> {
        let (value, scope, written) = self.layers.find(key)?;
        let object = self.object(scope)?;
        let origin = Origin { object: object.clone(), key: Some(written.clone()) };
        Some(Said { value, object, origin })
    }

    /// Where a key is written whose value would count, but is not allowed.
    pub(super) fn refused<T>(&self, key: &Key<T>) -> Option<Origin> {
        let (scope, written) = self.layers.refused(key)?;
        Some(Origin { object: self.object(scope)?, key: Some(written.clone()) })
    }

    /// The object of this kind that counts here.
    fn object(&self, scope: Scope) -> Option<ObjectRef> {
        let name = match scope {
            Scope::Service => self.path?.service.name.clone(),
            Scope::Ingress => self.path?.ingress?.clone(),
            Scope::ConfigMap => self.settings.config_map.clone()?,
        };
        let kind = match scope {
            Scope::Service => Kind::Service,
            Scope::Ingress => Kind::Ingress,
            Scope::ConfigMap => Kind::ConfigMap,
        };
        Some(ObjectRef { kind, name })
    }

    /// Port of the Service, when it is for a path.
    pub(super) fn port(&self) -> Option<&'a ServicePort> {
        self.path.map(|path| path.port)
    }
}

/// The policy.
pub(super) fn policy_of(context: &Context<'_>, notes: &mut Notes) -> Arc<Policy> {
    let mut policy = Policy::default();
    if context.path.is_some_and(|path| path.passthrough) {
        policy.mode = Mode::Tcp;
    }
    servers::read(context, &mut policy, notes);
    access::read(context, &mut policy, notes);
    if policy.mode == Mode::Tcp {
        passthrough::read(context, &mut policy, notes);
    } else {
        auth::read(context, &mut policy, notes);
        rewriting::read(context, &mut policy, notes);
        tls::read(context, &mut policy, notes);
    }
    raw::read(context, &mut policy, notes);
    routing::read(context, &mut policy);
    Arc::new(policy)
}
