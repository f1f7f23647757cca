//! External authentication, as HAProxy reads it.

use std::sync::Arc;

use super::haproxy::{HaProxy, pem};
use super::models::*;
use super::renderer;
use crate::model::policy::auth::{Ask, Auth, AuthBackend, AuthHost, Host};
use crate::model::*;
use crate::plan::Texts;

fn host(name: &str, port: u16, tls: bool) -> AuthHost {
    let host = name.parse().map_or_else(|_| Host::Name(name.into()), Host::Address);
    AuthHost { host, port, tls }
}

/// A model whose only backend asks this host, and what it asks about.
fn model(who: &AuthHost, change: impl FnOnce(&mut Ask)) -> Model {
    let mut model = empty();
    let mut ask = Ask {
        who: AuthBackend::Host(who.clone()),
        host: "sso.example.org".into(),
        path: "/check".into(),
        method: "GET",
        timeout: 5_000,
        sends: None,
        copies: Vec::new(),
        sign_in: None,
    };
    change(&mut ask);
    let mut asking = backend("ns/web", 80, &[]);
    asking.policy = Arc::new(Policy { auth: Auth::Ask(Box::new(ask)), ..Policy::default() });
    add_backend(&mut model, asking);
    let needs = &mut Arc::make_mut(&mut model.global).needs;
    needs.extend([Need::ExternalAuth, Need::AuthHost(who.clone())]);
    model
}

fn header(model: &Model) -> String {
    let texts = renderer("3.2").full(model, &Texts::default());
    texts.backends.get(&BackendName::parsed("ns_web_80")).unwrap().header.to_string()
}

#[test]
fn a_path_asks_and_is_closed_unless_the_script_says_yes() {
    let text = header(&model(&host("sso.example.org", 443, true), |ask| {
        ask.copies = vec!["x-user".into(), "x-'#".into()];
        ask.sign_in = Some("https://sso.example.org/?rd={escapedurl}".into());
    }));
    let lines: Vec<&str> = text.lines().map(str::trim).skip(3).collect();
    assert_eq!(
        lines,
        [
            "http-request lua.external-auth unix@/var/run/haproxy/auth.sock external-auth_https:sso.example.org:443 \
             sso.example.org GET /check 5000 * x-user,x-\\'\\# https://sso.example.org/?rd={escapedurl}",
            "http-request return status 503 content-type \"text/plain; charset=utf-8\" string \"external authentication \
             gave no decision - 503\" unless { var(txn.auth_passed) -m str yes }",
            "http-response lua.external-auth-cookies if { var(txn.auth_cookies) -m found }",
        ]
    );
}

#[test]
fn the_main_text_has_the_script_and_the_frontend_only_when_they_are_needed() {
    let plain = renderer("3.2").full(&empty(), &Texts::default());
    assert!(!plain.main.contains("auth") && plain.main_assets.is_empty());
    for (branch, load) in [("2.2", "  lua-load /etc"), ("3.2", "  lua-load-per-thread /etc")] {
        let texts = renderer(branch).full(&model(&host("192.0.2.1", 80, false), |_| ()), &Texts::default());
        assert!(texts.main.contains(load), "{}", texts.main);
        assert!(texts.main.contains("  server auth 192.0.2.1:80"), "{}", texts.main);
        assert!(!texts.main.contains("resolvers"), "{}", texts.main);
        assert_eq!(texts.main_assets.len(), 1);
        assert!(texts.main.contains(texts.main_assets[0].name().as_ref()));
    }
    let secure = |branch: &str| {
        renderer(branch).full(&model(&host("a.test", 443, true), |_| ()), &Texts::default()).main
    };
    let server = "server auth a.test:443 pool-low-conn 32 resolvers external-auth init-addr last,libc,none ssl verify required ca-file @system-ca";
    assert!(secure("2.6").contains(server));
    assert!(!secure("2.2").contains("server auth"), "it could not be verified");
}

#[test]
fn every_branch_takes_it() {
    for branch in BRANCHES {
        for who in
            [host("localhost", 443, true), host("localhost", 80, false), host("2001:db8::1", 80, false)]
        {
            let mut model = model(&who, |ask| {
                ask.path = format!("/{}?x='y'&z=%20#{}", "p".repeat(1500), "\"").into();
                ask.sends = Some((0..64).map(|i| format!("x-very-long-name-{i}'`#~").into()).collect());
                ask.copies = vec!["!#$%&'*+-.^_`|~".into()];
                ask.sign_in = Some(format!("https://{}/?{{uri}}=$HOME\"\\", "s".repeat(1900)).into());
            });
            model.default_certificate = pem(&["default.test"]).0;
            let haproxy = HaProxy::start(branch, &mut model);
            assert_eq!(haproxy.http("GET / HTTP/1.1\r\nHost: x\r\n").status, 404, "{branch}");
        }
    }
}
