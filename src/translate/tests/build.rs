//! Builders of objects, short enough to read a test as a manifest.

use std::net::Ipv4Addr;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;

use crate::cluster::{
    ConfigMap, Endpoint, EndpointPort, EndpointSlice, Ingress, IngressBackend, IngressClass, IngressPath,
    IngressRule, IngressTls, Object, ObjectName, PathType, PortRef, Secret, Service, ServicePort,
};
use crate::model::Listeners;
use crate::translate::Settings;

pub(super) const CONTROLLER: &str = "outrigger.dev/ingress-controller";

pub(super) fn name(text: &str) -> ObjectName {
    ObjectName::parse(text).expect("namespace/name")
}

pub(super) fn settings() -> Settings {
    let listeners = Listeners {
        ipv4: Some(Ipv4Addr::UNSPECIFIED),
        ipv6: None,
        http: Some(8080),
        https: Some(8443),
        stats: 1024,
        healthz: 1042,
    };
    Settings {
        config_map: Some(name("outrigger/config")),
        ..Settings::new(CONTROLLER, listeners, Bytes::from_static(b"fallback"))
    }
}

/// An Ingress to be filled, and an object when it is.
#[derive(Clone)]
pub(super) struct IngressBuilder(pub(super) Ingress);

pub(super) fn ingress(full_name: &str) -> IngressBuilder {
    IngressBuilder(Ingress {
        name: name(full_name),
        created: 0,
        class: None,
        annotations: [].into(),
        default_backend: None,
        rules: Vec::new(),
        tls: Vec::new(),
    })
}

/// `service:80`, `service:http`, `service` (no port), `kind/name` (resource) or nothing.
pub(super) fn backend(text: &str) -> IngressBackend {
    if text.is_empty() {
        return IngressBackend::Missing;
    }
    if text.contains('/') {
        return IngressBackend::Resource(text.into());
    }
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let port = port.map(|p| p.parse().map_or_else(|_| PortRef::Name(p.into()), PortRef::Number));
    IngressBackend::Service { name: name.into(), port }
}

impl IngressBuilder {
    pub(super) fn created(mut self, created: i64) -> Self {
        self.0.created = created;
        self
    }

    pub(super) fn class(mut self, class: &str) -> Self {
        self.0.class = Some(class.into());
        self
    }

    pub(super) fn annotation(mut self, key: &str, value: &str) -> Self {
        self.0.annotations.insert(key.into(), value.into());
        self
    }

    pub(super) fn default_backend(mut self, text: &str) -> Self {
        self.0.default_backend = Some(backend(text));
        self
    }

    /// A rule; paths are `"/path Prefix service:80"`, with `-` for no path.
    pub(super) fn rule(mut self, host: &str, paths: &[&str]) -> Self {
        let paths = paths.iter().map(|text| {
            let mut words = text.split(' ');
            let path = words.next().filter(|p| *p != "-").map(|p| Arc::from(p.replace('~', " ")));
            let path_type = match words.next() {
                Some("Exact") => PathType::Exact,
                Some("Prefix") => PathType::Prefix,
                _ => PathType::ImplementationSpecific,
            };
            IngressPath { path, path_type, backend: backend(words.next().unwrap_or_default()) }
        });
        let host = (!host.is_empty()).then(|| host.into());
        self.0.rules.push(IngressRule { host, paths: paths.collect() });
        self
    }

    pub(super) fn tls(mut self, hosts: &[&str], secret: &str) -> Self {
        let secret = (!secret.is_empty()).then(|| secret.into());
        self.0.tls.push(IngressTls { hosts: hosts.iter().map(|h| (*h).into()).collect(), secret });
        self
    }
}

impl From<IngressBuilder> for Object {
    fn from(builder: IngressBuilder) -> Self {
        Self::Ingress(builder.0)
    }
}

pub(super) fn class(name: &str, controller: &str, default_since: Option<i64>) -> Object {
    Object::IngressClass(IngressClass {
        name: name.into(),
        created: default_since.unwrap_or_default(),
        controller: controller.into(),
        is_default: default_since.is_some(),
    })
}

/// Ports are `80` or `http=80`.
pub(super) fn service_with(full_name: &str, ports: &[&str]) -> Service {
    let ports = ports.iter().map(|text| {
        let (name, port) =
            text.split_once('=').map_or((None, *text), |(name, port)| (Some(name.into()), port));
        ServicePort { name, port: port.parse().expect("port"), app_protocol: None }
    });
    Service {
        name: name(full_name),
        annotations: [].into(),
        external_name: None,
        publish_not_ready: false,
        ports: ports.collect(),
    }
}

pub(super) fn service(full_name: &str, ports: &[&str]) -> Object {
    Object::Service(service_with(full_name, ports))
}

/// Ports are `8080` or `http=8080`; endpoints `10.0.0.1`, with `!` not ready, `-` terminating but serving, `x` terminating.
pub(super) fn slice(full_name: &str, service: &str, ports: &[&str], endpoints: &[&str]) -> Object {
    let ports = ports.iter().map(|text| {
        let (name, port) =
            text.split_once('=').map_or((None, *text), |(name, port)| (Some(name.into()), port));
        EndpointPort { name, port: port.parse().expect("port") }
    });
    let endpoints = endpoints.iter().map(|text| {
        let address = text.trim_end_matches(['!', '-', 'x']);
        let (ready, serving, terminating) = match &text[address.len()..] {
            "!" => (false, false, false),
            "-" => (false, true, true),
            "x" => (false, false, true),
            _ => (true, true, false),
        };
        Endpoint {
            address: address.parse().expect("address"),
            ready,
            serving,
            terminating,
            pod: Some(format!("pod-{address}").into()),
        }
    });
    Object::EndpointSlice(EndpointSlice {
        name: name(full_name),
        service: service.into(),
        ports: ports.collect(),
        endpoints: endpoints.collect(),
    })
}

pub(super) fn config_map(pairs: &[(&str, &str)]) -> Object {
    let data = pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    Object::ConfigMap(ConfigMap { name: name("outrigger/config"), data })
}

/// Certificate and key in PEM. Test material, used nowhere else.
pub(in crate::translate) type Pair = (String, String);

pub(in crate::translate) static RSA: LazyLock<Pair> = LazyLock::new(rsa);
pub(in crate::translate) static EC: LazyLock<Pair> = LazyLock::new(ec);
pub(in crate::translate) static EC2: LazyLock<Pair> = LazyLock::new(ec);

/// ring cannot make RSA keys, so the openssl program does; in the old form (PKCS#1), as cert-manager writes them.
#[expect(clippy::disallowed_methods, reason = "test material")]
fn rsa() -> Pair {
    const SCRIPT: &str = r#"key=$(openssl genrsa -traditional 2048 2>/dev/null) && echo "$key" &&
        openssl req -x509 -key /dev/stdin -days 2 -subj /CN=rsa.example <<<"$key""#;
    let output =
        std::process::Command::new("bash").args(["-c", SCRIPT]).output().expect("the openssl program");
    let pem = String::from_utf8(output.stdout).expect("PEM is text");
    let (key, certificate) = pem.split_at(pem.find("-----BEGIN CERTIFICATE-----").expect("a certificate"));
    (certificate.to_owned(), key.to_owned())
}

fn ec() -> Pair {
    let made = rcgen::generate_simple_self_signed(["ec.example".to_owned()]).expect("certificate");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

pub(in crate::translate) fn secret_with(full_name: &str, data: &[(&str, &str)]) -> Secret {
    let data = data.iter().map(|(k, v)| (Arc::from(*k), Bytes::copy_from_slice(v.as_bytes())));
    Secret { name: name(full_name), data: data.collect() }
}

pub(super) fn secret(full_name: &str, pair: &Pair) -> Object {
    Object::Secret(secret_with(full_name, &[("tls.crt", &pair.0), ("tls.key", &pair.1)]))
}
