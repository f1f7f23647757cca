//! Manifests as text, as a user would write them.

use std::net::SocketAddr;

/// An Ingress `default/NAME`; `rules` are `(host, pathType, path, service)`, an empty host means none.
pub(crate) fn ingress(name: &str, rules: &[(&str, &str, &str, &str)]) -> String {
    ingress_with(name, "2024-01-01T00:00:00Z", "", rules, "")
}

/// The same with a creation time, annotation lines (`key: value`) and further lines of `spec` (indented by two).
pub(crate) fn ingress_with(
    name: &str,
    created: &str,
    annotations: &str,
    rules: &[(&str, &str, &str, &str)],
    spec: &str,
) -> String {
    let mut text = format!(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: {name}\n  namespace: default\n  creationTimestamp: \"{created}\"\n"
    );
    if !annotations.is_empty() {
        text.push_str("  annotations:\n");
        for line in annotations.lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text.push_str("spec:\n");
    text.push_str(spec);
    if !rules.is_empty() {
        text.push_str("  rules:\n");
    }
    for (host, path_type, path, service) in rules {
        text.push_str(&match *host {
            "" => "  - http:\n".to_owned(),
            host => format!("  - host: \"{host}\"\n    http:\n"),
        });
        text.push_str(&format!(
            "      paths:\n      - path: {path}\n        pathType: {path_type}\n        backend:\n          service:\n            name: {service}\n            port:\n              number: 80\n"
        ));
    }
    text.push_str("---\n");
    text
}

/// A Service `default/NAME` with one port 80 named `http`.
pub(crate) fn service(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n  namespace: default\nspec:\n  ports:\n  - name: http\n    port: 80\n    targetPort: 8080\n---\n"
    )
}

/// A Service `default/NAME` that was never seen, with an endpoint, and the host `NAME.test` that leads to it.
pub(crate) fn application(name: &str, address: SocketAddr) -> String {
    let host = format!("{name}.test");
    service(name) + &endpoints(name, &[address]) + &ingress(name, &[(&host, "Prefix", "/", name)])
}

/// More new Services than HAProxy has spare backends (`PREFIX-00` and on, each with its host): they need a reload. The
/// last of them in the order of names is one that waits for it.
pub(crate) fn too_many_applications(prefix: &str, address: SocketAddr) -> String {
    (0..70).map(|i| application(&format!("{prefix}-{i:02}"), address)).collect()
}

/// EndpointSlices of a Service: one slice per distinct port, all endpoints ready.
pub(crate) fn endpoints(service: &str, addresses: &[SocketAddr]) -> String {
    endpoints_with(service, &addresses.iter().map(|a| (*a, "ready: true")).collect::<Vec<_>>())
}

/// The same with a conditions line per endpoint, for example `ready: false, serving: true, terminating: true`.
pub(crate) fn endpoints_with(service: &str, addresses: &[(SocketAddr, &str)]) -> String {
    let mut slices: std::collections::BTreeMap<(u16, bool), Vec<String>> = std::collections::BTreeMap::new();
    for (address, conditions) in addresses {
        slices
            .entry((address.port(), address.is_ipv6()))
            .or_default()
            .push(format!("- addresses: [\"{}\"]\n  conditions: {{{conditions}}}\n", address.ip()));
    }
    slices
        .into_iter()
        .map(|((port, v6), endpoints)| {
            let family = if v6 { "IPv6" } else { "IPv4" };
            format!(
                "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: {service}-{port}-{}\n  namespace: default\n  labels:\n    kubernetes.io/service-name: {service}\naddressType: {family}\nports:\n- name: http\n  port: {port}\nendpoints:\n{}---\n",
                family.to_lowercase(),
                endpoints.concat()
            )
        })
        .collect()
}

/// A TLS Secret `default/NAME` with plain PEM texts.
pub(crate) fn tls_secret(name: &str, certificate: &str, key: &str) -> String {
    let indent = |pem: &str| pem.lines().map(|line| format!("    {line}\n")).collect::<String>();
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  namespace: default\ntype: kubernetes.io/tls\nstringData:\n  tls.crt: |\n{}  tls.key: |\n{}---\n",
        indent(certificate),
        indent(key)
    )
}
