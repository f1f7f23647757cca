//! Headers, paths, redirects, captures, and how clients reach us.

use super::build::*;
use super::translated;
use crate::cluster::{Object, Service};
use crate::model::policy::rewriting::{Piece, Rewriting, Source};
use crate::model::{BackendName, Need};
use crate::translate::Translator;

/// An Ingress with these annotations, a Service, and the ConfigMap.
fn objects(annotations: &[(&str, &str)], config: &[(&str, &str)]) -> Vec<Object> {
    let ingress = annotations.iter().fold(ingress("a/i"), |ingress, (key, value)| {
        ingress.annotation(&format!("haproxy.org/{key}"), value)
    });
    vec![ingress.rule("x.test", &["/ Prefix web:80"]).into(), service("a/web", &["80"]), config_map(config)]
}

fn translate(annotations: &[(&str, &str)], config: &[(&str, &str)]) -> Translator {
    translated(settings(), objects(annotations, config))
}

/// What is changed in requests of the only backend.
fn rewriting(translator: &Translator) -> Rewriting {
    let backends: Vec<_> = translator.model().backends.values().collect();
    assert_eq!(backends.len(), 1);
    backends[0].policy.rewriting.clone()
}

fn needs(translator: &Translator) -> Vec<Need> {
    translator.model().global.needs.iter().cloned().collect()
}

#[test]
fn without_keys_nothing_is_changed_or_needed() {
    let translator = translate(&[], &[]);
    assert_eq!(rewriting(&translator), Rewriting::default());
    assert!(needs(&translator).is_empty() && translator.model().lists.is_empty());
    assert_eq!(translator.model().global.clients, crate::model::global::clients::Clients::default());
}

#[test]
fn captures_need_slots_in_the_frontends() {
    let annotations = [("request-capture", "hdr(a)\nsrc"), ("request-capture-len", "9")];
    let translator = translate(&annotations, &[("request-capture", "path")]);
    assert_eq!(rewriting(&translator).captures, ["hdr(a),bytes(0,9)".into(), "src".into()]);
    assert_eq!(
        needs(&translator),
        [(0, 9), (0, 128), (1, 9)].map(|(slot, length)| Need::Capture { slot, length })
    );
}

#[test]
fn a_source_header_is_believed_from_trusted_proxies_only_when_there_are_any() {
    let annotations = [("src-ip-header", "X-Real-IP"), ("forwarded-for", "false")];
    for (config, only_trusted) in [(&[][..], false), (&[("trusted-proxies", "none")][..], true)] {
        let translator = translate(&annotations, config);
        let rewriting = rewriting(&translator);
        assert_eq!(rewriting.source, Some(Source { header: "X-Real-IP".into(), only_trusted }));
        assert!(rewriting.without_forwarded_for);
        assert_eq!(needs(&translator), [Need::OptionalForwardedFor, Need::SourceFromHeader]);
    }
}

#[test]
fn the_service_says_first_whether_clients_are_named() {
    let web = Service {
        annotations: [("haproxy.org/forwarded-for".into(), "true".into())].into(),
        ..service_with("a/web", &["80"])
    };
    let mut objects = objects(&[("forwarded-for", "false")], &[]);
    objects[1] = Object::Service(web);
    assert!(!rewriting(&translated(settings(), objects)).without_forwarded_for);
}

#[test]
fn lists_are_files_that_change_live() {
    let translator =
        translate(&[], &[("trusted-proxies", "10.1.2.3/8, ::1"), ("proxy-protocol", "10.0.0.1")]);
    let clients = &translator.model().global.clients;
    let list = |name: &Option<crate::model::ListName>| -> Vec<String> {
        let list = translator.model().lists.get(name.as_ref().expect("a list")).expect("its content");
        list.iter().map(ToString::to_string).collect()
    };
    assert_eq!(list(&clients.trusted_proxies), ["10.0.0.0/8", "::1/128"]);
    assert_eq!(list(&clients.proxy_protocol), ["10.0.0.1/32"]);
}

#[test]
fn a_bad_value_leaves_the_path_as_it_is() {
    let bad = [
        ("path-rewrite", "(* /x"),
        ("set-host", "a b"),
        ("request-set-header", "X-A %[env(SECRET)]"),
        ("response-set-header", "Content-Length 1"),
        ("request-redirect", "http://x"),
        ("request-redirect-code", "200"),
        ("request-capture", "src id 0"),
        ("request-capture-len", "-1"),
        ("forwarded-for", "maybe"),
        ("src-ip-header", "a)"),
    ];
    let translator =
        translate(&bad, &[("trusted-proxies", "all"), ("proxy-protocol", "-"), ("request-id", "X")]);
    assert_eq!(rewriting(&translator), Rewriting::default());
    assert!(translator.model().backends.contains_key(&BackendName::service(&name("a/web"), 80)));
    let problems: Vec<String> = translator.problems().map(ToString::to_string).collect();
    assert_eq!(problems.len(), bad.len() + 3, "{problems:#?}");
    for (key, value) in bad {
        let found =
            problems.iter().find(|problem| problem.contains(&format!("Ingress a/i, haproxy.org/{key}:")));
        let found = found.expect(key);
        assert!(
            found.contains(value) && found.contains("[value-invalid]; hint: write for example"),
            "{found}"
        );
    }
}

#[test]
fn values_keep_every_character() {
    let value = "a % b \"c\" #\\ $X";
    let translator = translate(&[("request-set-header", &format!("X-A {value}"))], &[]);
    assert_eq!(rewriting(&translator).request_headers[0].value, [Piece::Text(value.into())]);
}
