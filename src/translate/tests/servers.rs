//! Keys about servers.

use super::build::{
    EC, RSA, config_map, ingress, name, secret, secret_with, service, service_with, settings, slice,
};
use super::translated;
use crate::cluster::{Object, Service, ServicePort};
use crate::model::policy::servers::{ExternalHost, Protocol, ServerPolicy};
use crate::model::{Need, Policy};
use crate::translate::{Settings, Translator};

/// The policy of the only backend.
fn policy(translator: &Translator) -> Policy {
    let backends: Vec<_> = translator.model().backends.values().collect();
    assert_eq!(backends.len(), 1, "{:#?}", translator.problems().collect::<Vec<_>>());
    backends[0].policy.as_ref().clone()
}

fn problems(translator: &Translator) -> Vec<String> {
    translator.problems().map(ToString::to_string).collect()
}

/// An Ingress, a Service, a ConfigMap with keys; the port with an `appProtocol`.
fn said(
    ingress_keys: &[(&str, &str)],
    service_keys: &[(&str, &str)],
    config: &[(&str, &str)],
    port: &str,
) -> [Object; 3] {
    let mut built = ingress("a/x").rule("", &["/ Prefix web:80"]);
    for (key, value) in ingress_keys {
        built = built.annotation(&format!("haproxy.org/{key}"), value);
    }
    let mut service = service_with("a/web", &["80"]);
    for (key, value) in service_keys {
        service.annotations.insert(format!("haproxy.org/{key}").as_str().into(), (*value).into());
    }
    service.ports[0].app_protocol = (!port.is_empty()).then(|| port.into());
    [built.into(), Object::Service(service), config_map(config)]
}

fn servers(objects: impl IntoIterator<Item = Object>) -> ServerPolicy {
    policy(&translated(settings(), objects)).servers
}

#[test]
fn tls_is_on_when_the_closest_says_so() {
    let ssl = |value| [("server-ssl", value)];
    for (ingress, service, config, port, expected) in [
        (&[][..], &[][..], &[][..], "", false),
        (&ssl("true"), &[], &[], "", true),
        (&ssl("true"), &ssl("false"), &[], "", false),
        (&[], &[], &ssl("true"), "", true),
        (&[], &[], &ssl("true"), "http", false),
        (&[], &[], &ssl("true"), "unknown", true),
        (&[], &[], &[], "https", true),
        (&ssl("false"), &[], &[], "https", false),
        (&[], &[], &ssl("false"), "grpcs", true),
        (&[("server-crt", "s")], &[], &ssl("false"), "", true),
        (&[("server-crt", "s")], &ssl("false"), &[], "", false),
    ] {
        let found = servers(said(ingress, service, config, port));
        assert_eq!(found.tls.is_some(), expected, "{ingress:?} {service:?} {config:?} {port}");
    }
    for (key, port, expected) in [
        (&[][..], "grpc", Protocol::Http2),
        (&[], "kubernetes.io/h2c", Protocol::Http2),
        (&[], "kubernetes.io/wss", Protocol::Http1),
        (&[("server-proto", "h1")], "grpc", Protocol::Http1),
        (&[], "H2C", Protocol::Any),
    ] {
        assert_eq!(servers(said(key, &[], &[], port)).protocol, expected, "{port}");
    }
}

#[test]
fn checks_are_off_unless_somebody_wants_them() {
    let check = |ingress: &[(&str, &str)], config: &[(&str, &str)]| {
        servers(said(ingress, &[], config, "")).check.map(|check| check.http.is_some())
    };
    assert_eq!(check(&[], &[]), None);
    assert_eq!(check(&[("check-interval", "1s")], &[]), None);
    assert_eq!(check(&[("check", "on")], &[]), Some(false));
    assert_eq!(check(&[("check-http", "/a")], &[]), Some(true));
    assert_eq!(check(&[("check-http", "/a")], &[("check", "false")]), None);
}

#[test]
fn the_cookie_of_the_closer_object_counts() {
    let (hash, name) = ("cookie-persistence", "cookie-persistence-no-dynamic");
    let found = |ingress: &[(&str, &str)], config: &[(&str, &str)]| {
        servers(said(ingress, &[], config, "")).persistence.map(|p| (p.cookie.to_string(), p.by_name))
    };
    assert_eq!(found(&[(hash, "a"), (name, "b")], &[]), Some(("a".to_owned(), false)));
    assert_eq!(found(&[(name, "b")], &[(hash, "a")]), Some(("b".to_owned(), true)));
    assert_eq!(found(&[(hash, "a")], &[(name, "b")]), Some(("a".to_owned(), false)));
    assert_eq!(found(&[], &[]), None);
}

#[test]
fn controllers_share_a_limit_and_the_backend_keeps_its_name() {
    let with = |count: usize| {
        let addresses: Vec<String> = (1..=count).map(|i| format!("10.9.0.{i}")).collect();
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let controllers = slice("o/controllers", "controllers", &["80"], &addresses);
        let settings = Settings { publish_service: Some(name("o/controllers")), ..settings() };
        let objects = said(&[("pod-maxconn", "5")], &[], &[], "");
        let translator = translated(settings, objects.into_iter().chain([controllers]));
        let names: Vec<String> = translator.model().backends.keys().map(ToString::to_string).collect();
        (policy(&translator).servers.max_connections.unwrap().share, names)
    };
    assert_eq!([with(1).0, with(2).0, with(9).0], [5, 2, 1]);
    assert_eq!(with(1).1, with(2).1);
}

#[test]
fn a_secret_that_cannot_be_used_says_so_and_guards_fail_closed() {
    let ca = |value| said(&[("server-ca", value)], &[], &[], "");
    let check = |objects: Vec<Object>, refused: bool, message: &str| {
        let translator = translated(settings(), objects);
        let found = policy(&translator).servers;
        assert_eq!(found.refused, refused, "{message}");
        assert_eq!(found.tls.unwrap().authority.is_some(), !refused, "{message}");
        let problems = problems(&translator);
        assert_eq!(problems.len(), usize::from(!message.is_empty()), "{problems:#?}");
        assert!(problems.iter().all(|problem| problem.contains(message)), "{problems:#?}");
        assert!(problems.iter().all(|problem| problem.contains("Ingress a/x, haproxy.org/server-ca")));
    };
    let with = |objects: [Object; 3], secret: Object| objects.into_iter().chain([secret]).collect::<Vec<_>>();
    check(ca("ca").to_vec(), true, "`a/ca` does not exist; requests are answered with 503");
    check(with(ca("ca"), secret("a/ca", &EC)), false, "");
    let both = secret_with("a/ca", &[("ca.crt", &RSA.0), ("tls.crt", "broken")]);
    check(with(ca("a/ca"), Object::Secret(both)), false, "");
    for (data, reason) in [
        (&[("ca.crt", "text")][..], "holds no PEM certificate"),
        (&[("ca.crt", ""), ("tls.crt", " ")], "neither `ca.crt` nor `tls.crt`"),
        (
            &[("ca.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")],
            "not a valid X.509",
        ),
        (
            &[("ca.crt", "-----BEGIN CERTIFICATE-----\nAA\u{e4}A\n-----END CERTIFICATE-----\n")],
            "not valid PEM",
        ),
    ] {
        check(with(ca("ca"), Object::Secret(secret_with("a/ca", data))), true, reason);
    }
    check(
        with(ca("b/ca"), secret("b/ca", &EC)),
        true,
        "another namespace, which only the ConfigMap may name; requests are answered with 503 [secret-forbidden]",
    );
    // The ConfigMap may name any.
    let config = said(&[], &[], &[("server-ca", "b/ca")], "");
    let translator = translated(settings(), with(config, secret("b/ca", &EC)));
    assert!(policy(&translator).servers.tls.unwrap().authority.is_some());
    assert!(problems(&translator).is_empty());

    // A client certificate is no guard of ours.
    let crt = said(&[("server-crt", "client")], &[], &[], "");
    let translator = translated(settings(), crt.clone());
    let found = policy(&translator).servers;
    assert!(!found.refused && found.tls.unwrap().certificate.is_none());
    assert!(problems(&translator)[0].contains("no certificate is shown to the pods"));
    let translator = translated(settings(), with(crt, secret("a/client", &EC)));
    assert!(policy(&translator).servers.tls.unwrap().certificate.is_some());
}

#[test]
fn bad_values_leave_the_default_and_say_so() {
    for (key, value) in [
        ("load-balance", "round-robin"),
        ("pod-maxconn", "0"),
        ("check", "perhaps"),
        ("check-http", "health"),
        ("check-interval", "10"),
        ("timeout-check", "-1s"),
        ("cookie-persistence", "a b"),
        ("cookie-persistence-no-dynamic", "a\nserver x 127.0.0.1:1"),
        ("server-ssl", "tls"),
        ("server-ca", "a/b/c"),
        ("server-crt", "A"),
        ("server-proto", "h3"),
        ("send-proxy-protocol", "v2"),
        ("abortonclose", "2"),
        ("retries", "many"),
        ("retry-on", "none,500"),
        ("redispatch", "1s"),
        ("scale-server-slots", "0"),
    ] {
        let translator = translated(settings(), said(&[(key, value)], &[], &[], ""));
        assert_eq!(policy(&translator), Policy::default(), "{key}");
        let problems = problems(&translator);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        let (key, value) = (format!("haproxy.org/{key}"), value.escape_debug().to_string());
        assert!(
            problems[0].contains(&key)
                && problems[0].contains(&value)
                && problems[0].contains("value-invalid")
        );
    }
}

#[test]
fn a_name_outside_needs_no_ports_in_its_service() {
    let external = |text: &str| {
        Object::Service(Service { external_name: Some(text.into()), ..service_with("a/ext", &[]) })
    };
    let objects = |text| [ingress("a/x").rule("", &["/ Prefix ext:8443"]).into(), external(text)];
    let translator = translated(settings(), objects("Example.org."));
    let found = policy(&translator).servers;
    let target = found.external.unwrap();
    assert_eq!((target.host, target.port), (ExternalHost::Name("example.org".into()), 8443));
    assert!(translator.model().global.needs.contains(&Need::Resolvers));
    assert!(problems(&translator).is_empty());

    for (settings, text, code) in [
        (Settings { external_names: false, ..settings() }, "example.org", "backend-not-supported"),
        (settings(), "localhost", "endpoint-refused"),
        (settings(), "169.254.169.254", "endpoint-refused"),
    ] {
        let translator = translated(settings, objects(text));
        let found = policy(&translator).servers;
        assert!(found.refused && found.external.is_none(), "{text}");
        let problems = problems(&translator);
        assert!(problems.len() == 1 && problems[0].contains(code), "{problems:#?}");
        assert!(problems[0].starts_with("Service a/ext, spec.externalName"), "{problems:#?}");
        assert!(translator.model().global.needs.is_empty());
    }
}

#[test]
fn each_port_says_its_own_protocol() {
    let mut web = service_with("a/web", &["http=80"]);
    web.ports.push(ServicePort { name: Some("grpc".into()), port: 81, app_protocol: Some("grpc".into()) });
    let objects = [
        ingress("a/x").rule("", &["/ Prefix web:80", "/rpc Prefix web:81"]).into(),
        Object::Service(web),
        service("a/other", &["80"]),
    ];
    let translator = translated(settings(), objects);
    let protocols: Vec<_> =
        translator.model().backends.values().map(|backend| backend.policy.servers.protocol).collect();
    assert_eq!(protocols, [Protocol::Any, Protocol::Http2]);
}
