//! A model that no Ingress could make, and the parsing of hosts.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::*;
use crate::cluster::{Kind, ObjectName, Origin};
use crate::model::{Global, Listeners, Route};

fn model(routes: impl IntoIterator<Item = Route>) -> Model {
    let listeners = Listeners {
        ipv4: Some(Ipv4Addr::UNSPECIFIED),
        ipv6: None,
        http: Some(8080),
        https: Some(8443),
        stats: 1024,
        healthz: 1042,
    };
    let routes = routes.into_iter().map(|route| (route.key.clone(), Arc::new(route))).collect();
    Model { routes, ..Model::new(Global::new(listeners, 10), bytes::Bytes::new()) }
}

fn candidate(conditions: &[Condition], filters: &[Filter], split: &[(u32, &str)]) -> Candidate {
    Candidate {
        conditions: conditions.to_vec(),
        filters: filters.to_vec(),
        split: split
            .iter()
            .map(|(weight, name)| Weighted { weight: *weight, backend: BackendName::parsed(name) })
            .collect(),
        origin: Origin::object(Kind::Ingress, ObjectName::new("a", "x")),
    }
}

fn key(host: HostMatch, path: PathMatch) -> RouteKey {
    RouteKey { table: Table::named("gw1"), host, path }
}

fn request<'a>(host: &'a str, path: &'a str) -> Request<'a> {
    Request {
        table: Table::named("gw1"),
        host,
        path,
        query: "",
        method: "GET",
        headers: &[],
        tls: false,
        judged: &[],
        draw: 0,
    }
}

fn backend(model: &Model, request: &Request<'_>) -> String {
    match resolve(model, request).outcome {
        Outcome::Backend(name) => name.as_str().to_owned(),
        Outcome::RedirectToHttps(status, _) => format!("redirect {status}"),
    }
}

#[test]
fn candidates_with_conditions_splits_and_filters() {
    let canary = Condition::Header("x-canary".into(), "yes".into());
    let post = Condition::Method("POST".into());
    let query = Condition::Query("v".into(), "2".into());
    let shop = Route {
        key: key(HostMatch::Exact("shop.org".into()), PathMatch::Prefix("/cart".into())),
        candidates: vec![
            candidate(&[canary.clone(), post], &[], &[(1, "canary_post")]),
            candidate(&[canary], &[], &[(1, "canary")]),
            candidate(&[query], &[Filter::RedirectToHttps { status: 308, port: None }], &[(1, "second")]),
            candidate(&[], &[], &[(99, "stable"), (0, "never"), (1, "new")]),
        ],
    };
    let only_if = Route {
        key: key(HostMatch::Exact("shop.org".into()), PathMatch::Exact("/odd".into())),
        candidates: vec![candidate(&[Condition::Method("PUT".into())], &[], &[(1, "put")])],
    };
    let nothing = Route {
        key: key(HostMatch::Exact("shop.org".into()), PathMatch::Exact("/none".into())),
        candidates: vec![candidate(&[], &[], &[(0, "x")])],
    };
    let default = Route {
        key: RouteKey::default_of(Table::named("gw1")),
        candidates: vec![candidate(&[], &[], &[(1, "default")])],
    };
    let model = model([shop, only_if, nothing, default]);

    let plain = request("shop.org", "/cart/1");
    let shares: BTreeMap<String, usize> = (0..1000).fold(BTreeMap::new(), |mut shares, draw| {
        *shares.entry(backend(&model, &Request { draw, ..plain.clone() })).or_default() += 1;
        shares
    });
    assert_eq!(shares, BTreeMap::from([("stable".to_owned(), 990), ("new".to_owned(), 10)]));

    let headers = [("X-Canary", "yes")];
    assert_eq!(backend(&model, &Request { headers: &headers, ..plain.clone() }), "canary");
    assert_eq!(
        backend(&model, &Request { headers: &headers, method: "POST", ..plain.clone() }),
        "canary_post"
    );
    assert_eq!(backend(&model, &Request { query: "a=1&v=2", ..plain.clone() }), "redirect 308");
    assert_eq!(backend(&model, &Request { query: "v=2", tls: true, ..plain }), "second");
    assert_eq!(backend(&model, &request("shop.org", "/odd")), "default", "no candidate holds");
    assert_eq!(backend(&model, &request("shop.org", "/none")), "fixed_500", "no share has a weight");
    assert_eq!(backend(&model, &request("else.org", "/")), "default");
    let elsewhere = Request { table: Table::ingress(), ..request("shop.org", "/cart") };
    assert_eq!(backend(&model, &elsewhere), "fixed_404", "another table");
}

#[test]
fn a_known_host_does_not_fall_through() {
    let to = |host, path: &str, name: Option<&str>| Route {
        key: key(host, PathMatch::Prefix(path.into())),
        candidates: name.map(|name| candidate(&[], &[], &[(1, name)])).into_iter().collect(),
    };
    let model = model([
        to(HostMatch::Exact("a.org".into()), "", None),
        to(HostMatch::Exact("a.org".into()), "/x", Some("exact")),
        to(HostMatch::Wildcard("org".into()), "", Some("wildcard")),
        to(HostMatch::Any, "", Some("any")),
        to(HostMatch::Default, "", Some("default")),
    ]);
    for (host, path, expected) in [
        ("a.org", "/x/y", "exact"),
        ("a.org", "/xy", "default"),
        ("b.org", "/", "wildcard"),
        ("c.b.org", "/", "any"),
        ("[::1]", "/", "any"),
    ] {
        assert_eq!(backend(&model, &request(host, path)), expected, "{host}{path}");
    }
    let decision = resolve(&model, &request("a.org", "/xy"));
    assert_eq!(decision.matched.map(|k| k.to_string()).as_deref(), Some("a.org/"));
    assert_eq!(decision.key, Some(RouteKey::default_of(Table::named("gw1"))));
}

#[test]
fn hosts() {
    for (raw, host) in [
        ("Foo.Bar", "foo.bar"),
        ("foo.bar:8080", "foo.bar"),
        ("foo.bar.", "foo.bar"),
        ("foo.bar.:80", "foo.bar"),
        ("[2001:DB8::1]:8443", "[2001:db8::1]"),
        ("[::1]", "[::1]"),
        ("", ""),
        (":80", ""),
    ] {
        assert_eq!(normalise_host(raw), host, "{raw}");
    }
}
