//! Service.

use k8s_openapi::api::core::v1 as api;

use super::{Convert, annotations, is_tcp, name_of, port, text};
use crate::cluster::{Object, Service, ServicePort};

impl Convert for api::Service {
    fn convert(self) -> Option<Object> {
        let spec = self.spec.unwrap_or_default();
        let is_external = spec.type_.as_deref() == Some("ExternalName");
        Some(Object::Service(Service {
            name: name_of(&self.metadata),
            annotations: annotations(self.metadata.annotations),
            external_name: text(spec.external_name).filter(|_| is_external),
            publish_not_ready: spec.publish_not_ready_addresses.unwrap_or(false),
            ports: spec
                .ports
                .into_iter()
                .flatten()
                .filter(|p| is_tcp(p.protocol.as_deref()))
                .filter_map(|p| {
                    let number = port(p.port)?;
                    Some(ServicePort { name: text(p.name), port: number, app_protocol: text(p.app_protocol) })
                })
                .collect(),
        }))
    }
}
