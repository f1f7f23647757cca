//! Small models, and random ones.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use proptest::collection::{btree_map, btree_set};
use proptest::prelude::*;

use crate::cluster::{Kind, ObjectName, Origin};
use crate::model::*;

/// A model with nothing in it that listens on IPv4 loopback.
pub(crate) fn empty() -> Model {
    let listeners = Listeners {
        ipv4: Some("127.0.0.1".parse().unwrap()),
        ipv6: None,
        http: Some(8080),
        https: Some(8443),
        stats: 1024,
        healthz: 1042,
    };
    Model::new(Global::new(listeners, 10), Bytes::from_static(b"default\n"))
}

/// Another policy than the plain one.
pub(crate) fn least_conn(backend: &mut Backend) {
    backend.policy = Arc::new(Policy { balance: Balance::LeastConn, ..Policy::default() });
}

pub(crate) fn server(address: &str, port: u16, state: ServerState) -> Server {
    let address: IpAddr = address.parse().unwrap();
    let id = u32::try_from(outrigger_init::fnv1a(format!("{address}:{port}").as_bytes()) % 0x7fff_ffff)
        .unwrap()
        + 1;
    Server { key: ServerKey { address, port }, id, state, pod: None }
}

pub(crate) fn backend(service: &str, port: u16, servers: &[Server]) -> Backend {
    let name = ObjectName::parse(service).unwrap();
    Backend {
        name: BackendName::service(&name, port),
        origin: Origin::object(Kind::Service, name).at(format!("port {port}")),
        policy: Arc::default(),
        servers: servers.iter().map(|s| (s.key, s.clone())).collect(),
    }
}

pub(crate) fn key(host: HostMatch, path: PathMatch) -> RouteKey {
    RouteKey { table: Table::ingress(), host, path }
}

pub(crate) fn exact_host(host: &str) -> HostMatch {
    HostMatch::Exact(host.into())
}

pub(crate) fn prefix(path: &str) -> PathMatch {
    PathMatch::Prefix(path.into())
}

pub(crate) fn exact(path: &str) -> PathMatch {
    PathMatch::Exact(path.into())
}

/// A route to one backend; to none: the host is known only.
pub(crate) fn route(key: RouteKey, backend: Option<&BackendName>, filters: &[Filter]) -> Route {
    let origin = Origin::object(Kind::Ingress, ObjectName::new("ns", "ingress"));
    let candidate = |backend: &BackendName| Candidate {
        conditions: Vec::new(),
        filters: filters.to_vec(),
        split: vec![Weighted { weight: 1, backend: backend.clone() }],
        origin: origin.clone(),
    };
    Route { key, candidates: backend.map(candidate).into_iter().collect() }
}

pub(crate) fn add_backend(model: &mut Model, backend: Backend) -> BackendName {
    let name = backend.name.clone();
    model.backends.insert_mut(name.clone(), Arc::new(backend));
    name
}

pub(crate) fn add_route(model: &mut Model, route: Route) {
    model.routes.insert_mut(route.key.clone(), Arc::new(route));
}

pub(crate) fn certificate(secret: &str, pem: Bytes, hosts: &[&str]) -> Certificate {
    let secret = ObjectName::parse(secret).unwrap();
    let hosts = hosts.iter().map(|h| Arc::from(*h)).collect();
    Certificate { key: CertificateKey::open(secret), key_type: Some(KeyType::Ecdsa), pem, hosts, check: None }
}

/// The same where clients must (or may) show a certificate that this authority has signed.
pub(crate) fn with_check(mut certificate: Certificate, check: Option<&(String, bool)>) -> Certificate {
    certificate.check = check.map(|(authority, required)| ClientCheck {
        authority: Asset::new(AssetKind::Authority, "ca", authority.clone().into()),
        revoked: None,
        required: *required,
    });
    certificate.key.check = certificate.check.as_ref().map(ClientCheck::fingerprint);
    certificate
}

pub(crate) fn add_certificate(model: &mut Model, certificate: Certificate) {
    model.certificates.insert_mut(certificate.key.clone(), Arc::new(certificate));
}

/// Everything that differs between two models, as a translation would say.
fn any_backend() -> impl Strategy<Value = Backend> {
    let address = prop_oneof!["10\\.0\\.0\\.[1-9]", "2001:db8::[1-9]"];
    let state = prop_oneof![4 => Just(ServerState::Active), 1 => Just(ServerState::Draining)];
    let servers = btree_map((address, 8080u16..8083), state, 0..13);
    let service = (prop_oneof![Just("a"), Just("b")], "[xyz]", 80u16..83);
    (service, servers, prop::bool::weighted(0.2)).prop_map(|((namespace, name, port), servers, least)| {
        let servers: Vec<Server> = servers.into_iter().map(|((a, p), state)| server(&a, p, state)).collect();
        let mut backend = backend(&format!("{namespace}/{name}"), port, &servers);
        if least {
            least_conn(&mut backend);
        }
        backend
    })
}

fn any_key() -> impl Strategy<Value = RouteKey> {
    let host = prop_oneof![
        4 => "[a-c]\\.test".prop_map(|h| HostMatch::Exact(h.into())),
        2 => "[a-c]\\.test".prop_map(|h| HostMatch::Wildcard(h.into())),
        1 => Just(HostMatch::Any),
    ];
    let path = prop_oneof![
        "(/[a-c]{1,2}){0,3}".prop_map(|p| PathMatch::Prefix(p.into())),
        "/[a-c](\\.\\*|\\[xy\\]\\+|\\$)?".prop_map(|p| PathMatch::Regex(p.into())),
        "(/[a-c]{1,2}){0,3}/?"
            .prop_filter("starts with /", |p| p.starts_with('/'))
            .prop_map(|p| PathMatch::Exact(p.into())),
    ];
    prop_oneof![
        20 => (host, path).prop_map(|(host, path)| key(host, path)),
        1 => Just(RouteKey::default_of(Table::ingress())),
    ]
}

/// Models as a translation makes them: routes name backends that exist, or fixed ones.
pub(crate) fn any_model() -> impl Strategy<Value = Model> {
    let backends = prop::collection::vec(any_backend(), 0..6);
    let routes = btree_map(any_key(), (any::<prop::sample::Index>(), 0..12u8), 0..12);
    let hosts = btree_set("(\\*\\.)?[a-c]\\.test", 1..3);
    let check = prop::option::weighted(0.3, ("[xy]", any::<bool>()));
    let certificates = btree_map("[ab]/[stuv]", ("[0-9]", hosts, check), 0..4);
    let passthroughs = btree_map("[a-c]\\.test", any::<prop::sample::Index>(), 0..3);
    let listeners =
        (prop::bool::weighted(0.1), prop::bool::weighted(0.1), "[0-1]", prop::bool::weighted(0.8));
    (backends, routes, certificates, passthroughs, listeners).prop_map(
        |(backends, routes, certificates, passthroughs, (no_https, other, default, all_needs))| {
            let mut model = empty();
            let global = Arc::make_mut(&mut model.global);
            if no_https {
                global.listeners.https = None;
            }
            if other {
                global.listeners.stats = 1025;
            }
            model.default_certificate = format!("default {default}\n").into();
            let names: Vec<BackendName> = backends.into_iter().map(|b| add_backend(&mut model, b)).collect();
            for (key, (index, kind)) in routes {
                let backend = match kind {
                    0 => None,
                    1 => Some(BackendName::fixed(503)),
                    _ if names.is_empty() => Some(BackendName::fixed(404)),
                    _ => Some(names[index.index(names.len())].clone()),
                };
                let port = (kind == 11).then_some(8443);
                let redirect = [Filter::RedirectToHttps { status: 302, port }];
                let filters: &[Filter] = if kind > 4 { &redirect } else { &[] };
                let default = key.host == HostMatch::Default;
                let mut route = route(key, backend.as_ref(), filters);
                if let (8..=10, false, [first, ..]) = (kind, default, names.as_slice()) {
                    more(&mut route, first, kind);
                }
                add_route(&mut model, route);
            }
            add_roots(&mut model);
            add_needs(&mut model);
            if all_needs {
                // So that most changes of routes are live.
                Arc::make_mut(&mut model.global).needs = every_need();
            }
            for (secret, (pem, hosts, check)) in certificates {
                let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
                let certificate = certificate(&secret, format!("pem {pem}\n").into(), &hosts);
                add_certificate(&mut model, with_check(certificate, check.as_ref()));
            }
            for (host, index) in passthroughs.iter().filter(|_| !names.is_empty() && !no_https) {
                Arc::make_mut(&mut model.global).needs.insert(Need::Passthrough);
                let backend = Arc::new(names[index.index(names.len())].clone());
                model.passthroughs.insert_mut(exact_host(host), backend);
            }
            model
        },
    )
}

/// Makes a route split, or conditional, or both.
fn more(route: &mut Route, other: &BackendName, kind: u8) {
    if kind != 9 {
        for candidate in &mut route.candidates {
            candidate.split.push(Weighted { weight: 3, backend: other.clone() });
        }
    }
    if kind != 8 {
        let test = Expression(vec!["path".into(), "-m".into(), "len".into(), "gt".into(), "3".into()]);
        let conditions = [
            Condition::Expression(test),
            Condition::Header("x-canary".into(), "always".into()),
            Condition::Cookie("canary".into(), "always".into()),
        ];
        let conditional = conditions.map(|condition| Candidate {
            conditions: vec![condition],
            filters: route.candidates.first().map(|c| c.filters.clone()).unwrap_or_default(),
            split: vec![Weighted { weight: 1, backend: other.clone() }],
            origin: Origin::object(Kind::Ingress, ObjectName::new("ns", "canary")),
        });
        route.candidates.splice(0..0, conditional);
    }
}

/// Hosts with regular expressions have a root.
pub(crate) fn add_roots(model: &mut Model) {
    let regexes = model.routes.keys().filter(|key| matches!(key.path, PathMatch::Regex(_)));
    let roots: Vec<RouteKey> = regexes.map(|key| RouteKey { path: prefix(""), ..key.clone() }).collect();
    for root in roots {
        if !model.routes.contains_key(&root) {
            add_route(model, route(root, None, &[]));
        }
    }
}

fn every_need() -> std::collections::BTreeSet<Need> {
    let mut model = empty();
    let backend = BackendName::fixed(503);
    let mut all = route(key(exact_host("a.test"), PathMatch::Regex("/".into())), Some(&backend), &[]);
    more(&mut all, &backend, 10);
    all.candidates[0].filters = vec![Filter::RedirectToHttps { status: 302, port: Some(1) }];
    add_route(&mut model, all);
    add_needs(&mut model);
    model.global.needs.clone()
}

/// What the routes need of the main text, as a translation would say.
pub(crate) fn add_needs(model: &mut Model) {
    let mut needs = std::collections::BTreeSet::new();
    for (key, route) in &model.routes {
        needs.extend(matches!(key.path, PathMatch::Regex(_)).then_some(Need::RegexPaths));
        for candidate in &route.candidates {
            needs.extend(candidate.conditions.iter().filter_map(Condition::test).map(Need::Test));
            needs.extend((candidate.split.len() > 1).then_some(Need::Split));
            let Some(Filter::RedirectToHttps { port, .. }) = candidate.filters.last() else { continue };
            needs.extend(port.map(|_| Need::RedirectPort));
        }
    }
    Arc::make_mut(&mut model.global).needs = needs;
}

/// HAProxy branches that are driven.
pub(crate) const BRANCHES: [&str; 5] = ["2.2", "2.6", "3.0", "3.2", "3.4"];

pub(crate) fn capabilities(branch: &str) -> Capabilities {
    Capabilities::of(Version::parse(branch).unwrap()).unwrap()
}

/// A backend's servers, by name.
pub(crate) fn servers(texts: &crate::plan::Texts, backend: &BackendName) -> BTreeMap<Arc<str>, Arc<str>> {
    texts.backends.get(backend).unwrap().servers.clone()
}
