//! What is rendered, text by text.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests panic, and start HAProxy"
)]

mod access;
mod auth;
mod decisions;
mod escaping;
mod haproxy;
mod log_formats;
pub(crate) mod models;
mod requests;
mod rewriting;
mod runtime;
mod servers;
mod snippets;

use std::net::Ipv6Addr;
use std::sync::Arc;

use bytes::Bytes;
use outrigger_init::Volumes;
use proptest::prelude::*;

use self::models::*;
use super::Renderer;
use crate::model::*;
use crate::plan::{MapId, Slot, Texts};

fn renderer(branch: &str) -> Renderer {
    Renderer::new(Volumes::default(), capabilities(branch))
}

fn entries(map: &crate::cluster::Map<Arc<str>, Arc<str>>) -> String {
    map.iter().flat_map(|(key, value)| [key, " ", value, "\n"]).collect()
}

#[test]
fn main_text_of_3_2() {
    let mut model = empty();
    Arc::make_mut(&mut model.global).listeners.ipv6 = Some(Ipv6Addr::UNSPECIFIED);
    let text = renderer("3.2").full(&model, &Texts::default()).main;
    assert_eq!(text.as_ref(), include_str!("tests/main-3.2.cfg"));
}

#[test]
fn main_text_of_2_2_needs_a_socket_for_its_listeners_and_names_no_defaults() {
    let text = renderer("2.2").full(&empty(), &Texts::default()).main;
    assert!(
        text.contains(
            "  stats socket /var/run/haproxy/worker.sock mode 660 level admin expose-fd listeners\n"
        )
    );
    for newer in [" from ", "fd-hard-limit", "idle-close-on-response"] {
        assert!(!text.contains(newer), "{newer} in {text}");
    }
}

#[test]
fn listeners_that_are_off_have_no_frontend() {
    let mut model = empty();
    let listeners = &mut Arc::make_mut(&mut model.global).listeners;
    (listeners.http, listeners.https) = (None, None);
    let text = renderer("3.2").full(&model, &Texts::default()).main;
    assert!(!text.contains("frontend http"), "{text}");
    assert!(text.contains("frontend healthz"), "{text}");
}

#[test]
fn backend_with_dynamic_servers() {
    let mut model = empty();
    let servers =
        [server("10.0.0.1", 8080, ServerState::Active), server("2001:db8::1", 8080, ServerState::Draining)];
    let mut least = backend("shop/web", 80, &servers);
    least_conn(&mut least);
    let name = add_backend(&mut model, least);
    let texts = renderer("3.0").full(&model, &Texts::default());
    let text = texts.backends.get(&name).unwrap();
    assert_eq!(
        text.header.as_ref(),
        "backend shop_web_80 from outrigger\n  # Service shop/web, port 80\n  balance leastconn\n"
    );
    let lines: Vec<String> = text.servers.iter().map(|(name, line)| format!("{name} {line}")).collect();
    let ids = servers.map(|s| s.id);
    assert_eq!(
        lines,
        [
            format!("10.0.0.1:8080 10.0.0.1:8080 id {}", ids[0]),
            format!("2001:db8::1:8080 [2001:db8::1]:8080 id {} weight 0", ids[1]),
        ]
    );
}

#[test]
fn routes_are_map_entries() {
    let mut model = empty();
    let name = BackendName::parsed("ns_web_80");
    let redirect = [Filter::RedirectToHttps { status: 302, port: None }];
    for (host, path, backend, filters) in [
        (exact_host("foo.bar"), prefix(""), None, &[][..]),
        (exact_host("foo.bar"), prefix("/a"), Some(&name), &redirect),
        (exact_host("foo.bar"), exact("/a"), Some(&name), &[]),
        (
            HostMatch::Wildcard("foo.bar".into()),
            prefix(""),
            Some(&name),
            &[Filter::RedirectToHttps { status: 999, port: None }],
        ),
        (HostMatch::Any, exact("/x y"), Some(&name), &[]),
        (HostMatch::Default, prefix(""), Some(&BackendName::fixed(503)), &[]),
        (exact_host("[2001:db8::1]"), prefix(""), Some(&name), &[]),
    ] {
        add_route(&mut model, route(key(host, path), backend, filters));
    }
    let texts = renderer("3.0").full(&model, &Texts::default());
    assert_eq!(entries(texts.map(MapId::Exact)), "web|*/x%20y ns_web_80\nweb|foo.bar/a ns_web_80\n");
    let expected = "web|!/ fixed_503\nweb|.foo.bar/ ns_web_80|redirect-https_302\nweb|[2001:db8::1]/ ns_web_80\n\
                    web|foo.bar/ -\nweb|foo.bar/a/ ns_web_80|redirect-https_302\n";
    assert_eq!(entries(texts.map(MapId::Prefix)), expected);
}

#[test]
fn certificates_are_listed_for_their_hosts_only() {
    let mut model = empty();
    add_certificate(
        &mut model,
        certificate("ns/b", Bytes::from_static(b"B\n"), &["b.test", "*.b.test", "not a host"]),
    );
    add_certificate(&mut model, certificate("ns/none", Bytes::from_static(b"N\n"), &[]));
    let texts = renderer("3.0").full(&model, &Texts::default());
    let list = texts.file(&crate::plan::FileId::CrtList, &Volumes::default()).unwrap();
    let list = outrigger_init::unseal(std::str::from_utf8(&list).unwrap()).unwrap().to_owned();
    assert_eq!(
        list,
        "/var/lib/haproxy/certs/default.pem outrigger-default.invalid\n\
         /var/lib/haproxy/certs/ns_b.pem *.b.test b.test\n"
    );
}

#[test]
fn slots_keep_their_places() {
    let name = BackendName::parsed("ns_web_80");
    let model = |addresses: &[&str]| {
        let mut model = empty();
        let servers: Vec<Server> = addresses.iter().map(|a| server(a, 80, ServerState::Active)).collect();
        add_backend(&mut model, backend("ns/web", 80, &servers));
        model
    };
    let slots = |texts: &Texts| -> Vec<String> {
        let servers = servers(texts, &name);
        (1..=servers.len()).map(|i| servers[format!("s{i}").as_str()].to_string()).collect()
    };
    let renderer = renderer("2.2");
    let first = renderer.full(&model(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]), &Texts::default());
    assert_eq!(slots(&first)[..4], ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80", Slot::FREE]);
    assert_eq!(slots(&first).len(), 10);

    // .1 goes and .0 comes: the others stay, and the new one does not take the place that has just become free.
    let second = renderer.full(&model(&["10.0.0.0", "10.0.0.2", "10.0.0.3"]), &first);
    assert_eq!(slots(&second)[..5], [Slot::FREE, "10.0.0.2:80", "10.0.0.3:80", "10.0.0.0:80", Slot::FREE]);
    assert_eq!(first.backends.get(&name).unwrap().header, second.backends.get(&name).unwrap().header);

    // Eleven do not fit into ten: more slots, at least two of them spare, and still nobody moves.
    let many: Vec<String> = (2..=12).map(|i| format!("10.0.0.{i}")).collect();
    let third = renderer.full(&model(&many.iter().map(String::as_str).collect::<Vec<_>>()), &second);
    assert_eq!(slots(&third).len(), 20);
    assert_eq!(slots(&third)[1..3], ["10.0.0.2:80", "10.0.0.3:80"]);
    assert!(third.backends.get(&name).unwrap().header.contains("# 20 slots"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn incremental_equals_full(a in any_model(), b in any_model(), branch in prop::sample::select(&BRANCHES[..])) {
        let renderer = renderer(branch);
        let running = renderer.full(&a, &Texts::default());
        let mut wanted = running.clone();
        renderer.refresh(&b, &Touched::between(&a, &b), &running, &mut wanted);
        prop_assert_eq!(wanted, renderer.full(&b, &running));
    }

    #[test]
    fn slots_hold_exactly_the_servers(sets in prop::collection::vec(prop::collection::btree_set(1u8..30, 0..25), 1..6)) {
        let mut running = Texts::default();
        for set in sets {
            let servers: Vec<Server> =
                set.iter().map(|i| server(&format!("10.0.0.{i}"), 80, ServerState::Active)).collect();
            let mut model = empty();
            let name = add_backend(&mut model, backend("ns/web", 80, &servers));
            let before = running.backends.get(&name).cloned();
            running = renderer("2.2").full(&model, &running);
            let now = running.backends.get(&name).unwrap();
            let held: std::collections::BTreeSet<String> =
                now.servers.values().filter_map(|text| Slot::parse(text)?.socket()).collect();
            prop_assert_eq!(held, servers.iter().map(|s| format!("{}:80", s.key.address)).collect());
            // Who stays, stays where it is.
            for (slot, old) in before.iter().flat_map(|text| &text.servers).filter(|(_, old)| &***old != Slot::FREE) {
                prop_assert!(now.servers.get(slot) == Some(old) || now.servers.values().all(|text| text != old));
            }
        }
    }
}
