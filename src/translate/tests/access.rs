//! What the keys of access make of a path, and what happens when they are wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cluster::{Change, ConfigMap, Object, Snapshot};
use crate::model::policy::access::Access;
use crate::model::{Need, Policy};
use crate::translate::{Settings, Translator};

use super::build::{IngressBuilder, config_map, ingress, name, secret_with, service, settings, slice};

const HASH: &str = "$1$abc$cxuUzPBSwjcu7dZUf2yRi0";

/// A translator that has seen objects.
struct World {
    translator: Translator,
    snapshot: Snapshot,
}

impl World {
    fn new(settings: Settings, objects: Vec<Object>) -> Self {
        let mut world = Self { translator: Translator::new(settings), snapshot: Snapshot::default() };
        world.put(objects);
        world
    }

    fn put(&mut self, objects: Vec<Object>) {
        let mut changed = BTreeSet::new();
        for object in objects {
            self.snapshot.apply(Change::Upsert(object), &mut changed);
        }
        self.translator.update(&self.snapshot, &changed);
    }

    /// The access of the only backend.
    fn access(&self) -> Access {
        let model = self.translator.model();
        let policies: Vec<&Arc<Policy>> = model.backends.values().map(|backend| &backend.policy).collect();
        assert_eq!(policies.len(), 1);
        policies[0].access.clone()
    }

    fn lists(&self) -> BTreeMap<String, Vec<String>> {
        let lists = self.translator.model().lists.iter();
        lists.map(|(name, list)| (name.to_string(), list.iter().map(ToString::to_string).collect())).collect()
    }

    fn codes(&self) -> Vec<&'static str> {
        self.translator.problems().map(|problem| problem.code.as_str()).collect()
    }
}

fn shop(annotations: &[(&str, &str)]) -> Vec<Object> {
    let start: IngressBuilder = ingress("shop/shop").rule("shop.test", &["/ Prefix app:80"]);
    let all = annotations
        .iter()
        .fold(start, |ingress, (key, value)| ingress.annotation(&format!("haproxy.org/{key}"), value));
    vec![service("shop/app", &["80"]), all.into()]
}

fn files(pairs: &[(&str, &str)]) -> Object {
    let data = pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    Object::ConfigMap(ConfigMap { name: name("outrigger/patterns"), data })
}

fn with_files() -> Settings {
    Settings { pattern_files: Some(name("outrigger/patterns")), ..settings() }
}

#[test]
fn a_list_keeps_its_name_when_its_content_changes() {
    let mut world =
        World::new(settings(), shop(&[("whitelist", "10.0.0.0/8"), ("deny-list", "10.1.0.0/16")]));
    let before = world.access();
    assert!(!before.closed && before.allow_list.is_some() && before.deny_list.is_some());
    let lists = world.lists();
    assert_eq!(lists["outrigger-ingress_shop_shop_allow-list.lst"], ["10.0.0.0/8"]);
    assert_eq!(lists["outrigger-ingress_shop_shop_deny-list.lst"], ["10.1.0.0/16"]);
    world.put(shop(&[("allow-list", "192.0.2.7"), ("deny-list", "10.1.0.0/16")]));
    assert_eq!(world.access(), before);
    assert_eq!(world.lists()["outrigger-ingress_shop_shop_allow-list.lst"], ["192.0.2.7/32"]);
    world.put(shop(&[]));
    assert!(world.lists().is_empty() && world.codes().is_empty());
}

#[test]
fn pattern_files_are_lists_whether_used_or_not() {
    let mut world = World::new(with_files(), shop(&[("allow-list", "patterns/office")]));
    assert_eq!(world.codes(), ["pattern-file-not-found"]);
    let access = world.access();
    assert_eq!(world.lists()["outrigger-networks_office"], [""; 0], "nobody is served");
    world.put(vec![files(&[
        ("office", "# us\n10.0.0.0/8\nnonsense\n 192.0.2.7 \n"),
        ("words", "a b\n\nc\n"),
        ("outrigger-x", "a"),
        (".hidden", "a"),
    ])]);
    assert_eq!(world.access(), access, "it fills while HAProxy runs");
    let lists = world.lists();
    assert_eq!(lists["outrigger-networks_office"], ["10.0.0.0/8", "192.0.2.7/32"]);
    assert_eq!(lists["office"], ["10.0.0.0/8", "192.0.2.7", "nonsense"]);
    assert_eq!(lists["words"], ["a b", "c"]);
    assert_eq!(lists["outrigger-networks_words"], [""; 0]);
    assert_eq!(lists.len(), 4);
    assert_eq!(world.codes(), ["pattern-file-invalid"; 3]);
    world.put(shop(&[("deny-list", "patterns/words")]));
    assert!(world.access().closed, "words are no addresses");
    // Without the ConfigMap.
    let world = World::new(settings(), shop(&[("deny-list", "patterns/office")]));
    assert!(world.access().closed, "nobody knows whom to refuse");
    assert_eq!(world.codes(), ["pattern-file-not-found"]);
}

#[test]
fn what_guards_and_is_not_valid_closes_the_path() {
    for (key, value) in [("allow-list", "10.0.0.0/33"), ("deny-list", ""), ("auth-type", "digest")] {
        let mut world = World::new(settings(), shop(&[(key, value)]));
        assert!(world.access().closed, "{key}");
        assert_eq!(world.codes(), ["value-invalid", "access-closed"], "{key}");
        world.put(shop(&[]));
        assert!(!world.access().closed, "{key}");
        // What the Ingress says counts, even when it is wrong and the ConfigMap is right.
        world.put(vec![config_map(&[("allow-list", "10.0.0.0/8")])]);
        world.put(shop(&[(key, value)]));
        assert!(world.access().closed, "{key}");
        world.put(vec![config_map(&[(key, value)])]);
        world.put(shop(&[]));
        assert!(world.access().closed, "{key} of the ConfigMap");
    }
    let world = World::new(settings(), shop(&[("max-body-size", "1 pound"), ("rate-limit-requests", "x")]));
    assert_eq!(world.access(), Access::default(), "what guards nothing leaves the path as it is");
}

#[test]
fn passwords_come_from_a_secret_of_the_own_namespace() {
    let keys = [("auth-type", "basic-auth"), ("auth-secret", "users")];
    let mut world = World::new(settings(), shop(&keys));
    assert!(world.access().closed);
    assert_eq!(world.codes(), ["secret-not-found"]);
    world.put(vec![Object::Secret(secret_with("shop/users", &[("ann", "$apr1$x$y")]))]);
    assert!(world.access().closed);
    assert_eq!(world.codes(), ["credentials-invalid"]);
    world.put(vec![Object::Secret(secret_with("shop/users", &[("ann", "$apr1$x$y"), ("bob", HASH)]))]);
    let access = world.access();
    assert_eq!(access.login.as_ref().unwrap().realm.as_ref(), "Protected Content");
    assert!(!access.closed);
    assert_eq!(world.codes(), ["credentials-invalid"]);
    let said = world.translator.problems().next().unwrap().to_string();
    assert!(said.contains("`ann`") && !said.contains("$x$y"), "{said}");
    world.put(vec![Object::Secret(secret_with("shop/users", &[("ann", HASH), ("bob", HASH)]))]);
    assert_eq!(world.access(), access, "other users are no other backend");
    let needs = &world.translator.model().global.needs;
    assert!(matches!(needs.first(), Some(Need::Users(users)) if users.hashes.len() == 2));
    assert!(!format!("{:?}", world.translator.model()).contains("abc"), "hashes are not printed");
    // Elsewhere.
    world.put(shop(&[("auth-type", "basic-auth"), ("auth-secret", "other/users")]));
    assert!(world.access().closed);
    assert_eq!(world.codes(), ["secret-forbidden"]);
    world.put(vec![Object::Secret(secret_with("other/users", &[("ann", HASH)]))]);
    world.put(vec![config_map(&[("auth-secret", "other/users")])]);
    world.put(shop(&[("auth-type", "basic-auth")]));
    assert!(world.access().login.is_some() && world.codes().is_empty(), "the ConfigMap may say so");
    world.put(vec![config_map(&[])]);
    assert!(world.access().closed, "nobody names users");
    world.put(shop(&[("auth-secret", "users")]));
    assert_eq!((world.access(), world.codes()), (Access::default(), vec!["key-ineffective"]));
}

#[test]
fn replicas_share_a_rate_limit() {
    let settings = Settings { publish_service: Some(name("outrigger/outrigger")), ..settings() };
    let mut world = World::new(settings, shop(&[("rate-limit-requests", "5"), ("rate-limit-period", "1m")]));
    let limit = world.access().rate_limit.unwrap();
    assert_eq!((limit.period, limit.size, limit.status), (60_000, 102_400, 403));
    let value = |world: &World| world.translator.model().values.get(&limit.key).unwrap().to_string();
    assert_eq!(value(&world), "5");
    for (endpoints, share) in [(&["10.0.0.1", "10.0.0.2", "10.0.0.3!"] as &[&str], "3"), (&["10.0.0.1"], "5")]
    {
        world.put(vec![slice("outrigger/outrigger-1", "outrigger", &["80"], endpoints)]);
        assert_eq!(value(&world), share);
    }
    let many: Vec<String> = (1..=9).map(|i| format!("10.0.0.{i}")).collect();
    let many: Vec<&str> = many.iter().map(AsRef::as_ref).collect();
    world.put(vec![slice("outrigger/outrigger-1", "outrigger", &["80"], &many)]);
    assert_eq!(value(&world), "1");
    // The ConfigMap's limit is one for all.
    world.put(vec![config_map(&[("rate-limit-requests", "100")])]);
    world.put(shop(&[("max-body-size", "1m")]));
    assert_eq!(world.access().rate_limit.unwrap().key.as_ref(), "rate-limit|configmap/outrigger/config");
    assert_eq!(world.translator.model().values.size(), 1);
}

#[test]
fn a_bad_origin_does_not_become_all_of_them() {
    let world =
        World::new(settings(), shop(&[("cors-enable", "true"), ("cors-allow-origin", "https://a b!")]));
    assert!(world.access().cors.is_none());
    let world = World::new(settings(), shop(&[("cors-enable", "true"), ("cors-allow-credentials", "true")]));
    assert_eq!(world.codes(), ["key-ineffective"]);
    let cors = world.access().cors.unwrap();
    assert!(cors.origins.is_none() && !cors.preflight && cors.max_age == 5);
    let keys = [("cors-enable", "true"), ("auth-type", "basic-auth"), ("auth-secret", "users")];
    let mut world = World::new(settings(), shop(&keys));
    world.put(vec![Object::Secret(secret_with("shop/users", &[("ann", HASH)]))]);
    assert!(world.access().cors.unwrap().preflight, "browsers send no password with preflight requests");
}
