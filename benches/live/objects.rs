//! The objects on the API server, and how thousands of them get there.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on ends")]

use std::net::Ipv4Addr;

use futures_util::{StreamExt as _, stream};
use k8s_openapi::api::core::v1::{Namespace, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::api::networking::v1::{Ingress, IngressClass};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Port of all pods.
pub(crate) const POD_PORT: u16 = 9000;
const NAMESPACE: &str = "bench";
/// Requests to the API server at a time while loading.
const AT_A_TIME: usize = 64;

/// The API server's content.
#[derive(Clone)]
pub(crate) struct Objects {
    ingresses: Api<Ingress>,
    services: Api<Service>,
    slices: Api<EndpointSlice>,
}

impl Objects {
    /// Loads `size` Services with 3 endpoints and an Ingress each.
    pub(crate) async fn load(client: Client, size: usize) -> Self {
        let this = Self {
            ingresses: Api::namespaced(client.clone(), NAMESPACE),
            services: Api::namespaced(client.clone(), NAMESPACE),
            slices: Api::namespaced(client.clone(), NAMESPACE),
        };
        create(&Api::<Namespace>::all(client.clone()), json!({"metadata": {"name": NAMESPACE}})).await;
        let spec = json!({"controller": "outrigger.dev/ingress-controller"});
        create(&Api::<IngressClass>::all(client), json!({"metadata": {"name": "outrigger"}, "spec": spec}))
            .await;
        let add = async |index| this.add_service(&own(index), pods(index)).await;
        stream::iter(0..size).for_each_concurrent(AT_A_TIME, add).await;
        this
    }

    /// A Service with its endpoints and its Ingress, all at once.
    pub(crate) async fn add_service(&self, name: &str, pods: [Ipv4Addr; 3]) {
        // Headless, which saves the API server the cluster address and does not matter to an ingress controller.
        let spec = json!({"clusterIP": "None", "ports": [{"name": "http", "port": 80}]});
        let service = json!({"metadata": {"name": name}, "spec": spec});
        let slice = json!({
            "metadata": {"name": name, "labels": {"kubernetes.io/service-name": name}},
            "addressType": "IPv4", "ports": [{"name": "http", "port": POD_PORT}], "endpoints": endpoints(&pods),
        });
        tokio::join!(create(&self.services, service), create(&self.slices, slice), self.add_host(name, name));
    }

    /// An Ingress with one host, `HOST.example.org`, to a Service.
    pub(crate) async fn add_host(&self, host: &str, service: &str) {
        let backend = json!({"service": {"name": service, "port": {"name": "http"}}});
        let paths = json!([{"path": "/", "pathType": "Prefix", "backend": backend}]);
        let rules = json!([{"host": domain(host), "http": {"paths": paths}}]);
        let spec = json!({"ingressClassName": "outrigger", "rules": rules});
        create(&self.ingresses, json!({"metadata": {"name": host}, "spec": spec})).await;
    }

    /// The endpoints of a Service are these.
    pub(crate) async fn set_endpoints(&self, service: &str, pods: &[Ipv4Addr]) {
        let patch = Patch::Merge(json!({"endpoints": endpoints(pods)}));
        self.slices.patch(service, &PatchParams::default(), &patch).await.unwrap();
    }
}

/// Name of the Service and the Ingress at an index.
pub(crate) fn own(index: usize) -> String {
    format!("app-{index}")
}

/// The host of a name.
pub(crate) fn domain(name: &str) -> String {
    format!("{name}.example.org")
}

/// Three pods of their own for each index; 65,536 / 3 of them.
pub(crate) fn pods(index: usize) -> [Ipv4Addr; 3] {
    let first = Ipv4Addr::new(10, 200, 0, 1).to_bits() + u32::try_from(index).unwrap() * 3;
    [0, 1, 2].map(|pod| Ipv4Addr::from_bits(first + pod))
}

fn endpoints(pods: &[Ipv4Addr]) -> Value {
    pods.iter().map(|pod| json!({"addresses": [pod], "conditions": {"ready": true}})).collect()
}

async fn create<K>(api: &Api<K>, object: Value)
where
    K: Resource + DeserializeOwned + Serialize + Clone + std::fmt::Debug,
{
    let object = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}
