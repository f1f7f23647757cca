//! What keys mean where TLS is passed through.

use super::build::{EC, config_map, ingress, secret, service, service_with, settings};
use super::translated;
use crate::cluster::Object;
use crate::model::policy::servers::{Protocol, ProxyProtocol};
use crate::model::{Mode, Policy};
use crate::translate::Translator;

/// A host whose TLS is passed through, with these keys of the Ingress and of the ConfigMap.
fn passed(keys: &[(&str, &str)], config: &[(&str, &str)]) -> Translator {
    let mut built = ingress("a/x")
        .rule("foo.bar", &["/ Prefix web:80"])
        .annotation("haproxy.org/ssl-passthrough", "true");
    for (key, value) in keys {
        built = built.annotation(&format!("haproxy.org/{key}"), value);
    }
    let mut web = service_with("a/web", &["80"]);
    web.ports[0].app_protocol = Some("https".into());
    let objects = [built.into(), Object::Service(web), secret("a/ca", &EC), config_map(config)];
    translated(settings(), objects)
}

fn policy(translator: &Translator) -> Policy {
    let model = translator.model();
    let name = model.passthroughs.values().next().expect("a host");
    let backend = model.backends.get(name).expect("a backend");
    assert_eq!(backend.policy.mode, Mode::Tcp);
    backend.policy.as_ref().clone()
}

fn problems(translator: &Translator) -> Vec<String> {
    translator.problems().map(ToString::to_string).collect()
}

#[test]
fn bytes_are_neither_wrapped_nor_read() {
    let plain = policy(&passed(&[], &[]));
    assert_eq!((plain.servers.tls, plain.servers.protocol), (None, Protocol::Any));
    for keys in [
        &[("server-ssl", "true"), ("server-proto", "h2"), ("server-ca", "nobody/nothing")][..],
        &[("cookie-persistence", "x"), ("path-rewrite", "/x"), ("set-host", "x"), ("hsts", "true")],
        &[("rate-limit-requests", "5"), ("cors-enable", "true"), ("max-body-size", "5")],
        &[("request-set-header", "X-A b"), ("response-set-header", "X-A b"), ("src-ip-header", "X-A")],
    ] {
        let translator = passed(keys, &[]);
        assert_eq!(policy(&translator), policy(&passed(&[], &[])), "{keys:?}");
        let found = problems(&translator);
        assert_eq!(found.len(), keys.len(), "{found:#?}");
        for (key, _) in keys {
            let text = format!("haproxy.org/{key}: `{key}` has no effect where TLS is passed through");
            assert!(found.iter().any(|found| found.contains(&text)), "{text}: {found:#?}");
        }
        assert_eq!(translator.model().global.needs, passed(&[], &[]).model().global.needs, "{keys:?}");
        let translator = passed(&[], &keys[..2]);
        assert_eq!(policy(&translator), policy(&passed(&[], &[])), "{keys:?}");
        assert_eq!(problems(&translator), [""; 0], "the ConfigMap means all paths");
    }
    let checked = policy(&passed(&[("check-http", "/healthz")], &[])).servers.check;
    assert!(checked.expect("a check").http.is_none());
    let said = policy(&passed(&[("send-proxy-protocol", "proxy-v2")], &[]));
    assert_eq!(said.servers.proxy_protocol, Some(ProxyProtocol::V2));
}

#[test]
fn guards_of_requests_close_the_path() {
    let secret_of_nobody = ("auth-secret", "nobody");
    for (keys, config, name, hint) in [
        (&[("auth-url", "http://sso.b.svc/")][..], &[][..], "auth-url", "remove it, or"),
        (&[("auth-url", "nonsense")], &[], "auth-url", "remove it, or"),
        (&[], &[("auth-url", "http://sso.b.svc/")], "auth-url", "`auth-url: \"off\"`"),
        (&[("auth-type", "basic-auth"), secret_of_nobody], &[], "auth-type", "remove it, or"),
        (&[("auth-type", "nonsense")], &[], "auth-type", "remove it, or"),
        (&[("client-ca", "ca")], &[], "client-ca", "remove it, or"),
        (&[], &[("client-ca", "a/ca")], "client-ca", "Ingresses only"),
    ] {
        let translator = passed(keys, config);
        assert!(policy(&translator).access.closed, "{keys:?}");
        let found = problems(&translator);
        let closed: Vec<_> = found.iter().filter(|found| found.contains("[access-closed]")).collect();
        assert_eq!(closed.len(), 1, "{found:#?}");
        let text = closed[0];
        assert!(
            text.contains(&format!("`{name}` cannot"))
                && text.contains("connections to `foo.bar/` are closed"),
            "{text}"
        );
        assert!(text.contains(hint) && text.contains("or remove `ssl-passthrough`"), "{text}");
        // The other paths of the ConfigMap's have their own.
        let own =
            found.iter().filter(|found| !found.starts_with("ConfigMap") || found.contains("access-closed"));
        assert!(
            own.clone().all(|found| !found.contains("503") && !found.contains("not-found")),
            "{found:#?}"
        );
    }
    // A value that is no address closes connections.
    let translator = passed(&[("allow-list", "nonsense")], &[]);
    assert!(policy(&translator).access.closed);
    assert!(problems(&translator).iter().any(|found| found.contains("; connections are closed")));
    for (keys, config) in [
        (&[("auth-url", "off")][..], &[("auth-url", "http://sso.b.svc/")][..]),
        (&[], &[("client-ca", "a/ca"), ("client-crt-optional", "true")]),
    ] {
        assert!(!policy(&passed(keys, config)).access.closed, "{config:?}");
    }
    // Another Ingress of the host asks for certificates.
    let objects = [
        service("a/web", &["80"]),
        secret("a/ca", &EC),
        ingress("a/x")
            .rule("foo.bar", &["/ Prefix web:80"])
            .annotation("haproxy.org/ssl-passthrough", "true")
            .into(),
        ingress("a/y")
            .created(9)
            .rule("foo.bar", &["/y Prefix web:80"])
            .annotation("haproxy.org/client-ca", "ca")
            .into(),
    ];
    let translator = translated(settings(), objects);
    assert!(policy(&translator).access.closed);
    let text = "Ingress a/x, haproxy.org/ssl-passthrough: `client-ca` cannot";
    assert!(problems(&translator).iter().any(|found| found.contains(text)), "{:#?}", problems(&translator));
}

#[test]
fn nothing_is_chosen_by_what_requests_say() {
    let mut picky = service_with("a/picky", &["80"]);
    picky.annotations.insert("haproxy.org/route-acl".into(), "path_beg /x".into());
    let of = |name: &str, service: &str| {
        ingress(name)
            .rule("foo.bar", &[&format!("/ Prefix {service}:80")])
            .annotation("haproxy.org/ssl-passthrough", "true")
    };
    let objects = [
        service("a/web", &["80"]),
        Object::Service(picky),
        of("a/x", "web").into(),
        of("a/y", "picky").created(9).into(),
    ];
    let translator = translated(settings(), objects);
    let name = translator.model().passthroughs.values().next().expect("a host").to_string();
    assert!(name.starts_with("a_web_80_"), "{name}");
    let found = problems(&translator);
    assert!(found.iter().any(|found| found.contains("a/y") && found.contains("`route-acl`")), "{found:#?}");
}
