//! Routes of Ingresses: keys, conflicts, defaults, redirects.

use super::build::{EC, config_map, ingress, name, secret, secret_with, service, service_with, settings};
use super::{check, translated};
use crate::cluster::{Object, PortRef};
use crate::problem::Severity;
use crate::translate::Settings;

#[test]
fn keys_of_all_path_types() {
    let objects = [
        service("a/web", &["http=80"]),
        ingress("a/x")
            .rule("Foo.Bar", &["/a/ Prefix web:80", "/b Exact web:http", "- ImplementationSpecific web:80"])
            .rule("*.foo.bar", &["/c/ ImplementationSpecific web:80"])
            .rule("", &["/ Prefix web:80"])
            .into(),
    ];
    check(
        settings(),
        objects,
        &[
            "foo.bar/b (exact) -> a_web_80",
            "foo.bar/ -> a_web_80",
            "foo.bar/a -> a_web_80",
            "*.foo.bar/ -> nothing",
            "*.foo.bar/c -> a_web_80",
            "*/ -> a_web_80",
            "a_web_80:",
        ],
    );
}

#[test]
fn a_bad_host_or_path_takes_nothing_else_with_it() {
    let objects = [
        service("a/web", &["80"]),
        ingress("a/x")
            .rule("foo_bar", &["/ Prefix web:80"])
            .rule("foo.bar", &["a Prefix web:80", "/a~b Exact web:80", "/ok Prefix web:80"])
            .into(),
    ];
    check(
        settings(),
        objects.clone(),
        &[
            "foo.bar/ -> nothing",
            "foo.bar/ok -> a_web_80",
            "a_web_80:",
            "! Ingress a/x, spec.rules[0].host: host-invalid",
            "! Ingress a/x, spec.rules[1].http.paths[0]: path-invalid",
            "! Ingress a/x, spec.rules[1].http.paths[1]: path-invalid",
        ],
    );
    let first = translated(settings(), objects).problems().next().map(ToString::to_string);
    assert_eq!(
        first.as_deref(),
        Some(
            "Ingress a/x, spec.rules[0].host: host `foo_bar` is not valid and its rule is ignored: labels consist of letters, \
             digits and `-` [host-invalid]; hint: write a name such as `shop.example.org` or `*.example.org`, or leave `host` \
             out for any host"
        )
    );
}

#[test]
fn the_older_ingress_wins() {
    let objects = [
        service("a/web", &["80"]),
        service("b/web", &["80"]),
        ingress("a/young").created(20).rule("foo.bar", &["/a Prefix web:80", "/b Prefix web:80"]).into(),
        ingress("b/old").created(10).rule("foo.bar", &["/a/ Prefix web:80"]).into(),
        ingress("b/as-young").created(20).rule("foo.bar", &["/b Prefix web:80"]).into(),
    ];
    check(
        settings(),
        objects.clone(),
        &[
            "foo.bar/ -> nothing",
            "foo.bar/a -> b_web_80",
            "foo.bar/b -> a_web_80",
            "a_web_80:",
            "b_web_80:",
            "! Ingress a/young, spec.rules[0].http.paths[0]: route-conflict",
            "! Ingress b/as-young, spec.rules[0].http.paths[0]: route-conflict",
        ],
    );
    let messages: Vec<String> =
        translated(settings(), objects).problems().map(|p| p.message.clone()).collect();
    assert_eq!(
        messages,
        [
            "`foo.bar/a` has no effect here: Ingress `b/old`, which is older, already claims it",
            "`foo.bar/b` has no effect here: Ingress `a/young`, which is as old and comes first by name, already claims it",
        ]
    );
}

#[test]
fn the_same_key_twice_in_one_ingress() {
    let objects = [
        service("a/web", &["80"]),
        service("a/api", &["80"]),
        ingress("a/x").rule("foo.bar", &["/a Prefix web:80", "/a/ Prefix web:80", "/a Prefix api:80"]).into(),
    ];
    let translator = translated(settings(), objects.clone());
    let severities: Vec<Severity> = translator.problems().map(|p| p.severity).collect();
    assert_eq!(severities, [Severity::Warning, Severity::Error], "an equal backend is no loss");
    check(
        settings(),
        objects,
        &[
            "foo.bar/ -> nothing",
            "foo.bar/a -> a_web_80",
            "a_web_80:",
            "! Ingress a/x, spec.rules[0].http.paths[1]: route-conflict",
            "! Ingress a/x, spec.rules[0].http.paths[2]: route-conflict",
        ],
    );
}

#[test]
fn default_backends() {
    let young: Object = ingress("a/young").created(2).default_backend("web:80").into();
    let old: Object = ingress("b/old").created(1).default_backend("web:80").into();
    let services = [service("a/web", &["80"]), service("b/web", &["80"]), service("c/all", &["81", "82"])];
    let with_flag = |port| Settings { default_backend: Some((name("c/all"), port)), ..settings() };
    check(
        with_flag(None),
        services.iter().cloned().chain([young, old]),
        &[
            "(default)/ -> b_web_80",
            "b_web_80:",
            "! Ingress a/young, spec.defaultBackend: default-backend-conflict",
        ],
    );
    check(with_flag(None), services.clone(), &["(default)/ -> c_all_81", "c_all_81:"]);
    check(with_flag(Some(PortRef::Number(82))), services.clone(), &["(default)/ -> c_all_82", "c_all_82:"]);
    check(settings(), services, &[]);
    check(
        with_flag(None),
        [],
        &["(default)/ -> fixed_404", "! flag --default-backend-service: service-not-found"],
    );
}

#[test]
fn a_rule_without_paths_goes_to_the_default_backend_of_its_ingress() {
    let objects = [
        service("a/web", &["80"]),
        ingress("a/x").default_backend("web:80").rule("foo.bar", &[]).into(),
        ingress("a/y").rule("known.bar", &[]).rule("", &[]).into(),
    ];
    check(
        settings(),
        objects,
        &["foo.bar/ -> a_web_80", "known.bar/ -> nothing", "(default)/ -> a_web_80", "a_web_80:"],
    );
}

#[test]
fn what_cannot_be_served_answers_503_on_its_path_only() {
    let external = Object::Service(crate::cluster::Service {
        external_name: Some("example.org".into()),
        ..service_with("a/ext", &["80"])
    });
    let paths = [
        "/1 Prefix gone:80",
        "/2 Prefix web:81",
        "/3 Prefix web:nope",
        "/4 Prefix web",
        "/5 Prefix Bucket/static",
        "/6 Prefix",
        "/7 Prefix ext:nope",
        "/8 Prefix web:80",
    ];
    let objects = [service("a/web", &["http=80"]), external, ingress("a/x").rule("", &paths).into()];
    check(
        settings(),
        objects,
        &[
            "*/1 -> fixed_503",
            "*/2 -> fixed_503",
            "*/3 -> fixed_503",
            "*/4 -> fixed_503",
            "*/5 -> fixed_503",
            "*/6 -> fixed_503",
            "*/7 -> fixed_503",
            "*/8 -> a_web_80",
            "a_web_80:",
            "! Ingress a/x, spec.rules[0].http.paths[0]: service-not-found",
            "! Ingress a/x, spec.rules[0].http.paths[1]: service-port-not-found",
            "! Ingress a/x, spec.rules[0].http.paths[2]: service-port-not-found",
            "! Ingress a/x, spec.rules[0].http.paths[3]: service-port-not-found",
            "! Ingress a/x, spec.rules[0].http.paths[4]: backend-not-supported",
            "! Ingress a/x, spec.rules[0].http.paths[5]: backend-not-supported",
            "! Ingress a/x, spec.rules[0].http.paths[6]: service-port-not-found",
        ],
    );
}

#[test]
fn redirects() {
    let web = || service("a/web", &["80"]);
    // The certificate is the default one, so no Secret is needed.
    let base = || {
        ingress("a/x")
            .rule("foo.bar", &["/ Prefix web:80"])
            .rule("a.wild.bar", &["/ Prefix web:80"])
            .rule("clear.bar", &["/ Prefix web:80"])
            .tls(&["FOO.bar", "*.wild.bar"], "")
    };
    let with = |redirected: [bool; 3]| -> Vec<String> {
        let status = |on: bool| if on { " 302" } else { "" };
        vec![
            format!("a.wild.bar/ ->{} a_web_80", status(redirected[1])),
            format!("clear.bar/ ->{} a_web_80", status(redirected[2])),
            format!("foo.bar/ ->{} a_web_80", status(redirected[0])),
            "a_web_80:".to_owned(),
        ]
    };
    let check = |settings: Settings, objects: Vec<Object>, redirected: [bool; 3], problems: &[&str]| {
        let lines = with(redirected);
        let expected: Vec<&str> = lines.iter().map(String::as_str).chain(problems.iter().copied()).collect();
        check(settings, objects, &expected);
    };
    check(settings(), vec![web(), base().into()], [true, true, false], &[]);
    let off = base().annotation("haproxy.org/ssl-redirect", "off");
    check(settings(), vec![web(), off.clone().into()], [false; 3], &[]);
    let on = base().annotation("ingress.kubernetes.io/ssl-redirect", "True");
    check(settings(), vec![web(), on.into()], [true; 3], &[]);
    check(settings(), vec![web(), config_map(&[("ssl-redirect", "no")]), base().into()], [false; 3], &[]);
    check(settings(), vec![web(), config_map(&[("ssl-redirect", "yes")]), off.into()], [false; 3], &[]);
    check(
        settings(),
        vec![
            web(),
            config_map(&[("ssl-redirect", "no")]),
            base().annotation("haproxy.com/ssl-redirect", "maybe").into(),
        ],
        [false; 3],
        &["! Ingress a/x, haproxy.com/ssl-redirect: value-invalid"],
    );
    check(
        settings(),
        vec![web(), config_map(&[("ssl-redirect", "maybe")]), base().into()],
        [true, true, false],
        &["! ConfigMap outrigger/config, ssl-redirect: value-invalid"],
    );
    let mut clear_only = settings();
    clear_only.listeners.https = None;
    check(
        clear_only,
        vec![web(), base().annotation("haproxy.org/ssl-redirect", "true").into()],
        [false; 3],
        &[],
    );
    let elsewhere = ingress("a/y").tls(&["clear.bar"], "");
    check(settings(), vec![web(), base().into(), elsewhere.into()], [true, true, false], &[]);
}

#[test]
fn slots_come_from_the_config_map() {
    let slots =
        |pairs: &[(&str, &str)]| translated(settings(), [config_map(pairs)]).model().global.server_slots;
    assert_eq!(slots(&[]), 10);
    assert_eq!(slots(&[("scale-server-slots", "42")]), 42);
    assert_eq!(slots(&[("servers-increment", "0"), ("server-slots", "7")]), 7);
    let other = Object::ConfigMap(crate::cluster::ConfigMap {
        name: name("else/where"),
        data: [("server-slots".into(), "7".into())].into(),
    });
    assert_eq!(translated(settings(), [other]).model().global.server_slots, 10);
}

#[test]
fn no_message_holds_what_is_in_a_secret() {
    let objects = [
        Object::Secret(secret_with(
            "a/t",
            &[("tls.crt", "s3cr3t"), ("tls.key", "-----BEGIN PRIVATE KEY-----s3cr3t")],
        )),
        ingress("a/x").rule("foo.bar", &[]).tls(&[], "t").into(),
    ];
    let translator = translated(settings(), objects);
    assert_eq!(translator.problems().count(), 1);
    assert!(!format!("{translator:?}").contains("s3cr3t"));
    let keyed = Settings { default_certificate: Some(name("a/ec")), ..settings() };
    let debug = format!(
        "{:?}",
        translated(keyed, [secret("a/ec", &EC), ingress("a/x").tls(&["foo.bar"], "ec").into()])
    );
    assert!(debug.contains("a/ec") || debug.contains("\"ec\""));
    assert!(!debug.contains("PRIVATE KEY") && !debug.contains("fallback"), "{debug}");
}
