//! Several Ingresses on one host and path: canaries, tests of Services, and who says what.

use super::build::{IngressBuilder, ingress, name, service, service_with, settings};
use super::{check, translated};
use crate::cluster::{Object, Service};
use crate::model::{HostMatch, Model, Need, PathMatch, Test};

fn canary(annotations: &[(&str, &str)]) -> IngressBuilder {
    let built =
        ingress("a/canary").rule("foo.bar", &["/ Prefix new:80"]).annotation("haproxy.org/canary", "true");
    annotations.iter().fold(built, |built, (key, value)| built.annotation(key, value))
}

fn main() -> IngressBuilder {
    // Younger than the canary, and it does not matter.
    ingress("a/main").created(9).rule("foo.bar", &["/ Prefix web:80"])
}

fn services() -> [Object; 2] {
    [service("a/web", &["80"]), service("a/new", &["80"])]
}

fn tested(full_name: &str, test: &str) -> Object {
    let annotations = [("haproxy.org/route-acl".into(), test.into())].into();
    Object::Service(Service { annotations, ..service_with(full_name, &["80"]) })
}

fn check_all(objects: Vec<Object>, expected: &[&str]) {
    check(settings(), services().into_iter().chain(objects), expected);
}

const BACKENDS: [&str; 2] = ["a_new_80:", "a_web_80:"];

#[test]
fn a_canary_is_part_of_the_route_of_its_main_ingress() {
    let with = |annotations: &[(&str, &str)], route: &str, problems: &[&str]| {
        let expected: Vec<&str> =
            std::iter::once(route).chain(BACKENDS).chain(problems.iter().copied()).collect();
        check_all(vec![main().into(), canary(annotations).into()], &expected);
    };
    with(&[], "foo.bar/ -> a_web_80 x100 a_new_80 x0", &[]);
    with(&[("haproxy.org/canary-weight", "7")], "foo.bar/ -> a_web_80 x93 a_new_80 x7", &[]);
    let of_total = [("haproxy.org/canary-weight", "7"), ("haproxy.org/canary-weight-total", "10")];
    with(&of_total, "foo.bar/ -> a_web_80 x3 a_new_80 x7", &[]);
    with(
        &[("haproxy.org/canary-weight", "101")],
        "foo.bar/ -> a_web_80 x0 a_new_80 x100",
        &["! Ingress a/canary, haproxy.org/canary-weight: value-invalid"],
    );
    with(
        &[("haproxy.org/canary-weight", "some")],
        "foo.bar/ -> a_web_80 x100 a_new_80 x0",
        &["! Ingress a/canary, haproxy.org/canary-weight: value-invalid"],
    );
    with(
        &[("haproxy.org/canary-by-header-value", "x")],
        "foo.bar/ -> a_web_80 x100 a_new_80 x0",
        &["! Ingress a/canary, haproxy.org/canary-by-header-value: key-misplaced"],
    );
    let by = [("haproxy.org/canary-by-cookie", "C"), ("haproxy.org/canary-by-header", "H")];
    with(
        &by,
        "foo.bar/ -> [h: always] a_new_80 [h: never] a_web_80 [C=always] a_new_80 [C=never] a_web_80 a_web_80 x100 a_new_80 x0",
        &[],
    );
}

#[test]
fn the_keys_of_the_main_ingress_count() {
    let main = main().tls(&["foo.bar"], "").annotation("haproxy.org/standalone-backend", "true");
    let main = main.annotation("haproxy.org/ssl-redirect-code", "308");
    let canary = canary(&[("haproxy.org/ssl-redirect", "false"), ("haproxy.org/canary-weight", "50")]);
    let objects = services().into_iter().chain([main.into(), canary.into()]);
    let translator = translated(settings(), objects);
    let owners: Vec<Option<&str>> =
        translator.model().backends.values().map(|backend| backend.policy.owner.as_deref()).collect();
    assert_eq!(owners, [Some("a/main"), Some("a/main")]);
    assert!(super::show(&translator).contains("foo.bar/ -> 308 a_web_80_"), "{}", super::show(&translator));
}

#[test]
fn a_canary_without_main_ingress_gets_nothing() {
    let lone = "! Ingress a/canary, spec.rules[0].http.paths[0]: canary-without-main";
    check_all(vec![canary(&[]).into()], &[lone]);
    // It does not make its host known either.
    let wild = ingress("a/wild").rule("*.bar", &["/ Prefix web:80"]);
    check_all(vec![canary(&[]).into(), wild.into()], &["*.bar/ -> a_web_80", "a_web_80:", lone]);
    let other_type = ingress("a/main").rule("foo.bar", &["/ Exact web:80"]);
    check_all(
        vec![canary(&[]).into(), other_type.into()],
        &["foo.bar/ (exact) -> a_web_80", "foo.bar/ -> nothing", "a_web_80:", lone],
    );
    let mut stranger = canary(&[("haproxy.org/canary-weight", "100")]);
    stranger.0.name = name("b/canary");
    check_all(
        vec![main().into(), stranger.into(), service("b/new", &["80"])],
        &[
            "foo.bar/ -> a_web_80",
            "a_web_80:",
            "! Ingress b/canary, spec.rules[0].http.paths[0]: canary-without-main",
        ],
    );
    let mut second = canary(&[("haproxy.org/canary-weight", "100")]);
    second.0.name = name("a/second");
    check_all(
        vec![main().into(), canary(&[]).into(), second.into()],
        &[
            "foo.bar/ -> a_web_80 x100 a_new_80 x0",
            BACKENDS[0],
            BACKENDS[1],
            "! Ingress a/second, spec.rules[0].http.paths[0]: route-conflict",
        ],
    );
    let default = ingress("a/canary").default_backend("new:80").annotation("haproxy.org/canary", "true");
    check_all(vec![default.into()], &["! Ingress a/canary, spec.defaultBackend: canary-without-main"]);
}

#[test]
fn a_canary_that_cannot_be_had_takes_nothing() {
    let lost = ingress("a/canary")
        .rule("foo.bar", &["/ Prefix gone:80"])
        .annotation("haproxy.org/canary", "true")
        .annotation("haproxy.org/canary-weight", "100");
    check_all(
        vec![main().into(), lost.into()],
        &[
            "foo.bar/ -> a_web_80",
            "a_web_80:",
            "! Ingress a/canary, spec.rules[0].http.paths[0]: service-not-found",
        ],
    );
    let unclear = canary(&[("haproxy.org/canary-weight", "100")]).annotation("haproxy.org/canary", "so so");
    check_all(
        vec![main().into(), unclear.into()],
        &["foo.bar/ -> a_web_80", "a_web_80:", "! Ingress a/canary, haproxy.org/canary: value-invalid"],
    );
}

#[test]
fn services_with_a_test_stand_before_the_one_without() {
    let rule = |service: &str| {
        ingress(&format!("a/{service}")).rule("foo.bar", &[&format!("/ Prefix {service}:80")])
    };
    let tests =
        [tested("a/c", "cookie(c) 1 2"), tested("a/d", "path_beg /x y"), tested("a/e", "req.fhdr(E) 1")];
    let objects = tests.into_iter().chain(["c", "d", "e"].map(|service| rule(service).into()));
    check_all(
        objects.clone().chain([main().into()]).collect(),
        &[
            "foo.bar/ -> [path -m beg -- /x y] a_d_80 [e: 1] a_e_80 [c=1] a_c_80 [c=2] a_c_80 a_web_80",
            "a_c_80:",
            "a_d_80:",
            "a_e_80:",
            "a_web_80:",
        ],
    );
    check_all(
        objects.collect(),
        &[
            "foo.bar/ -> [path -m beg -- /x y] a_d_80 [e: 1] a_e_80 [c=1] a_c_80 [c=2] a_c_80",
            "a_c_80:",
            "a_d_80:",
            "a_e_80:",
            "! Ingress a/c, spec.rules[0].http.paths[0]: route-conditional-only",
        ],
    );
    // Another namespace cannot take requests, and what is not valid takes none.
    let stranger = ingress("b/x").rule("foo.bar", &["/ Prefix x:80"]);
    check_all(
        vec![
            main().into(),
            stranger.into(),
            tested("b/x", "cookie(c) 1"),
            tested("a/c", "{ } x"),
            rule("c").into(),
        ],
        &[
            "foo.bar/ -> a_web_80",
            "a_web_80:",
            "! Ingress b/x, spec.rules[0].http.paths[0]: route-conflict",
            "! Service a/c, haproxy.org/route-acl: value-invalid",
        ],
    );
}

#[test]
fn regular_expressions_are_paths_and_bad_ones_are_none() {
    let regex = ingress("a/x")
        .annotation("haproxy.org/path-type", "regex")
        .rule("foo.bar", &["/a[0-9]+ - web:80", "/b.* Prefix web:80", "/( - web:80"])
        .rule("", &["/any.* - web:80"]);
    check_all(
        vec![regex.into()],
        &[
            "foo.bar/ -> nothing",
            "foo.bar/b.* -> a_web_80",
            "foo.bar/a[0-9]+ (regex) -> a_web_80",
            "*/ -> nothing",
            "*/any.* (regex) -> a_web_80",
            "a_web_80:",
            "! Ingress a/x, spec.rules[0].http.paths[2]: path-invalid",
        ],
    );
}

#[test]
fn needs_come_and_go_with_what_needs_them() {
    let needs = |objects: Vec<Object>| -> Vec<Need> {
        let translator = translated(settings(), services().into_iter().chain(objects));
        let model: &Model = translator.model();
        assert!(
            model
                .routes
                .keys()
                .all(|key| !matches!((&key.host, &key.path), (HostMatch::Any, PathMatch::Exact(_))))
        );
        model.global.needs.iter().cloned().collect()
    };
    assert_eq!(needs(vec![main().into()]), []);
    let all = canary(&[("haproxy.org/canary-by-header", "X-A")]);
    assert_eq!(
        needs(vec![main().into(), all.clone().into()]),
        [Need::Split, Need::Test(Test::Header("x-a".into()))]
    );
    assert_eq!(needs(vec![all.into()]), []);
    let port = main().tls(&["foo.bar"], "").annotation("haproxy.org/ssl-redirect-port", "8443");
    assert_eq!(needs(vec![port.clone().into()]), [Need::RedirectPort]);
    assert_eq!(needs(vec![port.annotation("haproxy.org/ssl-redirect-port", "443").into()]), []);
    let regex = ingress("a/x").annotation("haproxy.org/path-type", "regex").rule("", &["/a - web:80"]);
    assert_eq!(needs(vec![regex.into()]), [Need::RegexPaths]);
}
