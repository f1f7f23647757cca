//! Arbitrary annotations and ConfigMap data, through translation and rendering, with what must hold whatever they are. Shared
//! by the integration tests and the fuzz target with `#[path]`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends, and says why")]
#![allow(dead_code, reason = "each user needs a part of this")]

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::Arc;

use bytes::Bytes;
use outrigger::cluster::{
    Change, ConfigMap, Endpoint, EndpointPort, EndpointSlice, Ingress, IngressBackend, IngressPath,
    IngressRule, Kind, Object, ObjectName, PathType, PortRef, Secret, Service, ServicePort, Snapshot,
};
use outrigger::model::{Capabilities, Listeners, Version};
use outrigger::options::Scope;
use outrigger::plan::{FileId, Texts};
use outrigger::problem::Problem;
use outrigger::render::Renderer;
use outrigger::translate::{Settings, SnippetRules, Translator};
use outrigger_init::Volumes;

/// The branches that everything is rendered for.
pub(crate) const BRANCHES: [(u16, u16); 5] = [(2, 2), (2, 6), (3, 0), (3, 2), (3, 4)];

/// One entry that somebody writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) scope: Scope,
    /// With prefix on annotations.
    pub(crate) key: String,
    pub(crate) value: String,
}

impl Written {
    /// A key of ours, by name.
    pub(crate) fn ours(scope: Scope, name: &str, value: &str) -> Self {
        let prefix = if scope == Scope::ConfigMap { "" } else { "haproxy.org/" };
        Self { scope, key: format!("{prefix}{name}"), value: value.to_owned() }
    }
}

/// Reads entries out of any bytes: records end with 0x1e, `s`, `i` or `c` says the scope, 0x1f ends the key.
pub(crate) fn decode(bytes: &[u8]) -> Vec<Written> {
    let text = String::from_utf8_lossy(bytes);
    let records = text.split('\u{1e}').filter_map(|record| {
        let (key, value) = record.split_once('\u{1f}')?;
        let (scope, name) = match key.chars().next()? {
            's' => (Scope::Service, &key[1..]),
            'i' => (Scope::Ingress, &key[1..]),
            'c' => (Scope::ConfigMap, &key[1..]),
            _ => return None,
        };
        Some(Written { scope, key: name.to_owned(), value: value.to_owned() })
    });
    records.take(64).collect()
}

/// A cluster: a tenant that writes entries, and a neighbour that writes none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cluster {
    pub(crate) objects: Vec<Object>,
}

const NAMESPACE: &str = "tenants";

pub(crate) fn name(name: &str) -> ObjectName {
    ObjectName::new(NAMESPACE, name)
}

fn strings<'a>(entries: impl Iterator<Item = &'a Written>) -> outrigger::cluster::Strings {
    entries.map(|w| (Arc::from(w.key.as_str()), Arc::from(w.value.as_str()))).collect()
}

impl Cluster {
    /// The tenant `app` with these entries, and `neighbour`.
    pub(crate) fn of(entries: &[Written]) -> Self {
        let scope = |scope| strings(entries.iter().filter(move |w| w.scope == scope));
        let mut cluster = Self::default();
        cluster.app("app", scope(Scope::Service), scope(Scope::Ingress));
        cluster.app("neighbour", strings([].iter()), strings([].iter()));
        cluster
            .objects
            .push(Object::ConfigMap(ConfigMap { name: name("settings"), data: scope(Scope::ConfigMap) }));
        cluster.secrets();
        cluster
    }

    /// An Ingress `NAME` for host `NAME.test` with a Service of the same name.
    pub(crate) fn app(
        &mut self,
        app: &str,
        service: outrigger::cluster::Strings,
        ingress: outrigger::cluster::Strings,
    ) {
        let path = |path: &str, path_type| IngressPath {
            path: Some(path.into()),
            path_type,
            backend: IngressBackend::Service { name: app.into(), port: Some(PortRef::Number(80)) },
        };
        self.objects.push(Object::Ingress(Ingress {
            name: name(app),
            created: 0,
            class: None,
            annotations: ingress,
            default_backend: None,
            rules: vec![IngressRule {
                host: Some(format!("{app}.test").into()),
                paths: vec![
                    path("/", PathType::Prefix),
                    path("/exact", PathType::Exact),
                    path("/v[0-9]+", PathType::ImplementationSpecific),
                ],
            }],
            tls: Vec::new(),
        }));
        self.objects.push(Object::Service(Service {
            name: name(app),
            annotations: service,
            external_name: None,
            publish_not_ready: false,
            ports: vec![ServicePort { name: None, port: 80, app_protocol: None }],
        }));
        self.objects.push(Object::EndpointSlice(EndpointSlice {
            name: name(app),
            service: app.into(),
            ports: vec![EndpointPort { name: None, port: 8080 }],
            endpoints: vec![Endpoint {
                address: Ipv4Addr::new(10, 0, 0, 1).into(),
                ready: true,
                serving: true,
                terminating: false,
                pod: None,
            }],
        }));
    }

    /// Secrets whose content is anything but what keys want: bytes that are no text, a newline, a user that breaks lines.
    fn secrets(&mut self) {
        let data = [
            ("tls.crt", &b"\xff\xfe\x00not PEM"[..]),
            ("tls.key", b"\n\n"),
            ("ca.crt", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            ("auth", b"user:$apr1$x$y\nevil\n  EVIL\xff:clear\n"),
            ("EVIL user", b"$6$salt$hash"),
        ];
        let data = data.map(|(key, value)| (Arc::from(key), Bytes::from_static(value)));
        self.objects.push(Object::Secret(Secret { name: name("secret"), data: data.into_iter().collect() }));
    }

    /// The snapshot.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for object in &self.objects {
            snapshot.apply(Change::Upsert(object.clone()), &mut BTreeSet::new());
        }
        snapshot
    }

    /// Texts for a branch, and the problems.
    pub(crate) fn render(
        &self,
        branch: (u16, u16),
        volumes: &Volumes,
        snippets: bool,
    ) -> (Texts, Vec<Problem>) {
        let mut translator = Translator::new(settings(snippets));
        translator.update(&self.snapshot(), &BTreeSet::new());
        let (major, minor) = branch;
        let renderer = Renderer::new(volumes.clone(), Capabilities::of(Version { major, minor }).unwrap());
        let texts = renderer.full(translator.model(), &Texts::default());
        (texts, translator.problems().cloned().collect())
    }
}

pub(crate) fn settings(snippets: bool) -> Settings {
    let listeners = Listeners {
        ipv4: Some(Ipv4Addr::LOCALHOST),
        ipv6: None,
        http: Some(18080),
        https: Some(18443),
        stats: 11024,
        healthz: 11042,
    };
    Settings {
        config_map: Some(name("settings")),
        snippets: if snippets {
            SnippetRules { tenants: true, ..SnippetRules::default() }
        } else {
            SnippetRules { global: false, frontend: false, backend: false, tenants: false }
        },
        ..Settings::new("outrigger.dev/ingress-controller", listeners, Bytes::from_static(b"fallback\n"))
    }
}

/// First words of the lines that the renderer writes. Anything else is a line that a user got in.
const KEYWORDS: &[&str] = &[
    "#",
    "acl",
    "backend",
    "balance",
    "bind",
    "ca-base",
    "compression",
    "cookie",
    "crt-base",
    "daemon",
    "declare",
    "default_backend",
    "defaults",
    "description",
    "dynamic-cookie-key",
    "email-alert",
    "errorfile",
    "errorfiles",
    "fd-hard-limit",
    "filter",
    "frontend",
    "global",
    "hard-stop-after",
    "hash-type",
    "hold",
    "http-after-response",
    "http-check",
    "http-error",
    "http-errors",
    "http-request",
    "http-response",
    "http-reuse",
    "localpeer",
    "log",
    "log-format",
    "log-tag",
    "lua-load",
    "maxconn",
    "mode",
    "monitor-uri",
    "mworker-max-reloads",
    "nbthread",
    "no",
    "option",
    "parse-resolv-conf",
    "peer",
    "peers",
    "redirect",
    "resolve_retries",
    "resolvers",
    "retries",
    "retry-on",
    "server",
    "ssl-default-bind-ciphers",
    "ssl-default-bind-ciphersuites",
    "ssl-default-bind-options",
    "ssl-default-server-options",
    "stats",
    "stick",
    "stick-table",
    "tcp-check",
    "tcp-request",
    "tcp-response",
    "timeout",
    "tune.bufsize",
    "tune.http.maxhdr",
    "tune.lua.session-timeout",
    "tune.lua.service-timeout",
    "tune.ssl.default-dh-param",
    "unique-id-format",
    "unique-id-header",
    "use_backend",
    "user",
    "userlist",
    "accepted_payload_size",
    "external-check",
    "fullconn",
    "group",
    "insecure-fork-wanted",
    "nameserver",
    "server-state-file",
    "ssl-server-verify",
    "tune.lua.forced-yield",
    "tune.lua.maxmem",
    "tune.lua.task-timeout",
];

/// What must hold whatever was written: translation and rendering end, every line is one that the renderer intended, and the
/// neighbour is served as if nobody had written anything.
pub(crate) fn check(entries: &[Written]) {
    let volumes = Volumes::default();
    let only_config: Vec<Written> = entries.iter().filter(|w| w.scope == Scope::ConfigMap).cloned().collect();
    for branch in BRANCHES {
        let (texts, problems) = Cluster::of(entries).render(branch, &volumes, false);
        for problem in &problems {
            let said = format!("{}{}", problem.message, problem.hint);
            assert!(!said.contains(['\n', '\r', '\0']), "a problem of one line: {said:?}");
        }
        for id in texts.files() {
            if matches!(id, FileId::Certificate(_) | FileId::DefaultCertificate) {
                continue;
            }
            let bytes = texts.file(&id, &volumes).unwrap();
            let text = std::str::from_utf8(&bytes).unwrap_or_else(|e| panic!("{id:?}: {e}"));
            for line in text.lines() {
                assert!(
                    !line.chars().any(|c| c.is_control() && c != '\t'),
                    "{id:?}: {line:?} for {entries:?}"
                );
                if matches!(id, FileId::Main | FileId::Shard(_)) {
                    let word = line.split_whitespace().next().unwrap_or("#");
                    assert!(KEYWORDS.contains(&word), "{branch:?} {id:?}: {line:?} for {entries:?}");
                }
            }
        }
        // What the neighbour gets depends on the ConfigMap alone.
        let (alone, _) = Cluster::of(&only_config).render(branch, &volumes, false);
        let parts = |texts: &Texts| -> Vec<String> {
            let backends = texts.backends.iter().filter(|(name, _)| name.as_str().contains("neighbour"));
            backends.map(|(name, text)| format!("{name}\n{}{:?}", text.header, text.servers)).collect()
        };
        assert_eq!(parts(&texts), parts(&alone), "the neighbour is another one for {entries:?}");
    }
}

/// The objects that a problem may be about here.
pub(crate) fn kinds() -> [Kind; 3] {
    [Kind::Service, Kind::Ingress, Kind::ConfigMap]
}
