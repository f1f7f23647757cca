//! Plans, applied to a simulated HAProxy and to running texts; files and back.
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests panic")]

mod files;
mod regexes;
mod servers;
mod simulation;
mod spares;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use outrigger_init::Volumes;
use proptest::prelude::*;

use self::simulation::Simulated;
use super::*;
use crate::model::*;
use crate::render::Renderer;
use crate::render::tests::models::*;

fn rendered(branch: &str, model: &Model, running: &Texts) -> Texts {
    Renderer::new(Volumes::default(), capabilities(branch)).full(model, running)
}

/// Plans from one model to the next; both texts are given back.
fn planned(branch: &str, a: &Model, b: &Model) -> (Texts, Texts, Plan) {
    let running = rendered(branch, a, &Texts::default());
    let wanted = rendered(branch, b, &running);
    let plan = plan(&running, &wanted, &Units::All, capabilities(branch));
    (running, wanted, plan)
}

/// The commands of a plan as short words.
fn commands(plan: &Plan) -> Vec<String> {
    let all = plan.steps.iter().flat_map(|step| &step.commands);
    all.map(|command| match command {
        Command::AddServer { server, line, .. } => format!("add server {server} = {line}"),
        Command::RemoveServer { server, .. } => format!("remove server {server}"),
        Command::SetMode { server, mode, .. } => format!("mode {server} {mode:?}"),
        Command::SetWeight { server, weight, .. } => format!("weight {server} {weight}"),
        Command::SetMaximum { server, maximum, .. } => format!("maximum {server} {maximum}"),
        Command::MakeCookies { .. } => "cookies".to_owned(),
        Command::SetAddress { server, address, port, .. } => format!("address {server} {address} {port}"),
        Command::AddMapEntry { key, value, .. } => format!("add {key} {value}"),
        Command::SetMapEntry { key, value, .. } => format!("set {key} {value}"),
        Command::DeleteMapEntry { key, .. } => format!("delete {key}"),
        Command::ReplaceMap { entries, .. } => {
            entries.iter().map(|(key, _)| key.as_ref()).collect::<Vec<_>>().join(" > ")
        }
        Command::AddPattern { list, pattern } => format!("pattern {list} {pattern}"),
        Command::DeletePattern { list, pattern } => format!("no pattern {list} {pattern}"),
        Command::AddCertificate { file, .. } => format!("new certificate {file}"),
        Command::SetCertificate { file, .. } => format!("set certificate {file}"),
        Command::DeleteCertificate { file } => format!("delete certificate {file}"),
        Command::AddToList { file, filters } => format!("list {file} {filters}"),
        Command::RemoveFromList { file } => format!("unlist {file}"),
    })
    .collect()
}

fn labels(plan: &Plan) -> Vec<&'static str> {
    plan.reload.iter().map(ReloadReason::label).collect()
}

fn web(servers: &[(&str, ServerState)]) -> Backend {
    let servers: Vec<Server> = servers.iter().map(|(address, state)| server(address, 80, *state)).collect();
    backend("ns/web", 80, &servers)
}

#[test]
fn servers_change_live() {
    use ServerState::{Active, Draining};
    let (mut a, mut b) = (empty(), empty());
    add_backend(&mut a, web(&[("10.0.0.1", Active), ("10.0.0.2", Active), ("10.0.0.3", Draining)]));
    add_backend(&mut b, web(&[("10.0.0.2", Draining), ("10.0.0.3", Active), ("10.0.0.4", Active)]));
    let (_, _, plan) = planned("2.6", &a, &b);
    let id = server("10.0.0.4", 80, Active).id;
    assert_eq!(
        commands(&plan),
        [
            "weight 10.0.0.2:80 0".to_owned(),
            "weight 10.0.0.3:80 1".to_owned(),
            format!("add server 10.0.0.4:80 = 10.0.0.4:80 id {id}"),
            "mode 10.0.0.4:80 Ready".to_owned(),
            "remove server 10.0.0.1:80".to_owned(),
        ]
    );
    assert_eq!(labels(&plan), [""; 0]);

    let (_, _, plan) = planned("2.2", &a, &b);
    assert_eq!(
        commands(&plan),
        [
            "weight s2 0",
            "weight s3 1",
            "address s4 10.0.0.4 80",
            "mode s4 Ready",
            "mode s1 Maintenance",
            "address s1 127.0.0.1 1",
        ]
    );
    assert_eq!(labels(&plan), [""; 0]);
}

#[test]
fn a_full_backend_reuses_a_slot_through_maintenance() {
    let addresses: Vec<String> = (1..=11).map(|i| format!("10.0.0.{i}")).collect();
    let model = |range: std::ops::Range<usize>| {
        let mut model = empty();
        let servers: Vec<_> = addresses[range].iter().map(|a| (a.as_str(), ServerState::Active)).collect();
        add_backend(&mut model, web(&servers));
        model
    };
    let mut running = rendered("2.2", &model(0..8), &Texts::default());
    running = rendered("2.2", &model(0..10), &running);
    let wanted = rendered("2.2", &model(1..11), &running);
    let plan = plan(&running, &wanted, &Units::All, capabilities("2.2"));
    assert_eq!(commands(&plan), ["mode s1 Maintenance", "address s1 10.0.0.11 80", "mode s1 Ready"]);
    let more = rendered("2.2", &model(0..11), &running);
    let plan = super::plan(&running, &more, &Units::All, capabilities("2.2"));
    assert_eq!((commands(&plan).len(), labels(&plan)), (0, vec!["more-slots"]));
}

#[test]
fn a_route_to_a_new_backend_waits_for_its_reload() {
    let (a, mut b) = (empty(), empty());
    let mut least = web(&[]);
    least_conn(&mut least);
    let name = add_backend(&mut b, least);
    add_route(&mut b, route(key(exact_host("new.test"), prefix("")), Some(&name), &[]));
    add_route(&mut b, route(key(exact_host("gone.test"), prefix("")), Some(&BackendName::fixed(503)), &[]));
    let (running, wanted, plan) = planned("3.2", &a, &b);
    assert_eq!(commands(&plan), ["add web|gone.test/ fixed_503"]);
    assert_eq!(plan.reload, [ReloadReason::NewBackend(name.clone())]);
    assert_eq!(plan.reload[0].to_string(), "backend `ns_web_80` is new");
    let entry = Unit::Entry(MapId::Prefix, "web|new.test/".into());
    assert_eq!(plan.waiting, [Unit::Backend(name), entry]);
    // Gone again: it runs on until some other reload, and is no reason for one.
    let back = super::plan(&wanted, &running, &Units::All, capabilities("3.2"));
    assert_eq!(commands(&back), ["delete web|gone.test/", "delete web|new.test/"]);
    assert_eq!((labels(&back), back.waiting.len()), (vec![], 0));
}

#[test]
fn certificates_change_live() {
    let (mut a, mut b) = (empty(), empty());
    let pem = |text: &'static str| Bytes::from_static(text.as_bytes());
    add_certificate(&mut a, certificate("ns/old", pem("1"), &["old.test"]));
    add_certificate(&mut a, certificate("ns/renewed", pem("1"), &["renewed.test"]));
    add_certificate(&mut a, certificate("ns/hosts", pem("1"), &["a.test"]));
    add_certificate(&mut b, certificate("ns/renewed", pem("2"), &["renewed.test"]));
    add_certificate(&mut b, certificate("ns/hosts", pem("1"), &["a.test", "b.test"]));
    add_certificate(&mut b, certificate("ns/new", pem("1"), &["new.test"]));
    b.default_certificate = pem("2");
    let (_, _, plan) = planned("3.2", &a, &b);
    assert_eq!(
        commands(&plan),
        [
            "list ns_hosts.pem a.test b.test",
            "unlist ns_hosts.pem",
            "new certificate ns_new.pem",
            "list ns_new.pem new.test",
            "set certificate ns_renewed.pem",
            "set certificate default.pem",
            "unlist ns_old.pem",
            "delete certificate ns_old.pem",
        ]
    );
    assert_eq!(labels(&plan), [""; 0]);
}

#[test]
fn certificates_of_a_listener_that_is_off_are_only_files() {
    let off = || {
        let mut model = empty();
        Arc::make_mut(&mut model.global).listeners.https = None;
        model
    };
    let (a, mut b) = (off(), off());
    add_certificate(&mut b, certificate("ns/a", Bytes::from_static(b"1"), &["a.test"]));
    let (_, _, plan) = planned("3.2", &a, &b);
    assert_eq!(plan.steps, [Step { unit: Unit::Certificate("ns_a.pem".into()), commands: vec![] }]);
    assert_eq!(labels(&plan), [""; 0]);
}

#[test]
fn lists_change_live_when_something_that_runs_refers_to_them() {
    let texts = |header: &str, lists: &[(&str, &[&str])]| {
        let mut texts = Texts { main: "global\n".into(), ..Texts::default() };
        let text = BackendText { header: header.into(), servers: BTreeMap::new(), assets: Vec::new() };
        texts.backends.insert_mut(BackendName::parsed("a"), Arc::new(text));
        for (name, patterns) in lists {
            texts
                .lists
                .insert_mut((*name).into(), Arc::new(patterns.iter().map(|p| Arc::from(*p)).collect()));
        }
        texts
    };
    let header = "backend a\n  http-request deny if { src -f /etc/haproxy/patterns/a.lst-2 }\n";
    let running = texts(header, &[("a.lst", &["1"]), ("a.lst-2", &["1", "2"])]);
    let wanted = texts(header, &[("a.lst", &["2"]), ("a.lst-2", &["2", "3"]), ("new", &["1"])]);
    let plan = diff(&running, &wanted, &Units::All, capabilities("3.2"));
    assert!(plan.reload.is_empty() && plan.waiting.is_empty());
    // The other names begin alike, or nothing refers to them.
    assert_eq!(commands(&plan), ["pattern a.lst-2 3", "no pattern a.lst-2 1"]);
    let many: Vec<String> = (0..6_000).map(|i| i.to_string()).collect();
    let many: Vec<&str> = many.iter().map(AsRef::as_ref).collect();
    let plan = diff(&running, &texts(header, &[("a.lst-2", &many)]), &Units::All, capabilities("3.2"));
    assert_eq!(labels(&plan), ["list-changed"]);
}

#[test]
fn a_changed_main_text_says_which_section() {
    let (a, mut b) = (empty(), empty());
    Arc::make_mut(&mut b.global).listeners.http = Some(81);
    let (_, _, plan) = planned("3.2", &a, &b);
    assert_eq!(plan.reload, [ReloadReason::MainChanged("frontend http".into())]);
    assert_eq!(plan.waiting, [Unit::Main]);
}

#[test]
fn from_nothing_everything_waits_for_the_first_reload() {
    let mut model = empty();
    let name = add_backend(&mut model, web(&[("10.0.0.1", ServerState::Active)]));
    add_route(&mut model, route(key(exact_host("a.test"), prefix("")), Some(&name), &[]));
    add_route(&mut model, route(key(exact_host("b.test"), prefix("")), None, &[]));
    add_certificate(&mut model, certificate("ns/a", Bytes::from_static(b"1"), &["a.test"]));
    let wanted = rendered("3.2", &model, &Texts::default());
    let plan = plan(&Texts::default(), &wanted, &Units::All, capabilities("3.2"));
    assert_eq!(plan.steps, []);
    let spare = |unit: &&Unit| matches!(unit, Unit::Backend(name) if name.is_spare());
    let spares = plan.waiting.iter().filter(spare).count();
    assert_eq!((spares, plan.waiting.len() - spares), (64, 6));
    assert_eq!(labels(&plan), ["main-changed", "new-backend", "no-default-certificate"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_to_do_between_equals(model in any_model(), branch in prop::sample::select(&BRANCHES[..])) {
        let (_, _, plan) = planned(branch, &model, &model);
        prop_assert!(plan.is_empty(), "{:?}", plan);
    }

    /// The steps bring the worker, and the running texts, to the same place. Without a reload that answers every request
    /// as it is wanted, nothing is left to do, and it is read back from the files as it is.
    #[test]
    fn a_plan_does_what_it_says(
        models in prop::collection::vec(any_model(), 2..6),
        branch in prop::sample::select(&BRANCHES[..]),
    ) {
        let mut running = rendered(branch, &models[0], &Texts::default());
        for model in &models[1..] {
            let wanted = rendered(branch, model, &running);
            let mut haproxy = Simulated::load(&running);
            let plan = plan(&running, &wanted, &Units::All, capabilities(branch));
            let generation = running.generation();
            for step in &plan.steps {
                step.commands.iter().for_each(|command| haproxy.apply(command));
                running.adopt(&plan.placed, &step.unit);
                haproxy.assert_runs(&running);
                spares::assert_no_entry_names_a_free_spare(&running);
            }
            prop_assert_eq!(running.generation(), generation);
            prop_assert_eq!(plan.reload.is_empty(), plan.waiting.is_empty());
            prop_assert_eq!(files::parsed(&running), running.clone());
            if plan.reload.is_empty() {
                spares::assert_same_answers(&running, &wanted);
                prop_assert_eq!(&running.certificates, &wanted.certificates);
                prop_assert_eq!(&running.default_certificate, &wanted.default_certificate);
                let rest = super::plan(&running, &wanted, &Units::All, capabilities(branch));
                prop_assert!(rest.is_empty(), "{:?}", rest);
            } else {
                running = wanted;
            }
        }
    }

    /// Looking at the touched units only gives the same plan, in whatever order they were touched.
    #[test]
    fn touched_units_suffice(
        a in any_model(), b in any_model(), c in any_model(), branch in prop::sample::select(&BRANCHES[..]),
    ) {
        let renderer = Renderer::new(Volumes::default(), capabilities(branch));
        let (mut running, mut incremental, first) = planned(branch, &a, &b);
        if first.reload.is_empty() {
            first.steps.iter().for_each(|step| running.adopt(&first.placed, &step.unit));
        } else {
            running = incremental.clone();
        }
        let wanted = rendered(branch, &c, &running);
        let units = renderer.refresh(&c, &Touched::between(&b, &c), &running, &mut incremental);
        prop_assert_eq!(&incremental, &wanted);
        let all = plan(&running, &wanted, &Units::All, capabilities(branch));
        let some = plan(&running, &wanted, &units, capabilities(branch));
        prop_assert_eq!((some.steps, some.reload, some.waiting), (all.steps, all.reload, all.waiting));
    }
}
