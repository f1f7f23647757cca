use k8s_openapi::api::{core::v1 as core, discovery::v1 as discovery, networking::v1 as networking};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::cluster::{
    EndpointSlice, Ingress, IngressBackend, IngressClass, PathType, PortRef, Secret, Service, ServicePort,
};

/// Converts an object as the API server would send it.
fn convert<K: DeserializeOwned + Convert>(object: Value) -> Option<Object> {
    serde_json::from_value::<K>(object).unwrap().convert()
}

fn ingress(object: Value) -> Ingress {
    match convert::<networking::Ingress>(object) {
        Some(Object::Ingress(ingress)) => ingress,
        other => panic!("{other:?}"),
    }
}

fn service(spec: &Value) -> Service {
    match convert::<core::Service>(json!({"metadata": {"name": "a", "namespace": "b"}, "spec": spec})) {
        Some(Object::Service(service)) => service,
        other => panic!("{other:?}"),
    }
}

fn slice(mut fields: Value) -> Option<EndpointSlice> {
    let labels =
        fields.get("labels").cloned().unwrap_or_else(|| json!({"kubernetes.io/service-name": "web"}));
    fields["metadata"] = json!({"name": "web-1", "namespace": "shop", "labels": labels});
    if fields.get("addressType").is_none() {
        fields["addressType"] = "IPv4".into();
    }
    convert::<discovery::EndpointSlice>(fields).map(|object| match object {
        Object::EndpointSlice(slice) => slice,
        other => panic!("{other:?}"),
    })
}

#[test]
fn only_annotations_with_known_keys_pass() {
    for (key, passes) in [
        ("haproxy.org/x", true),
        ("haproxy.com/x", true),
        ("ingress.kubernetes.io/x", true),
        ("outrigger.dev/x", true),
        ("kubernetes.io/ingress.class", true),
        ("kubernetes.io/ingress.class.x", false),
        ("kubectl.kubernetes.io/last-applied-configuration", false),
        ("nginx.ingress.kubernetes.io/x", false),
        ("haproxy.organic/x", false),
        ("x", false),
    ] {
        let found = ingress(json!({"metadata": {"name": "a", "annotations": {key: "value"}}}));
        assert_eq!(found.annotations.contains_key(key), passes, "{key}");
    }
}

#[test]
fn an_ingress_is_complete() {
    let backend = json!({"service": {"name": "web", "port": {"number": 80}}});
    let path = json!({"path": "/a", "pathType": "Exact", "backend": backend});
    let found = ingress(json!({
        "metadata": {"name": "a", "namespace": "b", "creationTimestamp": "1970-01-01T00:01:00Z",
            "managedFields": [{"manager": "x", "operation": "Update", "fieldsV1": {"f:spec": {}}}]},
        "spec": {"ingressClassName": "outer", "defaultBackend": backend,
            "rules": [{"host": "foo.bar", "http": {"paths": [path]}}, {}],
            "tls": [{"hosts": ["foo.bar"], "secretName": "cert"}, {"secretName": ""}]},
        "status": {"loadBalancer": {}},
    }));
    assert_eq!((found.name.to_string(), found.created), ("b/a".to_owned(), 60));
    assert_eq!(found.class.as_deref(), Some("outer"));
    assert!(found.default_backend.is_some());
    assert_eq!(found.rules[0].host.as_deref(), Some("foo.bar"));
    assert_eq!(found.rules[0].paths[0].path.as_deref(), Some("/a"));
    assert_eq!((found.rules[1].host.as_deref(), found.rules[1].paths.len()), (None, 0));
    assert_eq!(found.tls[0].secret.as_deref(), Some("cert"));
    assert_eq!((found.tls[0].hosts.len(), found.tls[1].hosts.len()), (1, 0));
    assert_eq!(found.tls[1].secret, None);
    let bare = ingress(json!({"metadata": {"name": "a"}}));
    assert_eq!((bare.created, bare.rules.len(), bare.tls.len()), (0, 0, 0));
}

#[test]
fn path_types_have_a_default() {
    for (text, expected) in [
        ("Exact", PathType::Exact),
        ("Prefix", PathType::Prefix),
        ("ImplementationSpecific", PathType::ImplementationSpecific),
        ("", PathType::ImplementationSpecific),
        ("FromTheFuture", PathType::ImplementationSpecific),
    ] {
        let paths = json!([{"path": "/", "pathType": text, "backend": {}}]);
        let found =
            ingress(json!({"metadata": {"name": "a"}, "spec": {"rules": [{"http": {"paths": paths}}]}}));
        assert_eq!(found.rules[0].paths[0].path_type, expected, "{text}");
    }
}

#[test]
fn backends_are_services_resources_or_missing() {
    let service = |port| IngressBackend::Service { name: "web".into(), port };
    for (backend, expected) in [
        (json!({"service": {"name": "web", "port": {"number": 80}}}), service(Some(PortRef::Number(80)))),
        (
            json!({"service": {"name": "web", "port": {"name": "http"}}}),
            service(Some(PortRef::Name("http".into()))),
        ),
        (json!({"service": {"name": "web", "port": {"number": 70000}}}), service(None)),
        (json!({"service": {"name": "web", "port": {"number": -1, "name": ""}}}), service(None)),
        (json!({"service": {"name": "web", "port": {}}}), service(None)),
        (json!({"service": {"name": "web"}}), service(None)),
        (json!({"service": {"name": ""}}), IngressBackend::Missing),
        (json!({"resource": {"kind": "Bucket", "name": "b"}}), IngressBackend::Resource("Bucket b".into())),
        (json!({}), IngressBackend::Missing),
    ] {
        let found = ingress(json!({"metadata": {"name": "a"}, "spec": {"defaultBackend": backend}}));
        assert_eq!(found.default_backend, Some(expected), "{backend}");
    }
}

#[test]
fn classes_may_be_the_default() {
    for (value, expected) in [(json!("true"), true), (json!("false"), false), (json!("yes"), false)] {
        let annotations = json!({"ingressclass.kubernetes.io/is-default-class": value});
        let object =
            json!({"metadata": {"name": "outer", "annotations": annotations}, "spec": {"controller": "x/y"}});
        let expected =
            IngressClass { name: "outer".into(), created: 0, controller: "x/y".into(), is_default: expected };
        assert_eq!(convert::<networking::IngressClass>(object), Some(Object::IngressClass(expected)));
    }
}

#[test]
fn only_tcp_ports_of_services_pass() {
    let found = service(&json!({"publishNotReadyAddresses": true, "ports": [
        {"port": 80, "name": "http", "appProtocol": "kubernetes.io/h2c"},
        {"port": 81, "name": "tcp", "protocol": "TCP"},
        {"port": 53, "name": "dns", "protocol": "UDP"},
        {"port": 54, "name": "sctp", "protocol": "SCTP"},
        {"port": 0, "name": "zero"},
        {"port": 65536, "name": "large"},
        {"port": 82, "name": ""},
    ]}));
    let port = |port, name: Option<&str>, app: Option<&str>| ServicePort {
        name: name.map(Arc::from),
        port,
        app_protocol: app.map(Arc::from),
    };
    assert_eq!(
        found.ports,
        [
            port(80, Some("http"), Some("kubernetes.io/h2c")),
            port(81, Some("tcp"), None),
            port(82, None, None),
        ]
    );
    assert!(found.publish_not_ready);
}

#[test]
fn external_names_need_their_type() {
    for (kind, expected) in [("ExternalName", Some("db.example")), ("ClusterIP", None)] {
        let found = service(&json!({"type": kind, "externalName": "db.example"}));
        assert_eq!(found.external_name.as_deref(), expected, "{kind}");
    }
}

#[test]
fn slices_need_a_service_and_addresses_that_are_numbers() {
    let endpoints = json!([{"addresses": ["10.0.0.1"]}]);
    assert!(slice(json!({"endpoints": endpoints})).is_some());
    assert!(slice(json!({"endpoints": endpoints, "labels": {}})).is_none());
    assert!(slice(json!({"endpoints": endpoints, "labels": {"kubernetes.io/service-name": ""}})).is_none());
    assert!(slice(json!({"endpoints": [{"addresses": ["a.example"]}], "addressType": "FQDN"})).is_none());
    let mixed =
        json!([{"addresses": ["a.example"]}, {"addresses": []}, {"addresses": ["fd00::1", "fd00::2"]}]);
    let found = slice(json!({"endpoints": mixed, "addressType": "IPv6"})).unwrap();
    let addresses: Vec<String> =
        found.endpoints.iter().map(|endpoint| endpoint.address.to_string()).collect();
    assert_eq!(addresses, ["fd00::1"]);
}

#[test]
fn conditions_that_are_unknown_follow_the_api() {
    let all = [None, Some(true), Some(false)];
    for (ready, serving, terminating) in all
        .into_iter()
        .flat_map(|r| all.into_iter().flat_map(move |s| all.into_iter().map(move |t| (r, s, t))))
    {
        let conditions = json!({"ready": ready, "serving": serving, "terminating": terminating});
        let found =
            slice(json!({"endpoints": [{"addresses": ["10.0.0.1"], "conditions": conditions}]})).unwrap();
        let endpoint = &found.endpoints[0];
        assert_eq!(endpoint.ready, ready != Some(false), "{conditions}");
        assert_eq!(endpoint.serving, serving.unwrap_or(endpoint.ready), "{conditions}");
        assert_eq!(endpoint.terminating, terminating == Some(true), "{conditions}");
    }
    let found =
        slice(json!({"endpoints": [{"addresses": ["10.0.0.1"], "targetRef": {"name": "web-0"}}]})).unwrap();
    let endpoint = &found.endpoints[0];
    assert!(endpoint.ready && endpoint.serving && !endpoint.terminating);
    assert_eq!(endpoint.pod.as_deref(), Some("web-0"));
}

#[test]
fn ports_of_slices_need_a_number() {
    let ports = json!([{"name": "", "port": 80}, {"name": "http", "port": 81, "protocol": "TCP"}, {"name": "all"},
        {"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "large", "port": 100_000}]);
    let found = slice(json!({"endpoints": [], "ports": ports})).unwrap();
    let ports: Vec<_> = found.ports.iter().map(|port| (port.name.as_deref(), port.port)).collect();
    assert_eq!(ports, [(None, 80), (Some("http"), 81)]);
}

#[test]
fn string_data_of_secrets_wins_over_data() {
    let object = json!({"metadata": {"name": "a", "namespace": "b"}, "data": {"one": "MQ==", "two": "Mg=="},
        "stringData": {"two": "zwei"}});
    let Some(Object::Secret(Secret { data, .. })) = convert::<core::Secret>(object) else { panic!() };
    assert_eq!((&data["one"][..], &data["two"][..]), (&b"1"[..], &b"zwei"[..]));
}
