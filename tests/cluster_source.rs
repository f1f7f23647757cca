//! The cluster source on a real kube-apiserver and etcd.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends")]

#[path = "support/apiserver.rs"]
mod apiserver;
#[path = "cluster_source/objects.rs"]
mod objects;
#[path = "cluster_source/observer.rs"]
mod observer;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::api::networking::v1::{Ingress, IngressClass};
use kube::Api;
use outrigger::cluster::{Kind, ObjectName};
use outrigger::problem::Code;
use outrigger::watch::{ClusterOptions, Interest, cluster};
use serde_json::json;
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use apiserver::ApiServer;
use objects::{allow, apply, delete, ingress, names, namespaces, secret, service, set, slice};
use observer::Observer;

/// One server for all tests of this file, one test at a time. It ends with the process.
static SERVER: Mutex<Option<ApiServer>> = Mutex::const_new(None);

async fn server() -> MappedMutexGuard<'static, ApiServer> {
    let mut server = SERVER.lock().await;
    if server.is_none() {
        *server = Some(ApiServer::start().await);
    }
    MutexGuard::map(server, |server| server.as_mut().unwrap())
}

#[tokio::test]
async fn all_kinds_are_listed_and_changes_follow() {
    let server = server().await;
    let client = server.client().await;
    namespaces(&client, &["kinds"]).await;
    let ingresses = Api::<Ingress>::namespaced(client.clone(), "kinds");
    let slices = Api::<EndpointSlice>::namespaced(client.clone(), "kinds");
    let config_maps = Api::<ConfigMap>::namespaced(client.clone(), "kinds");
    apply(&ingresses, ingress("web", "foo.bar")).await;
    apply(&Api::<Service>::namespaced(client.clone(), "kinds"), service("web")).await;
    apply(&slices, slice("web-1", "web", "10.0.0.1")).await;
    apply(&Api::<Secret>::namespaced(client.clone(), "kinds"), secret("cert", "old")).await;
    for name in ["settings", "unrelated"] {
        apply(&config_maps, json!({"metadata": {"name": name}, "data": {"key": "value"}})).await;
    }
    let controller =
        json!({"metadata": {"name": "kinds"}, "spec": {"controller": "outrigger.dev/ingress-controller"}});
    apply(&Api::<IngressClass>::all(client.clone()), controller).await;

    let options = ClusterOptions { config_maps: names([("kinds", "settings")]), ..ClusterOptions::default() };
    let mut seen = Observer::of(cluster(client.clone(), options));
    assert!(seen.source.kinds.contains(&Kind::ConfigMap));
    seen.care(Interest::Add(names([("kinds", "cert")])));
    seen.until("all kinds are listed", |seen| seen.listed == seen.source.kinds).await;
    let web = ObjectName::new("kinds", "web");
    let found = seen.snapshot.ingresses.get(&web).unwrap();
    assert_eq!(found.rules[0].host.as_deref(), Some("foo.bar"));
    assert!(found.created > 0);
    assert_eq!(found.annotations.keys().map(AsRef::as_ref).collect::<Vec<_>>(), ["haproxy.org/x"]);
    assert_eq!(seen.snapshot.services.get(&web).unwrap().ports[0].port, 80);
    assert_eq!(seen.addresses(&web), ["10.0.0.1"]);
    assert_eq!(seen.secret("kinds", "cert").as_deref(), Some("old"));
    assert!(seen.snapshot.classes.contains_key("kinds"));
    assert_eq!(seen.snapshot.names(Kind::ConfigMap), [ObjectName::new("kinds", "settings")]);
    assert_eq!(seen.largest_relists, 1, "each list is one change");

    apply(&ingresses, ingress("web", "foo.baz")).await;
    seen.until("the host changes", |seen| {
        seen.snapshot.ingresses.get(&web).unwrap().rules[0].host.as_deref() == Some("foo.baz")
    })
    .await;
    apply(&slices, slice("web-2", "web", "10.0.0.2")).await;
    seen.until("an address comes", |seen| seen.addresses(&web) == ["10.0.0.1", "10.0.0.2"]).await;
    delete(&slices, "web-1").await;
    seen.until("an address goes", |seen| seen.addresses(&web) == ["10.0.0.2"]).await;
    apply(&config_maps, json!({"metadata": {"name": "unrelated"}, "data": {"key": "new"}})).await;
    apply(&config_maps, json!({"metadata": {"name": "settings"}, "data": {"key": "new"}})).await;
    let settings = ObjectName::new("kinds", "settings");
    seen.until("the ConfigMap changes", |seen| {
        seen.snapshot.config_maps.get(&settings).unwrap().data.get("key").map(AsRef::as_ref) == Some("new")
    })
    .await;
    delete(&config_maps, "settings").await;
    seen.until("the ConfigMap goes", |seen| !seen.snapshot.config_maps.contains_key(&settings)).await;
    delete(&ingresses, "web").await;
    seen.until("the Ingress goes", |seen| !seen.snapshot.ingresses.contains_key(&web)).await;
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    let counters = seen.source.counters.of(Kind::Ingress);
    assert_eq!(counters.relists.load(Ordering::Relaxed), 1);
    assert!(counters.events.load(Ordering::Relaxed) >= 2);
    assert_eq!(counters.errors.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_restart_of_the_api_server_empties_nothing() {
    let mut server = server().await;
    let client = server.client().await;
    namespaces(&client, &["restart"]).await;
    let ingresses = Api::<Ingress>::namespaced(client.clone(), "restart");
    apply(&ingresses, ingress("web", "one.example")).await;
    apply(&ingresses, ingress("away", "away.example")).await;
    let mut seen = Observer::of(cluster(client.clone(), ClusterOptions::default()));
    let (web, away) = (ObjectName::new("restart", "web"), ObjectName::new("restart", "away"));
    seen.until("it is listed", |seen| seen.listed.contains(&Kind::Ingress)).await;
    seen.keep(web.clone());

    server.stop();
    seen.until("the outage is noticed", |seen| {
        seen.source.counters.of(Kind::Ingress).errors.load(Ordering::Relaxed) >= 2
    })
    .await;
    server.resume().await;
    apply(&ingresses, ingress("web", "two.example")).await;
    delete(&ingresses, "away").await;
    seen.until("changes arrive again", |seen| {
        let web = seen.snapshot.ingresses.get(&web).unwrap();
        web.rules[0].host.as_deref() == Some("two.example") && !seen.snapshot.ingresses.contains_key(&away)
    })
    .await;
}

#[tokio::test]
async fn an_expired_watch_is_one_relist() {
    let mut server = server().await;
    let client = server.client().await;
    namespaces(&client, &["expiry"]).await;
    let ingresses = Api::<Ingress>::namespaced(client.clone(), "expiry");
    for name in ["a", "b", "c"] {
        apply(&ingresses, ingress(name, "one.example")).await;
    }
    let options = ClusterOptions { namespaces: Some(set(&["expiry"])), ..ClusterOptions::default() };
    let mut seen = Observer::of(cluster(client.clone(), options));
    seen.until("it is listed", |seen| seen.snapshot.ingresses.size() == 3).await;
    for name in ["a", "b", "c"] {
        seen.keep(ObjectName::new("expiry", name));
    }
    let relists = |seen: &Observer| seen.source.counters.of(Kind::Ingress).relists.load(Ordering::Relaxed);
    assert_eq!(relists(&seen), 1);
    // Other objects move the version on; then nobody remembers the one that the watch is at.
    for round in 0..50 {
        apply(
            &Api::<ConfigMap>::namespaced(client.clone(), "expiry"),
            json!({"metadata": {"name": "x"},
            "data": {"round": round.to_string()}}),
        )
        .await;
    }
    server.stop();
    server.compact();
    server.resume().await;
    seen.until("it is listed again", |seen| relists(seen) >= 2).await;
    apply(&ingresses, ingress("a", "two.example")).await;
    let a = ObjectName::new("expiry", "a");
    seen.until("changes arrive again", |seen| {
        seen.snapshot.ingresses.get(&a).unwrap().rules[0].host.as_deref() == Some("two.example")
    })
    .await;
}

#[tokio::test]
async fn a_refused_kind_freezes_and_recovers() {
    let mut server = server().await;
    let admin = server.client().await;
    let all = ["ingresses", "ingressclasses", "services", "endpointslices", "secrets"];
    let without_ingresses = ["ingressclasses", "services", "endpointslices", "secrets"];
    namespaces(&admin, &["refusal"]).await;
    let ingresses = Api::<Ingress>::namespaced(admin.clone(), "refusal");
    apply(&ingresses, ingress("web", "one.example")).await;
    allow(&admin, "user-a", &without_ingresses).await;

    let mut seen = Observer::of(cluster(server.client_of("user-a").await, ClusterOptions::default()));
    seen.care(Interest::Add(BTreeSet::new()));
    seen.until("the refusal is a problem", |seen| !seen.problems.is_empty() && seen.listed.len() == 4).await;
    assert!(!seen.listed.contains(&Kind::Ingress));
    let (origin, problems) = seen.problems.first_key_value().unwrap();
    assert_eq!(origin.to_string(), "Ingress *");
    assert_eq!(problems[0].code, Code::WatchRefused);
    assert!(problems[0].message.contains("cannot list resource \"ingresses\""), "{}", problems[0]);
    assert!(problems[0].hint.contains("`ingresses.networking.k8s.io`"), "{}", problems[0]);

    allow(&admin, "user-a", &all).await;
    let web = ObjectName::new("refusal", "web");
    seen.until("it recovers", |seen| seen.problems.is_empty() && seen.listed.contains(&Kind::Ingress)).await;
    assert!(seen.snapshot.ingresses.contains_key(&web));
    seen.keep(web.clone());

    // A refusal of a watch that runs is only noticed when it starts again.
    allow(&admin, "user-a", &without_ingresses).await;
    server.stop();
    server.resume().await;
    seen.until("the refusal is a problem again", |seen| !seen.problems.is_empty()).await;
    apply(&ingresses, ingress("web", "two.example")).await;
    allow(&admin, "user-a", &all).await;
    seen.until("it recovers again", |seen| {
        let web = seen.snapshot.ingresses.get(&web).unwrap();
        web.rules[0].host.as_deref() == Some("two.example") && seen.problems.is_empty()
    })
    .await;
}

#[tokio::test]
async fn classes_may_be_refused_where_a_role_cannot_grant_them() {
    let server = server().await;
    let admin = server.client().await;
    allow(&admin, "user-b", &["ingresses", "services", "endpointslices", "secrets"]).await;
    let options = ClusterOptions {
        classes_optional: true,
        namespaces: Some(set(&["default"])),
        ..ClusterOptions::default()
    };
    let mut seen = Observer::of(cluster(server.client_of("user-b").await, options));
    seen.care(Interest::Add(BTreeSet::new()));
    seen.until("everything counts as listed", |seen| seen.listed == seen.source.kinds).await;
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
}

#[tokio::test]
async fn only_secrets_that_matter_are_kept() {
    let server = server().await;
    let client = server.client().await;
    namespaces(&client, &["secrets", "elsewhere"]).await;
    let secrets = Api::<Secret>::namespaced(client.clone(), "secrets");
    let elsewhere = Api::<Secret>::namespaced(client.clone(), "elsewhere");
    for name in ["first", "second", "unrelated"] {
        apply(&secrets, secret(name, "old")).await;
        apply(&elsewhere, secret(name, "old")).await;
    }
    let options = ClusterOptions { namespaces: Some(set(&["secrets"])), ..ClusterOptions::default() };
    let mut seen = Observer::of(cluster(client.clone(), options));
    seen.until("the rest is listed", |seen| seen.listed.len() == 4).await;
    assert!(!seen.listed.contains(&Kind::Secret), "Secrets wait for the first interest");

    seen.care(Interest::Add(names([("secrets", "first"), ("secrets", "missing"), ("elsewhere", "first")])));
    seen.until("Secrets are listed", |seen| seen.listed.contains(&Kind::Secret)).await;
    assert_eq!(seen.secret("secrets", "first").as_deref(), Some("old"));
    assert_eq!(
        seen.secret("elsewhere", "first").as_deref(),
        Some("old"),
        "a flag may name another namespace"
    );

    seen.care(Interest::Add(names([
        ("secrets", "second"),
        ("secrets", "later"),
        ("elsewhere", "second"),
        ("secrets", "../configmaps/x"),
    ])));
    seen.until("what is added later is fetched", |seen| {
        seen.secret("secrets", "second").is_some() && seen.secret("elsewhere", "second").is_some()
    })
    .await;
    apply(&secrets, secret("later", "new")).await;
    seen.until("what is created later arrives", |seen| {
        seen.secret("secrets", "later").as_deref() == Some("new")
    })
    .await;
    apply(&secrets, secret("second", "new")).await;
    apply(&elsewhere, secret("second", "new")).await;
    seen.until("a fetched one is followed", |seen| {
        seen.secret("secrets", "second").as_deref() == Some("new")
            && seen.secret("elsewhere", "second").as_deref() == Some("new")
    })
    .await;
    delete(&secrets, "first").await;
    delete(&elsewhere, "first").await;
    seen.until("a deleted one goes", |seen| {
        seen.secret("secrets", "first").is_none() && seen.secret("elsewhere", "first").is_none()
    })
    .await;
    seen.care(Interest::Release(names([("secrets", "second"), ("elsewhere", "second")])));
    seen.until("a released one goes", |seen| {
        seen.secret("secrets", "second").is_none() && seen.secret("elsewhere", "second").is_none()
    })
    .await;
    apply(&secrets, secret("second", "newer")).await;
    apply(&secrets, secret("unrelated", "newer")).await;
    apply(&secrets, secret("later", "newer")).await;
    seen.until("the others are followed still", |seen| {
        seen.secret("secrets", "later").as_deref() == Some("newer")
    })
    .await;
    let ever: Vec<String> = seen.secrets_ever.iter().map(ToString::to_string).collect();
    assert_eq!(
        ever,
        ["elsewhere/first", "elsewhere/second", "secrets/first", "secrets/later", "secrets/second"]
    );
    assert!(seen.secret("secrets", "second").is_none());
}

#[tokio::test]
async fn namespaces_are_chosen_by_lists() {
    let server = server().await;
    let client = server.client().await;
    let all = ["chosen-a", "chosen-b", "chosen-c"];
    namespaces(&client, &all).await;
    for namespace in all {
        let api = Api::<Ingress>::namespaced(client.clone(), namespace);
        apply(&api, ingress("web", "one.example")).await;
        apply(&Api::<Service>::namespaced(client.clone(), namespace), service("web")).await;
    }
    apply(&Api::<EndpointSlice>::namespaced(client.clone(), "chosen-c"), slice("web-1", "web", "10.0.0.3"))
        .await;
    let seen_in = |seen: &Observer, kind| -> Vec<String> {
        let names = seen.snapshot.names(kind).into_iter().map(|name| name.namespace.to_string());
        names.filter(|namespace| all.contains(&namespace.as_str())).collect()
    };
    let blacklist = BTreeSet::from(["chosen-b".to_owned()]);
    let flagged = names([("chosen-c", "web")]);
    for (namespaces, blacklist, services, expected, expected_services) in [
        (None, BTreeSet::new(), BTreeSet::new(), &all[..], &all[..]),
        (None, blacklist.clone(), BTreeSet::new(), &["chosen-a", "chosen-c"], &["chosen-a", "chosen-c"]),
        (Some(set(&["chosen-a", "chosen-b"])), BTreeSet::new(), BTreeSet::new(), &all[..2], &all[..2]),
        (
            Some(set(&["chosen-a", "chosen-b"])),
            blacklist.clone(),
            flagged,
            &["chosen-a"],
            &["chosen-a", "chosen-c"],
        ),
        (Some(set(&["chosen-b"])), blacklist.clone(), BTreeSet::new(), &[], &[]),
    ] {
        let options = ClusterOptions { namespaces, blacklist, services, ..ClusterOptions::default() };
        let mut seen = Observer::of(cluster(client.clone(), options.clone()));
        seen.care(Interest::Add(BTreeSet::new()));
        seen.until("all is listed", |seen| seen.listed == seen.source.kinds).await;
        assert_eq!(seen_in(&seen, Kind::Ingress), expected, "{options:?}");
        assert_eq!(seen_in(&seen, Kind::Service), expected_services, "{options:?}");
        if expected_services.contains(&"chosen-c") {
            let web = ObjectName::new("chosen-c", "web");
            assert_eq!(seen.addresses(&web), ["10.0.0.3"], "{options:?}");
        }
    }
    // What comes later is chosen by the same lists.
    let options = ClusterOptions { blacklist, ..ClusterOptions::default() };
    let mut seen = Observer::of(cluster(client.clone(), options));
    seen.until("it is listed", |seen| seen.listed.contains(&Kind::Ingress)).await;
    for namespace in ["chosen-b", "chosen-c"] {
        apply(&Api::<Ingress>::namespaced(client.clone(), namespace), ingress("new", "new.example")).await;
    }
    seen.until("the other one arrives", |seen| {
        seen.snapshot.ingresses.contains_key(&ObjectName::new("chosen-c", "new"))
    })
    .await;
    assert_eq!(seen_in(&seen, Kind::Ingress), ["chosen-a", "chosen-c", "chosen-c"]);
}
