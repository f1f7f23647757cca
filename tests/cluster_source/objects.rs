//! Objects to put on the API server, and how.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, Client, Resource};
use outrigger::cluster::ObjectName;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) async fn apply<K>(api: &Api<K>, object: Value)
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + std::fmt::Debug,
{
    let mut object = object;
    object["apiVersion"] = K::api_version(&()).into();
    object["kind"] = K::kind(&()).into();
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    api.patch(&name, &PatchParams::apply("test").force(), &Patch::Apply(&object)).await.unwrap();
}

pub(crate) async fn delete<K: Resource<DynamicType = ()> + DeserializeOwned + Clone + std::fmt::Debug>(
    api: &Api<K>,
    name: &str,
) {
    api.delete(name, &DeleteParams::default()).await.unwrap();
}

pub(crate) async fn namespaces(client: &Client, names: &[&str]) {
    for name in names {
        apply(&Api::<Namespace>::all(client.clone()), json!({"metadata": {"name": name}})).await;
    }
}

pub(crate) fn ingress(name: &str, host: &str) -> Value {
    let backend = json!({"service": {"name": name, "port": {"name": "http"}}});
    json!({
        "metadata": {"name": name, "annotations": {"haproxy.org/x": "1", "other/y": "2"}},
        "spec": {"rules": [{"host": host, "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}]},
    })
}

pub(crate) fn service(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"ports": [{"name": "http", "port": 80}]}})
}

pub(crate) fn slice(name: &str, service: &str, address: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/service-name": service}},
        "addressType": "IPv4", "ports": [{"name": "http", "port": 8080}], "endpoints": [{"addresses": [address]}],
    })
}

pub(crate) fn secret(name: &str, text: &str) -> Value {
    json!({"metadata": {"name": name}, "stringData": {"text": text}})
}

pub(crate) fn names<const N: usize>(names: [(&str, &str); N]) -> BTreeSet<ObjectName> {
    names.into_iter().map(|(namespace, name)| ObjectName::new(namespace, name)).collect()
}

pub(crate) fn set(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// Lets a user read these resources everywhere; nothing when there are none.
pub(crate) async fn allow(client: &Client, user: &str, resources: &[&str]) {
    let rules = json!([{"apiGroups": ["", "networking.k8s.io", "discovery.k8s.io"], "resources": resources,
        "verbs": ["get", "list", "watch"]}]);
    let rules = if resources.is_empty() { json!([]) } else { rules };
    apply(&Api::<ClusterRole>::all(client.clone()), json!({"metadata": {"name": user}, "rules": rules}))
        .await;
    apply(
        &Api::<ClusterRoleBinding>::all(client.clone()),
        json!({
            "metadata": {"name": user},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        }),
    )
    .await;
}
