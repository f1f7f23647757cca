//! What of a server's text changes live.

use super::*;
use crate::model::policy::servers::{MaxConnections, Persistence, ServerTls};

/// One backend, always under its plain name, with the policy that this makes.
fn model(addresses: &[&str], change: impl Fn(&mut Policy)) -> Model {
    let mut model = empty();
    let servers: Vec<_> = addresses.iter().map(|address| (*address, ServerState::Active)).collect();
    let mut backend = web(&servers);
    change(Arc::make_mut(&mut backend.policy));
    add_backend(&mut model, backend);
    model
}

#[test]
fn a_limit_changes_live_where_haproxy_survives_it() {
    let limit = |share| {
        move |policy: &mut Policy| policy.servers.max_connections = Some(MaxConnections { total: 9, share })
    };
    let (a, b) = (model(&["10.0.0.1"], limit(9)), model(&["10.0.0.1"], limit(3)));
    let (running, wanted, plan) = planned("2.6", &a, &b);
    assert_eq!((commands(&plan), labels(&plan)), (vec!["maximum 10.0.0.1:80 3".to_owned()], vec![]));
    let mut haproxy = Simulated::load(&running);
    plan.steps.iter().flat_map(|step| &step.commands).for_each(|command| haproxy.apply(command));
    haproxy.assert_runs(&wanted);
    let (_, _, plan) = planned("2.6", &model(&["10.0.0.1"], |_| {}), &b);
    assert_eq!(commands(&plan), ["maximum 10.0.0.1:80 3"]);
    let (_, _, plan) = planned("2.2", &a, &b);
    assert_eq!((commands(&plan), labels(&plan)), (vec![], vec!["backend-changed"]));
}

#[test]
fn new_servers_get_their_cookies() {
    let cookie = |policy: &mut Policy| {
        policy.servers.persistence = Some(Persistence { cookie: "pod".into(), by_name: false });
    };
    let (_, _, plan) = planned("2.6", &model(&[], cookie), &model(&["10.0.0.1"], cookie));
    assert_eq!(commands(&plan).last().map(String::as_str), Some("cookies"));
    let (_, _, plan) = planned("2.6", &model(&["10.0.0.1"], cookie), &model(&[], cookie));
    assert_eq!(commands(&plan), ["remove server 10.0.0.1:80"]);
}

#[test]
fn servers_with_cookies_of_their_own_need_3_0() {
    let cookie = |policy: &mut Policy| {
        policy.servers.persistence = Some(Persistence { cookie: "pod".into(), by_name: true });
    };
    let (one, two) = (model(&["10.0.0.1"], cookie), model(&["10.0.0.1", "10.0.0.2"], cookie));
    for (branch, live) in [("2.2", false), ("2.6", false), ("3.0", true)] {
        let (_, _, plan) = planned(branch, &one, &two);
        assert_eq!(plan.reload.is_empty(), live, "{branch}");
        assert_eq!(plan.steps.is_empty(), !live, "{branch}");
        let (_, _, plan) = planned(branch, &two, &one);
        assert_eq!(plan.reload.is_empty(), branch != "2.2", "{branch}");
        // Nor can a spare take them.
        let mut spares = empty();
        cookie(Arc::make_mut(&mut Arc::make_mut(&mut spares.global).plain));
        let mut wanted = two.clone();
        wanted.global = spares.global.clone();
        let (_, _, plan) = planned(branch, &spares, &wanted);
        assert_eq!(plan.reload.is_empty(), live, "{branch}");
    }
}

#[test]
fn other_keywords_are_another_header() {
    let tls = |policy: &mut Policy| policy.servers.tls = Some(ServerTls::default());
    let (bare, secure) = (model(&["10.0.0.1"], |_| {}), model(&["10.0.0.1"], tls));
    for branch in BRANCHES {
        let (_, _, plan) = planned(branch, &bare, &secure);
        assert_eq!((commands(&plan), labels(&plan)), (vec![], vec!["backend-changed"]), "{branch}");
    }
    // But a new backend with them takes a plain spare.
    let (_, _, plan) = planned("3.2", &empty(), &secure);
    assert!(plan.reload.is_empty());
    assert!(commands(&plan)[0].contains("ssl verify none"), "{:?}", commands(&plan));
}

/// A release that must not delete servers has no room for one of the same name.
#[test]
fn other_keywords_of_a_server_need_a_reload_where_it_cannot_be_deleted() {
    let running = rendered("2.6", &model(&["10.0.0.1"], |_| {}), &Texts::default());
    let (name, text) = running.backends.iter().find(|(_, text)| !text.servers.is_empty()).unwrap();
    let mut changed = BackendText::clone(text);
    for line in changed.servers.values_mut() {
        *line = format!("{line} ssl verify none").into();
    }
    let mut wanted = running.clone();
    wanted.backends.insert_mut(name.clone(), Arc::new(changed));
    for (release, live) in [("2.6.12", false), ("2.6.20", true)] {
        let plan = plan(&running, &wanted, &Units::All, Capabilities::of_release(release).unwrap());
        assert_eq!((plan.reload.is_empty(), commands(&plan).is_empty()), (live, !live), "{release}");
    }
}
