//! Objects of one namespace, put there as a user would.

use std::net::SocketAddr;

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::api::networking::v1::{Ingress, IngressClass};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::{Api, Client};
use serde_json::{Value, json};

use super::objects::{apply, delete};
use crate::support::Echo;
use crate::support::certificates::Pair;

/// A namespace of the API server.
#[derive(Clone)]
pub(super) struct Space {
    client: Client,
    pub(super) name: String,
}

impl Space {
    pub(super) fn new(client: Client, name: &str) -> Self {
        Self { client, name: name.to_owned() }
    }

    /// A Service with the port 80, named `http`, and its endpoints.
    pub(super) async fn app(&self, name: &str, pods: &[&Echo]) {
        self.service(name).await;
        self.endpoints(name, pods).await;
    }

    pub(super) async fn service(&self, name: &str) {
        let ports = json!([{"name": "http", "port": 80}]);
        apply(&self.api::<Service>(), json!({"metadata": {"name": name}, "spec": {"ports": ports}})).await;
    }

    /// The endpoints of a Service are exactly these.
    pub(super) async fn endpoints(&self, service: &str, pods: &[&Echo]) {
        let addresses: Vec<SocketAddr> = pods.iter().map(|pod| pod.address).collect();
        let endpoints: Vec<Value> =
            addresses.iter().map(|a| json!({"addresses": [a.ip()], "conditions": {"ready": true}})).collect();
        let port = addresses.first().map_or(8080, SocketAddr::port);
        assert!(addresses.iter().all(|a| a.port() == port), "one slice has one port");
        let slice = json!({
            "metadata": {"name": format!("{service}-1"), "labels": {"kubernetes.io/service-name": service}},
            "addressType": "IPv4", "ports": [{"name": "http", "port": port}], "endpoints": endpoints,
        });
        apply(&self.api::<EndpointSlice>(), slice).await;
    }

    /// An Ingress: everything for this host goes to the Service.
    pub(super) async fn ingress(&self, name: &str, host: &str, service: &str) {
        self.ingress_with(name, host, service, json!({})).await;
    }

    /// The same with further fields of `spec`.
    pub(super) async fn ingress_with(&self, name: &str, host: &str, service: &str, further: Value) {
        let backend = json!({"service": {"name": service, "port": {"number": 80}}});
        let paths = json!([{"path": "/", "pathType": "Prefix", "backend": backend}]);
        let mut spec = json!({"rules": [{"host": host, "http": {"paths": paths}}]});
        spec.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
        apply(&self.api::<Ingress>(), json!({"metadata": {"name": name}, "spec": spec})).await;
    }

    pub(super) async fn delete_ingress(&self, name: &str) {
        delete(&self.api::<Ingress>(), name).await;
    }

    pub(super) async fn tls_secret(&self, name: &str, pair: &Pair) {
        let data = json!({"tls.crt": pair.certificate, "tls.key": pair.key});
        let secret = json!({"metadata": {"name": name}, "type": "kubernetes.io/tls", "stringData": data});
        apply(&self.api::<Secret>(), secret).await;
    }

    pub(super) async fn delete_secret(&self, name: &str) {
        delete(&self.api::<Secret>(), name).await;
    }

    pub(super) async fn config_map(&self, name: &str, data: Value) {
        apply(&self.api::<ConfigMap>(), json!({"metadata": {"name": name}, "data": data})).await;
    }

    /// Lets a user read these resources here, and nowhere else.
    pub(super) async fn allow(&self, user: &str, resources: &[&str]) {
        let group = "rbac.authorization.k8s.io";
        let rules = json!([{"apiGroups": ["", "networking.k8s.io", "discovery.k8s.io"], "resources": resources,
            "verbs": ["get", "list", "watch"]}]);
        apply(&self.api::<Role>(), json!({"metadata": {"name": user}, "rules": rules})).await;
        let binding = json!({
            "metadata": {"name": user},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": user},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        });
        apply(&self.api::<RoleBinding>(), binding).await;
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.name)
    }
}

/// `spec.tls` of an Ingress.
pub(super) fn tls(host: &str, secret: &str) -> Value {
    json!({"tls": [{"hosts": [host], "secretName": secret}]})
}

/// An IngressClass with this `spec.controller`.
pub(super) async fn class(client: &Client, name: &str, controller: &str, is_default: bool) {
    let annotations = json!({"ingressclass.kubernetes.io/is-default-class": is_default.to_string()});
    let object =
        json!({"metadata": {"name": name, "annotations": annotations}, "spec": {"controller": controller}});
    apply(&Api::<IngressClass>::all(client.clone()), object).await;
}

/// Removes an IngressClass.
pub(super) async fn delete_class(client: &Client, name: &str) {
    delete(&Api::<IngressClass>::all(client.clone()), name).await;
}
