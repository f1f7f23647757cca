//! A slow matcher, written from the documentation of Ingress on the objects themselves, held against `resolve` on the model.
//!
//! It knows neither keys nor conflicts: it looks at every path of every Ingress for every request.

use std::cmp::Reverse;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::build::{ingress, service, settings};
use super::translated;
use crate::cluster::{Ingress, IngressBackend, Object, PathType};
use crate::model::{BackendName, Outcome, Request, Table, resolve};

const RULE_HOSTS: [&str; 7] = ["foo.bar", "FOO.bar", "*.foo.bar", "x.foo.bar", "*.bar", "under_score", ""];
const RULE_PATHS: [&str; 12] =
    ["/", "/a", "/a/", "/a/b", "/a/b/", "/ab", "/a//b", "//", "/A", "no", "/%61", "-"];
const TYPES: [&str; 3] = ["Exact", "Prefix", "ImplementationSpecific"];
const REQUEST_HOSTS: [&str; 12] = [
    "foo.bar",
    "Foo.Bar:8080",
    "foo.bar.",
    "x.foo.bar",
    "y.foo.bar:80",
    "a.x.foo.bar",
    "z.bar",
    "bar",
    "other",
    "",
    "[::1]:80",
    ".foo.bar",
];
const REQUEST_PATHS: [&str; 13] = [
    "/",
    "/a",
    "/a/",
    "/a/b",
    "/a/b/",
    "/a/b/c",
    "/ab",
    "/a//b",
    "//",
    "/A",
    "*",
    "/.well-known/acme-challenge/x",
    "/x/a",
];

/// How the host of a rule suits a host: the smaller the better.
fn host_rank(rule: Option<&str>, host: &str) -> Option<u8> {
    let Some(rule) = rule.map(str::to_lowercase).filter(|rule| !rule.is_empty()) else { return Some(2) };
    if rule == host {
        return Some(0);
    }
    // "a wildcard covers one label": `*.foo.com` matches `bar.foo.com`, not `baz.bar.foo.com`, not `foo.com`.
    let suffix = rule.strip_prefix('*')?;
    let label = host.strip_suffix(suffix)?;
    (!label.is_empty() && !label.contains('.')).then_some(1)
}

/// How the path of a rule suits a path: exact before prefix, long before short.
fn path_rank(path: Option<&str>, path_type: PathType, request: &str) -> Option<(u8, Reverse<usize>)> {
    if path_type == PathType::Exact {
        return (path == Some(request)).then_some((0, Reverse(0)));
    }
    let elements: Vec<&str> = path.unwrap_or("/").trim_end_matches('/').split('/').skip(1).collect();
    let wanted: Vec<&str> = request.split('/').skip(1).collect();
    wanted.starts_with(&elements).then_some((1, Reverse(elements.len())))
}

fn is_valid(host: Option<&str>) -> bool {
    host.is_none_or(|host| !host.contains('_'))
}

/// The name of the Service that serves the request, and whether the request is to be redirected first.
fn naive(ingresses: &[Ingress], host: &str, path: &str) -> Option<(String, bool)> {
    let mut oldest_first: Vec<&Ingress> = ingresses.iter().collect();
    oldest_first.sort_by_key(|i| (i.created, i.name.clone()));
    let service = |ingress: &Ingress, backend: &IngressBackend| match backend {
        IngressBackend::Service { name, .. } => format!("{}_{name}_80", ingress.name.namespace),
        _ => unreachable!("only Services are generated"),
    };
    let rules = || {
        oldest_first
            .iter()
            .flat_map(|ingress| ingress.rules.iter().map(move |rule| (*ingress, rule)))
            .filter(|(_, r)| is_valid(r.host.as_deref()))
    };
    let best_host = rules().filter_map(|(_, rule)| host_rank(rule.host.as_deref(), host)).min();
    let mut best = None;
    let suits =
        |host_of_rule: Option<&str>| best_host.is_some() && host_rank(host_of_rule, host) == best_host;
    for (ingress, rule) in rules().filter(|(_, rule)| suits(rule.host.as_deref())) {
        let mut offers: Vec<(Option<&str>, PathType, &IngressBackend)> =
            rule.paths.iter().map(|p| (p.path.as_deref(), p.path_type, &p.backend)).collect();
        if offers.is_empty() {
            offers.extend(ingress.default_backend.iter().map(|backend| (None, PathType::Prefix, backend)));
        } else {
            offers.retain(|(path, path_type, _)| match path {
                Some(path) => path.starts_with('/'),
                None => *path_type == PathType::ImplementationSpecific,
            });
        }
        for (offered, path_type, backend) in offers {
            let Some(rank) = path_rank(offered, path_type, path) else { continue };
            if best.as_ref().is_none_or(|(known, _)| rank < *known) {
                best = Some((rank, (service(ingress, backend), redirects(ingress, rule.host.as_deref()))));
            }
        }
    }
    best.map(|(_, answer)| answer).or_else(|| {
        let first = oldest_first.iter().find_map(|i| i.default_backend.as_ref().map(|backend| (*i, backend)));
        first.map(|(ingress, backend)| (service(ingress, backend), redirects(ingress, None)))
    })
}

fn redirects(ingress: &Ingress, host: Option<&str>) -> bool {
    if let Some(value) = ingress.annotations.get("haproxy.org/ssl-redirect") {
        return &**value == "true";
    }
    let Some(host) = host.map(str::to_lowercase) else { return false };
    let hosts_of_rules = || ingress.rules.iter().filter_map(|r| r.host.clone()).collect::<Vec<_>>();
    ingress.tls.iter().any(|tls| {
        let hosts = if tls.hosts.is_empty() { hosts_of_rules() } else { tls.hosts.clone() };
        hosts.iter().any(|tls| matches!(host_rank(Some(tls), &host), Some(0 | 1)))
    })
}

/// Age, default backend, rules with paths, hosts of each `tls`, `ssl-redirect`.
type Sketch = (
    i64,
    Option<&'static str>,
    Vec<(&'static str, Vec<String>)>,
    Vec<Vec<&'static str>>,
    Option<&'static str>,
);

fn built(i: usize, (created, default, rules, tls, redirect): Sketch) -> Ingress {
    let mut built =
        ingress(&format!("{}/i{i}", if i.is_multiple_of(2) { "b" } else { "a" })).created(created);
    if let Some(default) = default {
        built = built.default_backend(&format!("{default}:80"));
    }
    if let Some(redirect) = redirect {
        built = built.annotation("haproxy.org/ssl-redirect", redirect);
    }
    for (host, paths) in rules {
        built = built.rule(host, &paths.iter().map(String::as_str).collect::<Vec<_>>());
    }
    for hosts in tls {
        built = built.tls(&hosts, "");
    }
    built.0
}

fn some_ingresses() -> impl Strategy<Value = Vec<Ingress>> {
    let service = || select(vec!["s0", "s1", "s2", "s3", "s4", "s5"]);
    let path = (select(&RULE_PATHS[..]), select(&TYPES[..]), service())
        .prop_map(|(p, t, s)| format!("{p} {t} {s}:80"));
    let rule = (select(&RULE_HOSTS[..]), vec(path, 0..4));
    let tls = vec(select(vec!["foo.bar", "*.foo.bar", "*.bar", "Z.bar"]), 0..3);
    let redirect = option::weighted(0.2, select(vec!["true", "false"]));
    let one = (0i64..3, option::weighted(0.3, service()), vec(rule, 0..4), vec(tls, 0..2), redirect);
    vec(one, 1..6).prop_map(|many| many.into_iter().enumerate().map(|(i, sketch)| built(i, sketch)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_model_answers_like_the_documentation(ingresses in some_ingresses()) {
        let services = ["a", "b"].into_iter().flat_map(|ns| (0..6).map(move |i| service(&format!("{ns}/s{i}"), &["80"])));
        let objects = ingresses.iter().cloned().map(Object::Ingress).chain(services);
        let translator = translated(settings(), objects);
        for raw in REQUEST_HOSTS {
            let host = raw.to_lowercase();
            let host = host.strip_suffix(":8080").or_else(|| host.strip_suffix(":80")).unwrap_or(&host);
            let host = host.strip_suffix('.').unwrap_or(host);
            for path in REQUEST_PATHS {
                for tls in [false, true] {
                    let request = Request {
                        table: Table::ingress(), host: raw, path, query: "", method: "GET", headers: &[], tls, judged: &[], draw: 0,
                    };
                    let exempt = tls || path.starts_with("/.well-known/acme-challenge/");
                    let expected = match naive(&ingresses, host, path) {
                        Some((_, true)) if !exempt => Outcome::RedirectToHttps(302, None),
                        Some((backend, _)) => Outcome::Backend(BackendName::parsed(&backend)),
                        None => Outcome::Backend(BackendName::fixed(404)),
                    };
                    let decision = resolve(translator.model(), &request);
                    prop_assert_eq!(decision.outcome, expected, "{} {}", raw, path);
                }
            }
        }
    }
}
