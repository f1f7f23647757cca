//! External authentication.

use std::collections::BTreeSet;

use super::build::{config_map, ingress, service, service_with, settings, slice};
use super::{show, snapshot, translated};
use crate::cluster::{Change, Kind, Object, ObjectName, ObjectRef};
use crate::model::policy::auth::{Ask, Auth};
use crate::model::{Need, Policy};
use crate::translate::{Settings, Translator};

/// An Ingress for `foo.bar` with these annotations, its Service, and the Service that is asked.
fn objects(annotations: &[(&str, &str)]) -> Vec<Object> {
    let mut built = ingress("a/x").rule("foo.bar", &["/ Prefix web:80"]);
    for (key, value) in annotations {
        built = built.annotation(&format!("haproxy.org/{key}"), value);
    }
    vec![
        built.into(),
        service("a/web", &["80"]),
        slice("a/web-1", "web", &["8080"], &["10.0.0.1"]),
        service("b/sso", &["http=4180"]),
        slice("b/sso-1", "sso", &["http=8080"], &["10.0.1.1", "10.0.1.2"]),
    ]
}

/// The policy of the backend of `foo.bar`.
fn policy(translator: &Translator) -> Policy {
    let model = translator.model();
    let backend = model.backends.values().find(|backend| backend.name.as_str().starts_with("a_web_80"));
    (*backend.expect("a backend").policy).clone()
}

fn ask(translator: &Translator) -> Ask {
    match policy(translator).auth {
        Auth::Ask(ask) => *ask,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_service_that_is_asked_has_a_backend_of_its_own() {
    let url = ("auth-url", "http://sso.b.svc:4180/check");
    let translator = translated(settings(), objects(&[url, ("auth-method", "head")]));
    let shown = show(&translator);
    assert_eq!(translator.problems().count(), 0, "{shown}");
    let asked = ask(&translator);
    let name = asked.who.name();
    assert!(name.as_str().starts_with("b_sso_4180_"), "{name}");
    assert!(shown.contains(&format!("{name}: 10.0.1.1:8080 10.0.1.2:8080\n")), "{shown}");
    assert_eq!(
        (asked.host.as_ref(), asked.path.as_ref(), asked.method),
        ("sso.b.svc:4180", "/check", "HEAD")
    );
    assert_eq!((asked.timeout, asked.sends, asked.copies, asked.sign_in), (5_000, None, Vec::new(), None));
    assert_eq!(translator.model().global.needs, [Need::ExternalAuth].into());
    let backend = translator.model().backends.get(&name).expect("it");
    assert_eq!(backend.policy.auth, Auth::Service);

    // Two paths that ask the same Service share its backend.
    let second = ingress("a/y")
        .rule("bar.foo", &["/ Prefix web:80"])
        .annotation("haproxy.org/auth-url", "svc://b/sso:http/other");
    let both = objects(&[url]).into_iter().chain([second.into()]);
    assert_eq!(show(&translated(settings(), both)).matches("\nb_sso_4180_").count(), 1);
}

#[test]
fn it_is_not_asked_about_its_own_requests() {
    let exposed = ingress("b/sso").rule("sso.bar", &["/ Prefix sso:4180"]);
    let config = config_map(&[("auth-url", "http://sso.b.svc:4180/")]);
    let all = objects(&[]).into_iter().chain([config, exposed.into()]);
    let translator = translated(settings(), all);
    let asked = ask(&translator).who.name();
    // Its exposed path asks it, as every other; its backend for questions does not.
    let backends = &translator.model().backends;
    let auth = |name: &str| {
        backends
            .values()
            .find(|backend| backend.name.as_str() == name)
            .map(|backend| backend.policy.auth.clone())
    };
    assert_eq!(auth(asked.as_str()), Some(Auth::Service));
    assert!(matches!(auth("b_sso_4180"), Some(Auth::Ask(_))));
}

#[test]
fn what_cannot_work_closes_the_path_and_says_so() {
    for (annotations, code) in [
        (&[("auth-url", "http://nobody.b.svc/")][..], "service-not-found"),
        (&[("auth-url", "http://sso.b.svc/")], "service-port-not-found"),
        (&[("auth-url", "svc://sso:4180/")], "service-not-found"),
        (&[("auth-url", "https://sso.b.svc:4180/")], "auth-unusable"),
        (&[("auth-url", "http://127.0.0.1/")], "auth-unusable"),
        (&[("auth-url", "http://[::ffff:169.254.169.254]/")], "auth-unusable"),
        (&[("auth-url", "http://localhost/")], "auth-unusable"),
        (&[("auth-url", "http://x.localhost/")], "auth-unusable"),
        (&[("auth-url", "nonsense")], "auth-unusable"),
        (&[("auth-url", "")], "auth-unusable"),
        (&[("auth-url", "https://a.b/"), ("auth-response-headers", "*")], "auth-unusable"),
        (&[("auth-url", "https://a.b/"), ("auth-request-headers", "X-*")], "auth-unusable"),
    ] {
        let translator = translated(settings(), objects(annotations));
        assert_eq!(policy(&translator).auth, Auth::Closed, "{annotations:?}");
        let problem = translator.problems().find(|problem| problem.code.as_str() == code);
        let problem = problem.unwrap_or_else(|| panic!("{annotations:?}: {}", show(&translator)));
        assert!(problem.message.contains("503") && problem.origin.key.is_some(), "{problem}");
        assert_eq!(translator.model().global.needs, BTreeSet::new());
    }
    // The ConfigMap does not mend what the Ingress says wrong; other values of no use leave the guard up.
    let config = config_map(&[("auth-url", "http://sso.b.svc:4180/")]);
    let wrong = objects(&[("auth-url", "nonsense")]).into_iter().chain([config]);
    assert_eq!(policy(&translated(settings(), wrong)).auth, Auth::Closed);
    let url = ("auth-url", "http://sso.b.svc:4180/");
    let mended = translated(
        settings(),
        objects(&[url, ("auth-signin", "x"), ("auth-timeout", "5"), ("auth-method", "X")]),
    );
    assert_eq!((ask(&mended).sign_in, ask(&mended).timeout, ask(&mended).method), (None, 5_000, "GET"));
    assert_eq!(mended.problems().filter(|problem| problem.code.as_str() == "value-invalid").count(), 3);
}

#[test]
fn hosts_outside_need_no_service_and_loopback_only_without_a_cluster() {
    let translator = translated(settings(), objects(&[("auth-url", "https://SSO.example.org/x")]));
    let asked = ask(&translator);
    assert_eq!(asked.who.name().as_str(), "external-auth_https:sso.example.org:443");
    assert_eq!(translator.model().global.needs.len(), 2);
    let local = Settings { loopback_endpoints: true, ..settings() };
    for url in ["http://127.0.0.1:1/", "http://localhost:1/"] {
        assert!(matches!(
            policy(&translated(local.clone(), objects(&[("auth-url", url)]))).auth,
            Auth::Ask(_)
        ));
    }
}

#[test]
fn off_frees_a_path_from_what_the_config_map_says() {
    let config = config_map(&[("auth-url", "http://sso.b.svc:4180/")]);
    let all = objects(&[("auth-url", "Off")]).into_iter().chain([config]);
    let translator = translated(settings(), all);
    assert_eq!(policy(&translator).auth, Auth::Open);
}

#[test]
fn the_service_is_followed() {
    let mut snapshot = snapshot(objects(&[("auth-url", "http://sso.b.svc:4180/")]));
    let mut translator = Translator::new(settings());
    translator.update(&snapshot, &BTreeSet::new());
    let name = ask(&translator).who.name();

    let mut changed = BTreeSet::new();
    let slices = ObjectRef { kind: Kind::EndpointSlice, name: ObjectName::new("b", "sso-1") };
    snapshot.apply(Change::Delete(slices), &mut changed);
    let update = translator.update(&snapshot, &changed);
    assert!(update.touched.backends.contains(&name) && update.touched.routes.is_empty());

    let mut changed = BTreeSet::new();
    let sso = ObjectRef { kind: Kind::Service, name: ObjectName::new("b", "sso") };
    snapshot.apply(Change::Delete(sso), &mut changed);
    translator.update(&snapshot, &changed);
    assert_eq!(policy(&translator).auth, Auth::Closed);
    assert!(translator.model().backends.get(&name).is_none());

    let mut changed = BTreeSet::new();
    snapshot.apply(Change::Upsert(Object::Service(service_with("b/sso", &["4180"]))), &mut changed);
    translator.update(&snapshot, &changed);
    assert_eq!(ask(&translator).who.name(), name);
}

#[test]
fn a_service_outside_of_the_cluster_is_asked_where_such_services_may_be() {
    let asked = || {
        let mut sso = service_with("b/out", &[]);
        sso.external_name = Some("sso.example.org".into());
        objects(&[("auth-url", "http://out.b.svc:4180/")]).into_iter().chain([Object::Service(sso)])
    };
    let on = translated(Settings { external_names: true, ..settings() }, asked());
    let name = ask(&on).who.name();
    let backend = on.model().backends.get(&name).expect("its backend");
    assert!(backend.policy.servers.external.is_some() && !backend.policy.servers.refused);
    assert_eq!(on.model().global.needs, [Need::ExternalAuth, Need::Resolvers].into());
    assert_eq!(on.problems().count(), 0, "{}", show(&on));

    let off = translated(Settings { external_names: false, ..settings() }, asked());
    assert_eq!(policy(&off).auth, Auth::Closed);
    let problems: Vec<_> = off.problems().map(ToString::to_string).collect();
    let found =
        |texts: &[&str]| problems.iter().any(|problem| texts.iter().all(|text| problem.contains(text)));
    assert!(found(&["Service b/out", "ExternalName, which is switched off", "503"]), "{problems:#?}");
    assert!(found(&["Ingress a/x", "`b/out` cannot be reached", "503", "auth-unusable"]), "{problems:#?}");
    assert_eq!(problems.len(), 2, "{problems:#?}");
}
