//! Properties: the result depends on the objects only, not on the way there; what is said to be touched is exactly what differs.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::build::{
    CONTROLLER, EC, EC2, RSA, class, config_map, ingress, name, secret, secret_with, service_with, settings,
    slice,
};
use super::show;
use crate::cluster::{Change, Kind, Map, Object, ObjectName, ObjectRef, Service, Snapshot};
use crate::model::{BackendName, Touched};
use crate::options::{self, Entry, Scope};
use crate::problem::Problem;
use crate::translate::{Settings, Translator, Update};

const HOSTS: [&str; 7] = ["foo.bar", "Foo.Bar", "*.bar", "x.foo.bar", "*.foo.bar", "bad_host", ""];
const PATHS: [&str; 8] = ["/", "/a", "/a/", "/a/b", "/ab", "/a//b", "nope", "-"];
const TYPES: [&str; 3] = ["Exact", "Prefix", "ImplementationSpecific"];
/// Pairs that mean something together, or only with this value.
const PAIRS: [(&str, &str); 15] = [
    ("canary", "true"),
    ("canary", "perhaps"),
    ("canary-weight", "20"),
    ("canary-weight", "200"),
    ("canary-by-header", "X-A"),
    ("canary-by-header-value", "v"),
    ("canary-by-cookie", "c"),
    ("path-type", "regex"),
    ("ssl-redirect-port", "8443"),
    ("ssl-passthrough", "true"),
    ("client-ca", "t0"),
    ("client-ca", "a/t1"),
    ("route-acl", "cookie(a) 1"),
    ("route-acl", "path_beg"),
    ("route-acl", "req.fhdr(x-a) v"),
];
const BACKENDS: [&str; 7] = ["s0:80", "s0:http", "s1:80", "s1:81", "s1", "", "Kind/resource"];
const AUTH_URLS: [&str; 6] =
    ["http://s0.a.svc/", "svc://s1:81/x", "svc://b/s0:http", "https://example.org/", "off", "bad value"];
const SECRETS: [&str; 4] = ["t0", "t1", "t2", ""];

fn full_name(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    (select(vec!["a", "b"]), select(names)).prop_map(|(namespace, name)| format!("{namespace}/{name}"))
}

/// Keys that may be written in such an object, with values that mostly mean something: examples, the names of this test's own
/// Secrets, on and off, nonsense; one key that may be misplaced.
fn keys_for(scope: Scope, most: usize) -> impl Strategy<Value = Vec<(String, String)>> {
    let keys: Vec<&'static Entry> = options::keys()
        .iter()
        .map(|key| key.entry())
        .filter(|entry| entry.scopes.contains(&scope) || entry.name == "ssl-redirect")
        .collect();
    let prefix = if scope == Scope::ConfigMap { "" } else { "haproxy.org/" };
    let entry = select(keys).prop_flat_map(move |entry| {
        let value = prop_oneof![
            5 => Just(entry.example),
            2 => select(vec!["a/t0", "b/t1", "t2", "true", "off", "10", "5s"]),
            1 => Just("maybe\n"),
        ];
        (Just(format!("{prefix}{}", entry.name)), value.prop_map(str::to_owned))
    });
    let pair = select(&PAIRS[..]).prop_map(move |(key, value)| (format!("{prefix}{key}"), value.to_owned()));
    vec(prop_oneof![2 => entry, 1 => pair], 0..=most)
}

fn an_ingress() -> impl Strategy<Value = Object> {
    let path = (select(&PATHS[..]), select(&TYPES[..]), select(&BACKENDS[..]))
        .prop_map(|(p, t, b)| format!("{p} {t} {b}"));
    let rule = (select(&HOSTS[..]), vec(path, 0..3));
    let tls = (vec(select(&HOSTS[..6]), 0..3), select(&SECRETS[..]));
    (
        full_name(&["i0", "i1", "i2"]),
        0i64..3,
        option::weighted(0.3, select(vec!["ours", "other", "gone"])),
        keys_for(Scope::Ingress, 3),
        option::weighted(0.3, select(&BACKENDS[..])),
        option::weighted(0.3, select(&AUTH_URLS[..])),
        vec(rule, 0..3),
        vec(tls, 0..3),
    )
        .prop_map(|(name, created, class, keys, default, auth, rules, tls)| {
            let mut built = ingress(&name).created(created);
            if let Some(class) = class {
                built = built.class(class);
            }
            for (key, value) in keys {
                built = built.annotation(&key, &value);
            }
            if let Some(url) = auth {
                built = built.annotation("outrigger.dev/auth-url", url);
            }
            if let Some(default) = default {
                built = built.default_backend(default);
            }
            for (host, paths) in rules {
                built = built.rule(host, &paths.iter().map(String::as_str).collect::<Vec<_>>());
            }
            for (hosts, secret) in tls {
                built = built.tls(&hosts, secret);
            }
            built.into()
        })
}

fn a_service() -> impl Strategy<Value = Object> {
    let ports =
        select(vec![vec!["80"], vec!["http=80"], vec!["http=80", "admin=81"], vec!["http=81"], vec![]]);
    let keys = keys_for(Scope::Service, 2);
    (full_name(&["s0", "s1"]), ports, any::<bool>(), option::weighted(0.1, Just("example.org")), keys)
        .prop_map(|(name, ports, publish_not_ready, external, keys)| {
            Object::Service(Service {
                publish_not_ready,
                annotations: keys.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
                external_name: external.map(Into::into),
                ..service_with(&name, &ports)
            })
        })
}

fn a_slice() -> impl Strategy<Value = Object> {
    let endpoints = vec![
        "10.0.0.1",
        "10.0.0.2!",
        "10.0.0.2",
        "10.0.0.3-",
        "10.0.0.4x",
        "fd00::1",
        "127.0.0.1",
        "fe80::1",
    ];
    let ports = vec!["8080", "http=8080", "http=8081", "admin=9"];
    (
        full_name(&["e0", "e1", "e2"]),
        select(vec!["s0", "s1"]),
        subsequence(ports, 0..3),
        subsequence(endpoints, 0..5),
    )
        .prop_map(|(name, service, ports, endpoints)| slice(&name, service, &ports, &endpoints))
}

fn a_secret() -> impl Strategy<Value = Object> {
    (full_name(&["t0", "t1", "t2"]), 0..5).prop_map(|(name, content)| match content {
        0 => secret(&name, &EC),
        1 => secret(&name, &EC2),
        2 => secret(&name, &RSA),
        3 => secret(&name, &(EC.0.clone(), EC2.1.clone())),
        _ => Object::Secret(secret_with(&name, &[])),
    })
}

fn a_class() -> impl Strategy<Value = Object> {
    let controller = select(vec![CONTROLLER, "example.org/other"]);
    (select(vec!["ours", "other", "third"]), controller, option::of(0i64..3))
        .prop_map(|(name, controller, default_since)| class(name, controller, default_since))
}

fn a_config_map() -> impl Strategy<Value = Object> {
    keys_for(Scope::ConfigMap, 4).prop_map(|keys| {
        let pairs: Vec<(&str, &str)> =
            keys.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        config_map(&pairs)
    })
}

fn an_object() -> impl Strategy<Value = Object> {
    prop_oneof![
        6 => an_ingress(),
        3 => a_service(),
        3 => a_slice(),
        3 => a_secret(),
        2 => a_class(),
        1 => a_config_map(),
    ]
}

fn a_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => an_object().prop_map(Change::Upsert),
        3 => an_object().prop_map(|object| Change::Delete(object.reference())),
        1 => vec(an_ingress(), 0..4)
            .prop_map(|objects| Change::Relist { kind: Kind::Ingress, namespace: None, objects }),
    ]
}

fn some_settings() -> impl Strategy<Value = Settings> {
    (option::of(select(vec!["ours", "gone"])), any::<[bool; 5]>()).prop_map(
        |(class, [empty, backend, cert, https, loopback])| {
            let mut settings = settings();
            settings.ingress_class = class.map(str::to_owned);
            settings.empty_ingress_class = empty;
            settings.default_backend = backend.then(|| (name("a/s0"), None));
            settings.default_certificate = cert.then(|| name("a/t0"));
            settings.listeners.https = https.then_some(8443);
            settings.loopback_endpoints = loopback;
            settings
        },
    )
}

fn problems(translator: &Translator) -> BTreeSet<Problem> {
    translator.problems().cloned().collect()
}

/// Secrets that `spec.tls` of the served Ingresses and the settings refer to, found without any index.
fn referred(translator: &Translator, snapshot: &Snapshot, settings: &Settings) -> BTreeSet<ObjectName> {
    let served = snapshot.ingresses.values().filter(|ingress| {
        let listed = translator.index.ingresses.get(&ingress.name);
        listed.is_some_and(|listed| listed.facts.is_some())
    });
    served
        .flat_map(|i| {
            i.tls
                .iter()
                .filter_map(|tls| tls.secret.clone())
                .map(|s| ObjectName::new(i.name.namespace.clone(), s))
        })
        .chain(settings.default_certificate.clone())
        .collect()
}

fn full(settings: &Settings, snapshot: &Snapshot) -> Translator {
    full_with_secrets(settings, snapshot).0
}

/// The translator, and the Secrets that matter to it.
fn full_with_secrets(settings: &Settings, snapshot: &Snapshot) -> (Translator, BTreeSet<ObjectName>) {
    let mut translator = Translator::new(settings.clone());
    let secrets = translator.update(snapshot, &BTreeSet::new()).secrets_added;
    (translator, secrets)
}

fn assert_same(incremental: &Translator, full: &Translator) -> Result<(), TestCaseError> {
    prop_assert_eq!(show(incremental), show(full));
    prop_assert!(incremental.model() == full.model());
    prop_assert_eq!(problems(incremental), problems(full));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn incremental_equals_full_and_touched_is_exact(
        settings in some_settings(),
        start in vec(an_object(), 0..20),
        batches in vec(vec(a_change(), 0..4), 1..12),
    ) {
        let mut snapshot = super::snapshot(start);
        let mut translator = Translator::new(settings.clone());
        let mut referred_before = BTreeSet::new();
        let mut first = true;
        for batch in std::iter::once(Vec::new()).chain(batches) {
            let mut changed: BTreeSet<ObjectRef> = BTreeSet::new();
            for change in batch {
                snapshot.apply(change, &mut changed);
            }
            let model = translator.model().clone();
            let known = problems(&translator);
            let served: Vec<ObjectName> = translator.served().cloned().collect();
            let update = translator.update(&snapshot, &changed);

            let (expected, referred_now) = full_with_secrets(&settings, &snapshot);
            assert_same(&translator, &expected)?;
            prop_assert!(referred(&translator, &snapshot, &settings).is_subset(&referred_now));
            let mut expected = Touched::between(&model, translator.model());
            expected.global |= std::mem::take(&mut first);
            let now = problems(&translator);
            prop_assert_eq!(update, Update {
                touched: expected,
                served_changed: !translator.served().eq(&served),
                secrets_added: referred_now.difference(&referred_before).cloned().collect(),
                secrets_released: referred_before.difference(&referred_now).cloned().collect(),
                problems_added: now.difference(&known).cloned().collect(),
                problems_gone: known.difference(&now).cloned().collect(),
            });
            referred_before = referred_now;
        }
    }

    #[test]
    fn the_order_of_events_does_not_matter(
        settings in some_settings(),
        (objects, shuffled) in vec(an_object(), 0..25).prop_map(|objects| {
            // One object of each name, so that every order ends with the same objects.
            let mut seen = BTreeSet::new();
            objects.into_iter().filter(|o| seen.insert(o.reference())).collect::<Vec<_>>()
        }).prop_flat_map(|objects| (Just(objects.clone()), Just(objects).prop_shuffle())),
        batch in 1usize..4,
    ) {
        let expected = full(&settings, &super::snapshot(objects));
        let mut snapshot = Snapshot::default();
        let mut translator = full(&settings, &snapshot);
        for objects in shuffled.chunks(batch) {
            let mut changed = BTreeSet::new();
            for object in objects {
                snapshot.apply(Change::Upsert(object.clone()), &mut changed);
            }
            translator.update(&snapshot, &changed);
        }
        assert_same(&translator, &expected)?;
    }

    #[test]
    fn an_emptied_cluster_leaves_nothing_behind(settings in some_settings(), objects in vec(an_object(), 0..20)) {
        let mut snapshot = super::snapshot(objects.clone());
        let mut translator = full(&settings, &snapshot);
        let mut changed = BTreeSet::new();
        for object in objects {
            snapshot.apply(Change::Delete(object.reference()), &mut changed);
        }
        translator.update(&snapshot, &changed);
        let fresh = full(&settings, &Snapshot::default());
        prop_assert_eq!(format!("{:?}", translator.index), format!("{:?}", fresh.index));
        prop_assert_eq!(format!("{:?}", translator.book), format!("{:?}", fresh.book));
        prop_assert_eq!(format!("{:?}", translator.ledger), format!("{:?}", fresh.ledger));
    }
}

#[test]
fn an_update_without_change_touches_nothing() {
    let snapshot = Snapshot::default();
    let mut translator = full(&settings(), &snapshot);
    let update = translator.update(&snapshot, &BTreeSet::new());
    assert_eq!(update, Update::default());
}

#[test]
fn a_changed_endpoint_reads_nothing_but_its_backend() {
    let objects = [
        ingress("a/x").rule("foo.bar", &["/ Prefix web:80"]).tls(&["foo.bar"], "t").into(),
        super::build::service("a/web", &["80"]),
        slice("a/s", "web", &["8080"], &["10.0.0.1"]),
        secret("a/t", &EC),
    ];
    let mut snapshot = super::snapshot(objects);
    let mut translator = full(&settings(), &snapshot);
    let before = translator.model().clone();
    let mut changed = BTreeSet::new();
    snapshot.apply(Change::Upsert(slice("a/s", "web", &["8080"], &["10.0.0.1", "10.0.0.2"])), &mut changed);
    let update = translator.update(&snapshot, &changed);
    assert_eq!(update.touched.backends.iter().map(BackendName::as_str).collect::<Vec<_>>(), ["a_web_80"]);
    assert!(
        update.touched.routes.is_empty() && update.touched.certificates.is_empty() && !update.touched.global
    );
    let same =
        |old: &Map<_, _>, new: &Map<_, _>| old.values().zip(new.values()).all(|(a, b)| Arc::ptr_eq(a, b));
    assert!(same(&before.routes, &translator.model().routes));
}
