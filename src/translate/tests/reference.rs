//! A slow matcher, written from the documentation of Ingress on the objects themselves, held against `resolve` on the model.
//!
//! It knows neither keys nor conflicts: it looks at every path of every Ingress for every request.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::build::{ingress, service, settings};
use super::translated;
use crate::cluster::{Ingress, IngressBackend, Object, PathType};
use crate::model::{BackendName, Outcome, Request, Table, resolve};

const RULE_HOSTS: [&str; 7] = ["foo.bar", "FOO.bar", "*.foo.bar", "x.foo.bar", "*.bar", "under_score", ""];
const RULE_PATHS: [&str; 15] = [
    "/",
    "/a",
    "/a/",
    "/a/b",
    "/a/b/",
    "/ab",
    "/a//b",
    "//",
    "/A",
    "no",
    "/%61",
    "-",
    "/a.*",
    "/[aA]/?b$",
    "/(x|ab)",
];
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

/// How the path of a rule suits a path: exact before prefix before regular expression before root, long before short.
fn path_rank(
    path: Option<&str>,
    path_type: PathType,
    regex: bool,
    request: &str,
) -> Option<(u8, Reverse<usize>, String)> {
    if path_type == PathType::Exact {
        return (path == Some(request)).then_some((0, Reverse(0), String::new()));
    }
    if let (PathType::ImplementationSpecific, true, Some(path)) = (path_type, regex, path) {
        return matches(path, request).then(|| (2, Reverse(path.len()), path.to_owned()));
    }
    let elements: Vec<&str> = path.unwrap_or("/").trim_end_matches('/').split('/').skip(1).collect();
    let wanted: Vec<&str> = request.split('/').skip(1).collect();
    let kind = if elements.is_empty() { 3 } else { 1 };
    wanted.starts_with(&elements).then_some((kind, Reverse(elements.len()), String::new()))
}

/// Whether a regular expression matches a path from its start on.
fn matches(regex: &str, path: &str) -> bool {
    static MATCHES: LazyLock<BTreeSet<(&str, &str)>> = LazyLock::new(|| {
        let regexes = RULE_PATHS.into_iter().filter(|regex| regex.starts_with('/'));
        let matches = regexes.flat_map(|regex| {
            let compiled = regex::Regex::new(&format!("^(?:{regex})")).unwrap();
            REQUEST_PATHS
                .into_iter()
                .filter(move |path| compiled.is_match(path))
                .map(move |path| (regex, path))
        });
        matches.collect()
    });
    MATCHES.contains(&(regex, path))
}

fn says(ingress: &Ingress, key: &str) -> Option<String> {
    ingress.annotations.get(format!("haproxy.org/{key}").as_str()).map(ToString::to_string)
}

fn is_canary(ingress: &Ingress) -> bool {
    says(ingress, "canary").is_some()
}

fn has_regexes(ingress: &Ingress) -> bool {
    says(ingress, "path-type").is_some()
}

/// What a path of a rule is, so that two are the same or not.
fn identity(path: Option<&str>, path_type: PathType, regex: bool) -> (u8, String) {
    match (path_type, path) {
        (PathType::Exact, path) => (0, path.unwrap_or_default().to_owned()),
        (PathType::ImplementationSpecific, Some(path)) if regex => (1, path.to_owned()),
        (_, path) => (2, path.unwrap_or_default().trim_end_matches('/').to_owned()),
    }
}

/// The canary of a path of an Ingress that takes the request: the oldest with the same host and path, in its namespace.
fn canary_of(
    oldest_first: &[&Ingress],
    main: &Ingress,
    host: Option<&str>,
    path: &(u8, String),
    header: Option<&str>,
) -> Option<String> {
    let same_host = |other: Option<&str>| other.map(str::to_lowercase) == host.map(str::to_lowercase);
    let canaries = oldest_first.iter().filter(|i| is_canary(i) && i.name.namespace == main.name.namespace);
    let (canary, backend) = canaries
        .flat_map(|i| i.rules.iter().map(move |rule| (*i, rule)))
        .filter(|(_, rule)| same_host(rule.host.as_deref()))
        .find_map(|(i, rule)| {
            let mut paths: Vec<_> = rule
                .paths
                .iter()
                .filter(|p| is_offer(p.path.as_deref(), p.path_type))
                .map(|p| (identity(p.path.as_deref(), p.path_type, has_regexes(i)), &p.backend))
                .collect();
            if rule.paths.is_empty() {
                paths.extend(i.default_backend.iter().map(|backend| ((2, String::new()), backend)));
            }
            paths.into_iter().find(|(found, _)| found == path).map(|(_, backend)| (i, backend))
        })?;
    let takes = match header {
        Some("always") => true,
        Some("never") => false,
        _ => says(canary, "canary-weight").as_deref() == Some("100"),
    };
    takes.then(|| backend_of(canary, backend))
}

fn backend_of(ingress: &Ingress, backend: &IngressBackend) -> String {
    match backend {
        IngressBackend::Service { name, .. } => format!("{}_{name}_80", ingress.name.namespace),
        _ => unreachable!("only Services are generated"),
    }
}

/// Whether a path can be one.
fn is_offer(path: Option<&str>, path_type: PathType) -> bool {
    match path {
        Some(path) => path.starts_with('/'),
        None => path_type == PathType::ImplementationSpecific,
    }
}

fn is_valid(host: Option<&str>) -> bool {
    host.is_none_or(|host| !host.contains('_'))
}

/// The name of the Service that serves the request, and whether the request is to be redirected first.
fn naive(ingresses: &[Ingress], host: &str, path: &str, header: Option<&str>) -> Option<(String, bool)> {
    let mut all: Vec<&Ingress> = ingresses.iter().collect();
    all.sort_by_key(|i| (i.created, i.name.clone()));
    let mut oldest_first: Vec<&Ingress> = ingresses.iter().filter(|i| !is_canary(i)).collect();
    oldest_first.sort_by_key(|i| (i.created, i.name.clone()));
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
            offers.retain(|(path, path_type, _)| is_offer(*path, *path_type));
        }
        for (offered, path_type, backend) in offers {
            let regex = has_regexes(ingress);
            let Some(rank) = path_rank(offered, path_type, regex, path) else { continue };
            if best.as_ref().is_none_or(|(known, _)| rank < *known) {
                let identity = identity(offered, path_type, regex);
                let canary = canary_of(&all, ingress, rule.host.as_deref(), &identity, header);
                let answers = canary.unwrap_or_else(|| backend_of(ingress, backend));
                best = Some((rank, (answers, redirects(ingress, rule.host.as_deref()))));
            }
        }
    }
    best.map(|(_, answer)| answer).or_else(|| {
        let first = oldest_first.iter().find_map(|i| i.default_backend.as_ref().map(|backend| (*i, backend)));
        first.map(|(ingress, backend)| (backend_of(ingress, backend), redirects(ingress, None)))
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
    (Option<&'static str>, Option<u8>, bool),
);

fn built(i: usize, (created, default, rules, tls, (redirect, canary, regex)): Sketch) -> Ingress {
    let mut built =
        ingress(&format!("{}/i{i}", if i.is_multiple_of(2) { "b" } else { "a" })).created(created);
    if let Some(default) = default {
        built = built.default_backend(&format!("{default}:80"));
    }
    if let Some(redirect) = redirect {
        built = built.annotation("haproxy.org/ssl-redirect", redirect);
    }
    if let Some(weight) = canary {
        let weight = weight.to_string();
        let keys = [("canary", "true"), ("canary-by-header", "X-Canary"), ("canary-weight", weight.as_str())];
        for (key, value) in keys {
            built = built.annotation(&format!("haproxy.org/{key}"), value);
        }
    }
    if regex {
        built = built.annotation("haproxy.org/path-type", "regex");
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
    let keys = (redirect, option::weighted(0.2, select(vec![0, 100])), prop::bool::weighted(0.3));
    let one = (0i64..3, option::weighted(0.3, service()), vec(rule, 0..4), vec(tls, 0..2), keys);
    vec(one, 1..6).prop_map(|many| many.into_iter().enumerate().map(|(i, sketch)| built(i, sketch)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

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
                let judged: Vec<&str> = RULE_PATHS.into_iter().filter(|regex| regex.starts_with('/') && matches(regex, path)).collect();
                for (tls, value) in [(false, None), (true, None), (true, Some("always")), (true, Some("never")), (true, Some("x"))] {
                    let headers: Vec<(&str, &str)> = value.map(|value| ("x-canary", value)).into_iter().collect();
                    let request = Request {
                        table: Table::ingress(), host: raw, path, query: "", method: "GET", headers: &headers, tls, judged: &judged, draw: 57,
                    };
                    let exempt = tls || path.starts_with("/.well-known/acme-challenge/");
                    let expected = match naive(&ingresses, host, path, value) {
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
