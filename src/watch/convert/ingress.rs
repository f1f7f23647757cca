//! Ingress and IngressClass.

use k8s_openapi::api::networking::v1 as api;

use super::{Convert, annotations, created, name_of, names::shared, port, text};
use crate::cluster::{
    Ingress, IngressBackend, IngressClass, IngressPath, IngressRule, IngressTls, Object, PathType, PortRef,
};

/// Marks the class of Ingresses that name none.
const DEFAULT_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";

impl Convert for api::Ingress {
    fn convert(self) -> Option<Object> {
        let spec = self.spec.unwrap_or_default();
        Some(Object::Ingress(Ingress {
            name: name_of(&self.metadata),
            created: created(&self.metadata),
            class: text(spec.ingress_class_name),
            annotations: annotations(self.metadata.annotations),
            default_backend: spec.default_backend.map(backend),
            rules: spec.rules.into_iter().flatten().map(rule).collect(),
            tls: spec.tls.into_iter().flatten().map(tls).collect(),
        }))
    }
}

impl Convert for api::IngressClass {
    fn convert(self) -> Option<Object> {
        let is_default = self.metadata.annotations.as_ref().and_then(|a| a.get(DEFAULT_CLASS));
        Some(Object::IngressClass(IngressClass {
            is_default: is_default.is_some_and(|value| value == "true"),
            name: name_of(&self.metadata).name,
            created: created(&self.metadata),
            controller: shared(&self.spec.and_then(|spec| spec.controller).unwrap_or_default()),
        }))
    }
}

fn rule(rule: api::IngressRule) -> IngressRule {
    let paths = rule.http.map(|http| http.paths).unwrap_or_default();
    IngressRule {
        host: text(rule.host),
        paths: paths
            .into_iter()
            .map(|path| IngressPath {
                path: text(path.path),
                path_type: match path.path_type.as_str() {
                    "Exact" => PathType::Exact,
                    "Prefix" => PathType::Prefix,
                    _ => PathType::ImplementationSpecific,
                },
                backend: backend(path.backend),
            })
            .collect(),
    }
}

fn backend(backend: api::IngressBackend) -> IngressBackend {
    match (backend.service, backend.resource) {
        (Some(service), _) if !service.name.is_empty() => {
            IngressBackend::Service { name: shared(&service.name), port: service.port.and_then(port_ref) }
        }
        (_, Some(resource)) => {
            IngressBackend::Resource(shared(&format!("{} {}", resource.kind, resource.name)))
        }
        _ => IngressBackend::Missing,
    }
}

fn port_ref(reference: api::ServiceBackendPort) -> Option<PortRef> {
    let number = reference.number.and_then(port).map(PortRef::Number);
    number.or_else(|| text(reference.name).map(PortRef::Name))
}

fn tls(tls: api::IngressTLS) -> IngressTls {
    IngressTls {
        hosts: tls.hosts.into_iter().flatten().map(|host| shared(&host)).collect(),
        secret: text(tls.secret_name),
    }
}
