use super::*;
use crate::cluster::{Kind, ObjectName, PathType, PortRef};

fn parsed(text: &str) -> Parsed {
    parse(&Origin::object(Kind::File, ObjectName::cluster("test.yaml")), text)
}

fn names(parsed: &Parsed) -> Vec<String> {
    parsed.objects.iter().map(|object| object.reference().to_string()).collect()
}

fn message(text: &str) -> String {
    let parsed = parsed(text);
    assert_eq!(parsed.problems.len(), 1, "{:?}", parsed.problems);
    parsed.problems[0].message.clone()
}

const INGRESS: &str = "
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  creationTimestamp: 2026-01-02T03:04:05Z
  annotations: {haproxy.org/ssl-redirect: \"false\", other/x: z}
spec:
  ingressClassName: outer
  rules:
  - host: foo.bar
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
";

#[test]
fn an_ingress_is_read() {
    let parsed = parsed(INGRESS);
    let Some(Object::Ingress(ingress)) = parsed.objects.first() else { panic!("{parsed:?}") };
    assert_eq!(ingress.name, ObjectName::new("default", "web"));
    assert_eq!(ingress.created, 1_767_323_045);
    assert_eq!(ingress.annotations.len(), 1);
    let path = &ingress.rules[0].paths[0];
    assert_eq!(path.path_type, PathType::Prefix);
    let crate::cluster::IngressBackend::Service { port, .. } = &path.backend else { panic!("{path:?}") };
    assert_eq!(*port, Some(PortRef::Number(80)));
}

#[test]
fn all_kinds_lists_and_documents_are_read() {
    let text = "
# a comment
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80, targetPort: 8080}, {port: 81, name: named, targetPort: http}]}
--- # another
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: 8080}]
endpoints: [{addresses: [10.0.0.1]}]
...
---
---
apiVersion: v1
kind: List
items:
- apiVersion: networking.k8s.io/v1
  kind: IngressClass
  metadata: {name: outer}
  spec: {controller: outrigger.dev/ingress-controller}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}
---
apiVersion: v1
kind: SecretList
items:
- metadata: {name: cert, namespace: shop}
  data: {k: dg==}
  stringData: {text: plain}
---
{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"json\"}}
";
    let parsed = parsed(text);
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
    assert_eq!(
        names(&parsed),
        [
            "Service shop/web",
            "EndpointSlice default/web-1",
            "IngressClass outer",
            "ConfigMap default/settings",
            "Secret shop/cert",
            "Secret default/json",
        ]
    );
    let Object::Secret(secret) = &parsed.objects[4] else { panic!("{parsed:?}") };
    assert_eq!((&secret.data["k"][..], &secret.data["text"][..]), (&b"v"[..], &b"plain"[..]));
}

#[test]
fn other_kinds_are_counted() {
    let parsed = parsed(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {any: [thing]}}\n---\n\
         {apiVersion: apps/v1, kind: Deployment}\n---\n{apiVersion: v1, kind: Endpoints, metadata: {name: a}}\n",
    );
    assert!(parsed.problems.is_empty() && parsed.objects.is_empty(), "{parsed:?}");
    assert_eq!(parsed.skipped, BTreeMap::from([("Deployment".to_owned(), 2), ("Endpoints".to_owned(), 1)]));
}

#[test]
fn removed_versions_say_what_to_write() {
    for (version, kind, hint) in [
        ("extensions/v1beta1", "Ingress", "networking.k8s.io/v1`"),
        ("networking.k8s.io/v1beta1", "Ingress", "pathType"),
        ("networking.k8s.io/v1beta1", "IngressClass", "networking.k8s.io/v1`"),
        ("discovery.k8s.io/v1beta1", "EndpointSlice", "discovery.k8s.io/v1`"),
    ] {
        let parsed = parsed(&format!(
            "---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n---\n{INGRESS}"
        ));
        assert_eq!(names(&parsed), ["Ingress default/web"], "the rest of the file counts");
        assert!(!parsed.is_broken);
        let [problem] = &parsed.problems[..] else { panic!("{parsed:?}") };
        assert_eq!(problem.code, Code::ApiVersionRemoved);
        assert!(problem.message.starts_with("2:1: ") && problem.message.contains(version), "{problem}");
        assert!(problem.hint.contains(hint), "{problem}");
    }
}

#[test]
fn mistakes_are_told_with_row_and_column() {
    for (text, expected) in [
        ("kind: Service\nmetadata: [\n", "2:11: "),
        ("a: b\n", "1:1: an object without `kind`"),
        ("kind: Service\n", "1:1: an object without `apiVersion`"),
        ("apiVersion: v1\nkind: Service\nmetadata: {namespace: a}\n", "1:1: Service without `metadata.name`"),
        ("# one\n---\n# two\nkind: Service\n", "4:1: an object without `apiVersion`"),
        (
            "---\nkind: X\napiVersion: z\n---\napiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports:\n  - port: eighty\n",
            "10:11: ",
        ),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  maxconn: 100\n", "5:12: "),
        (
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: 80}}\n",
            "4:3: ",
        ),
        ("just text\n", "1:1: "),
    ] {
        let message = message(text);
        assert!(message.starts_with(expected), "{text}\n{message}, not {expected}");
        assert!(!message.contains(" at line "), "{message}");
    }
}

#[test]
fn a_mistake_in_one_document_does_not_stop_the_others() {
    let parsed = parsed(&format!("kind: [\n---\n{INGRESS}"));
    assert!(parsed.is_broken);
    assert_eq!(names(&parsed), ["Ingress default/web"]);
}

#[test]
fn an_empty_file_is_fine() {
    for text in ["", "\n", "---\n", "# nothing\n---\n# here\n", "null\n", "%YAML 1.2\n---\n"] {
        let parsed = parsed(text);
        assert!(parsed.objects.is_empty() && parsed.problems.is_empty(), "{text:?}: {parsed:?}");
    }
}
