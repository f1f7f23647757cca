//! Spare backends: taken, kept, given back.

use std::collections::BTreeSet;

use super::*;

const BRANCH: &str = "3.2";

/// A model with these Services, each with a server and a host of its own.
fn services(numbers: impl IntoIterator<Item = usize>) -> Model {
    let mut model = empty();
    for number in numbers {
        let servers = [server(&format!("10.0.0.{number}"), 80, ServerState::Active)];
        let name = add_backend(&mut model, backend(&format!("ns/s{number}"), 80, &servers));
        add_route(
            &mut model,
            route(key(exact_host(&format!("{number}.test")), prefix("")), Some(&name), &[]),
        );
    }
    model
}

/// Goes on to a model; fails when that needs a reload.
fn live(running: &mut Texts, model: &Model) -> Plan {
    let plan = to(running, model);
    assert_eq!(labels(&plan), [""; 0]);
    adopt(running, &plan);
    plan
}

fn to(running: &Texts, model: &Model) -> Plan {
    let wanted = rendered(BRANCH, model, running);
    plan(running, &wanted, &Units::All, capabilities(BRANCH))
}

fn adopt(running: &mut Texts, plan: &Plan) {
    plan.steps.iter().for_each(|step| running.adopt(&plan.placed, &step.unit));
}

fn text(running: &Texts, spare: &str) -> String {
    running.backends.get(&BackendName::parsed(spare)).unwrap().header.to_string()
}

/// Whom the spares stand for.
fn taken(running: &Texts) -> Vec<String> {
    let named = running.backends.iter().filter_map(|(name, text)| Some((name, text.stands_for()?)));
    named.map(|(spare, name)| format!("{spare} {name}")).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Every request reaches the servers that it shall reach, under whatever names.
pub(super) fn assert_same_answers(running: &Texts, wanted: &Texts) {
    let answers = |texts: &Texts, id: MapId| -> Vec<(Arc<str>, Vec<String>)> {
        let answer = |name: &str| match texts.backends.get(&BackendName::parsed(name)) {
            Some(text) => format!("{:?}", text.servers),
            None => name.to_owned(),
        };
        let all = texts.map(id).iter();
        all.map(|(key, value)| (key.clone(), value.split('|').map(answer).collect())).collect()
    };
    for id in MapId::ALL {
        assert_eq!(answers(running, id), answers(wanted, id));
    }
}

pub(super) fn assert_no_entry_names_a_free_spare(running: &Texts) {
    for id in MapId::ALL {
        for name in running.map(id).values().flat_map(|value| value.split('|')) {
            let name = BackendName::parsed(name);
            let free = name.is_spare() && running.backends.get(&name).unwrap().stands_for().is_none();
            assert!(!free, "{name} is named, and free");
        }
    }
}

#[test]
fn a_new_service_takes_the_first_free_spare() {
    let mut running = rendered(BRANCH, &services([1]), &Texts::default());
    let generation = running.generation();
    let plan = live(&mut running, &services([1, 2, 3]));
    let id = |address: &str| server(address, 80, ServerState::Active).id;
    assert_eq!(
        commands(&plan),
        [
            format!("add server 10.0.0.2:80 = 10.0.0.2:80 id {}", id("10.0.0.2")),
            "mode 10.0.0.2:80 Ready".to_owned(),
            format!("add server 10.0.0.3:80 = 10.0.0.3:80 id {}", id("10.0.0.3")),
            "mode 10.0.0.3:80 Ready".to_owned(),
            "add web|2.test/ spare-00".to_owned(),
            "add web|3.test/ spare-01".to_owned(),
        ]
    );
    assert_eq!(
        text(&running, "spare-00"),
        "backend spare-00 from outrigger\n  # spare: a new Service takes it while HAProxy runs\n  balance roundrobin\n  # stands for ns_s2_80\n"
    );
    assert_eq!(running.generation(), generation);
    // What is on disk says it all: who reads it finds nothing to do.
    let read = files::parsed(&running);
    assert_eq!(read, running);
    assert!(to(&read, &services([1, 2, 3])).is_empty());
}

#[test]
fn later_changes_reach_the_spare_that_stands_in() {
    let mut running = rendered(BRANCH, &empty(), &Texts::default());
    live(&mut running, &services([1]));
    let mut changed = services([]);
    let servers = [server("10.0.0.9", 80, ServerState::Active)];
    let name = add_backend(&mut changed, backend("ns/s1", 80, &servers));
    for host in ["1.test", "more.test"] {
        let redirect = [Filter::RedirectToHttps { status: 302, port: None }];
        add_route(&mut changed, route(key(exact_host(host), prefix("")), Some(&name), &redirect));
    }
    let wanted = rendered(BRANCH, &changed, &running);
    let plan = live(&mut running, &changed);
    let in_spare = |command: &Command| match command {
        Command::AddServer { backend, .. } | Command::RemoveServer { backend, .. } => backend.is_spare(),
        _ => true,
    };
    assert!(plan.steps.iter().flat_map(|step| &step.commands).all(in_spare));
    assert_eq!(
        commands(&plan)[2..],
        [
            "remove server 10.0.0.1:80",
            "set web|1.test/ spare-00|redirect-https_302",
            "add web|more.test/ spare-00|redirect-https_302"
        ]
    );
    assert_same_answers(&running, &wanted);
    // Its settings change: that needs a reload, and until then everything stays as it is.
    let mut least = backend("ns/s1", 80, &[]);
    least_conn(&mut least);
    add_backend(&mut changed, least);
    let plan = to(&running, &changed);
    assert_eq!(plan.reload, [ReloadReason::BackendChanged(name)]);
    assert_eq!(plan.steps, []);
}

#[test]
fn a_spare_stands_for_nobody_else_until_the_next_reload() {
    let mut running = rendered(BRANCH, &empty(), &Texts::default());
    live(&mut running, &services([1, 2]));
    assert_eq!(taken(&running), ["spare-00 ns_s1_80", "spare-01 ns_s2_80"]);
    // One goes while another comes: a request that is still tried again in the first must not reach the second.
    let plan = live(&mut running, &services([2, 3]));
    assert_eq!(
        commands(&plan)[1..],
        ["mode 10.0.0.3:80 Ready", "add web|3.test/ spare-02", "delete web|1.test/"]
    );
    assert_eq!(taken(&running), ["spare-00 ns_s1_80", "spare-01 ns_s2_80", "spare-02 ns_s3_80"]);
    // It comes back to where it was.
    let plan = live(&mut running, &services([1, 2, 3]));
    assert_eq!(commands(&plan), ["add web|1.test/ spare-00"]);
}

#[test]
fn when_all_spares_are_taken_a_reload_gives_everybody_a_name() {
    let mut running = rendered(BRANCH, &empty(), &Texts::default());
    live(&mut running, &services(1..=63));
    let plan = to(&running, &services(1..=66));
    let new = |number| ReloadReason::NewBackend(BackendName::parsed(&format!("ns_s{number}_80")));
    assert_eq!(plan.reload, [new(65), new(66)]);
    adopt(&mut running, &plan);
    assert_eq!(taken(&running).len(), 64);
    assert_eq!(running.map(MapId::Prefix).size(), 64);
    // 1.test moves to a Service that must wait: its old one is answering until then, although nobody wants it.
    let mut moved = services(2..=66);
    let target = BackendName::parsed("ns_s65_80");
    add_route(&mut moved, route(key(exact_host("1.test"), prefix("")), Some(&target), &[]));
    let plan = to(&running, &moved);
    assert_eq!((plan.steps.len(), labels(&plan)), (0, vec!["new-backend", "new-backend"]));
    // Without that route nobody waits for a reload.
    let plan = to(&running, &services(2..=64));
    assert_eq!(commands(&plan), ["delete web|1.test/"]);
}

#[test]
fn another_shape_and_older_haproxies_need_a_reload() {
    let mut model = empty();
    let mut least = web(&[("10.0.0.1", ServerState::Active)]);
    least_conn(&mut least);
    add_backend(&mut model, least);
    let running = rendered(BRANCH, &empty(), &Texts::default());
    assert_eq!(labels(&to(&running, &model)), ["new-backend"]);
    let (running, _, plan) = planned("2.2", &empty(), &services([1]));
    assert_eq!((running.backends.size(), labels(&plan)), (0, vec!["new-backend"]));
}
