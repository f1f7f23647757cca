//! Updates against a HAProxy that refuses lines with `bad` in them, and says so or does not.
#![allow(
    clippy::unwrap_used,
    clippy::unwrap_in_result,
    clippy::panic,
    clippy::format_push_string,
    reason = "tests panic"
)]

use std::collections::BTreeSet;
use std::sync::Arc;

use outrigger_init::{SHARDS, Volumes};
use proptest::prelude::*;

use super::blame::Read;
use super::*;
use crate::cluster::{Kind, ObjectName, Origin};
use crate::model::{Backend, HostMatch, ListName};
use crate::plan::{FileId, MapId, Texts};
use crate::render::Renderer;
use crate::render::tests::models::*;

fn snippet(name: &str, lines: &[&str]) -> Snippet {
    Snippet {
        origin: Origin::object(Kind::Ingress, ObjectName::new("ns", name))
            .at("haproxy.org/backend-config-snippet"),
        lines: lines.iter().map(|line| Arc::from(*line)).collect(),
    }
}

/// A backend with a snippet, and a route to it.
fn add(model: &mut Model, name: &str, lines: &[&str]) -> BackendName {
    let mut backend: Backend = backend(&format!("ns/{name}"), 80, &[]);
    let policy = Arc::make_mut(&mut backend.policy);
    policy.raw.snippet = (!lines.is_empty()).then(|| snippet(name, lines));
    let name = add_backend(model, backend);
    add_route(model, route(key(exact_host(&format!("{name}.test")), prefix("")), Some(&name), &[]));
    name
}

/// The lines that this HAProxy refuses.
fn load(texts: &Texts, tells: bool) -> Result<(), (String, Vec<Place>)> {
    let (mut places, mut log, volumes) = (Vec::new(), String::new(), Volumes::default());
    for id in std::iter::once(FileId::Main).chain((0..SHARDS).map(FileId::Shard)) {
        let file = id.path(&volumes).display().to_string();
        let bytes = texts.file(&id, &volumes).unwrap();
        for (number, line) in std::str::from_utf8(&bytes).unwrap().lines().enumerate() {
            if line.trim_start().starts_with("bad") {
                let message = format!("unknown keyword in {file}, see above");
                log.push_str(&format!(
                    "[ALERT]    (1) : config : parsing [{file}:{}] : {message}\n",
                    number + 1
                ));
                places.push(Place { file: file.clone(), line: number + 1, message });
            }
        }
    }
    match (places.is_empty(), tells) {
        (true, _) => Ok(()),
        (false, true) => Err((log, places)),
        (false, false) => Err(Default::default()),
    }
}

/// A controller without clock.
struct World {
    tells: bool,
    renderer: Renderer,
    quarantine: Quarantine,
    running: Texts,
    /// Reloads, refused ones included.
    reloads: usize,
}

impl World {
    fn new(branch: &str, model: &Model) -> Self {
        let renderer = Renderer::new(Volumes::default(), capabilities(branch));
        let running = renderer.full(model, &Texts::default());
        let tells = capabilities(branch).synchronous_reload();
        Self { tells, renderer, quarantine: Quarantine::default(), running, reloads: 0 }
    }

    /// One update with its reloads, as `control` does them.
    fn update(&mut self, model: &Model) -> bool {
        self.quarantine.keep_current(model);
        let mut progress = Progress::default();
        loop {
            self.renderer.leave_out(self.quarantine.left_out().clone());
            let wanted = self.renderer.full(model, &self.running);
            self.reloads += 1;
            let Err((log, places)) = load(&wanted, self.tells) else {
                self.running = wanted;
                self.quarantine.accepted(&progress, model);
                return true;
            };
            let case = Case {
                log: &log,
                places: &places,
                texts: &wanted,
                model,
                volumes: &Volumes::default(),
                running: &self.running,
                new_certificates: false,
            };
            if self.quarantine.refused(&case, &mut progress) == Next::GiveUp {
                return false;
            }
        }
    }

    /// All trials; gives their number.
    fn trials(&mut self, model: &Model) -> usize {
        let mut trials = 0;
        while self.quarantine.pending() == Some(Pending::Suspects) {
            trials += 1;
            assert!(trials < 1_000, "the search does not end");
            self.quarantine.begin_trial();
            assert!(self.update(model));
        }
        trials
    }

    fn convicted(&self) -> Vec<String> {
        self.quarantine.convicted().map(|(_, verdict)| verdict.origin.to_string()).collect()
    }

    fn has(&self, backend: &BackendName, line: &str) -> bool {
        self.running.backends.get(backend).is_some_and(|text| text.header.contains(line))
    }
}

#[test]
fn words_lead_to_the_snippet_and_cost_one_reload() {
    let mut model = empty();
    let mut world = World::new("3.2", &model);
    let good = add(&mut model, "a", &["option good"]);
    let bad = add(&mut model, "b", &["option fine", "bad line"]);
    assert!(world.update(&model));
    assert_eq!(world.reloads, 2);
    assert!(world.has(&good, "option good") && world.has(&bad, "balance") && !world.has(&bad, "option fine"));
    let (part, verdict) = world.quarantine.convicted().next().unwrap();
    assert!(matches!(part, Part::Snippet(_)));
    assert_eq!(verdict.origin.to_string(), "Ingress ns/b, haproxy.org/backend-config-snippet");
    assert_eq!(
        verdict.words,
        format!(
            "`bad line`: unknown keyword in haproxy_{:02x}.cfg, see above",
            outrigger_init::shard_of(bad.as_str())
        )
    );
    assert_eq!(world.quarantine.pending(), None);
    // Later changes cost nothing more.
    add(&mut model, "c", &["option c"]);
    assert!(world.update(&model));
    assert_eq!(world.reloads, 3);
    // Mended, it comes back, and nobody is left out.
    add(&mut model, "b", &["option mended"]);
    assert!(world.update(&model));
    assert_eq!(world.reloads, 4);
    assert!(world.has(&bad, "option mended") && world.convicted().is_empty());
    assert!(world.quarantine.left_out().is_empty());
}

#[test]
fn a_snippet_comes_back_with_the_pattern_file_that_it_missed() {
    for branch in BRANCHES {
        let mut model = empty();
        let mut world = World::new(branch, &model);
        add(&mut model, "b", &["bad -f patterns/bots"]);
        assert!(world.update(&model));
        assert_eq!(world.convicted().len(), 1, "{branch}");
        model.lists.insert_mut(ListName::file("others"), Arc::default());
        assert!(!world.quarantine.keep_current(&model), "{branch}: another file is none of its business");
        model.lists.insert_mut(ListName::file("bots"), Arc::default());
        assert!(world.quarantine.keep_current(&model), "{branch}");
        assert!(world.convicted().is_empty() && world.quarantine.left_out().is_empty(), "{branch}");
    }
}

#[test]
fn without_words_those_that_changed_are_left_out_and_come_back_by_halves() {
    let mut model = empty();
    add(&mut model, "old", &["option old"]);
    let mut world = World::new("2.2", &model);
    let good: Vec<BackendName> =
        (0..9).map(|i| add(&mut model, &format!("g{i}"), &["option good"])).collect();
    add(&mut model, "b", &["bad"]);
    assert!(world.update(&model));
    assert_eq!(world.reloads, 2, "everybody else goes on at once");
    let old = BackendName::parsed("ns_old_80");
    assert!(world.has(&old, "option old"), "what ran before is no suspect");
    assert!(world.trials(&model) <= 8);
    assert_eq!(world.convicted(), ["Ingress ns/b, haproxy.org/backend-config-snippet"]);
    assert!(good.iter().all(|name| world.has(name, "option good")));
}

#[test]
fn a_single_suspect_needs_no_trial() {
    let mut model = empty();
    let mut world = World::new("2.6", &model);
    add(&mut model, "b", &["bad"]);
    assert!(world.update(&model));
    assert_eq!((world.reloads, world.quarantine.pending()), (2, None));
    assert_eq!(world.convicted().len(), 1);
}

#[test]
fn the_same_snippet_in_every_backend_is_left_out_of_all() {
    for branch in BRANCHES {
        let mut model = empty();
        let mut world = World::new(branch, &model);
        let of_all = snippet("config", &["bad"]);
        let plain =
            Policy { raw: crate::model::policy::raw::Raw { snippet: Some(of_all) }, ..Policy::default() };
        Arc::make_mut(&mut model.global).plain = Arc::new(plain);
        for name in ["ns/a", "ns/b"] {
            let mut backend = backend(name, 80, &[]);
            backend.policy = model.global.plain.clone();
            add_backend(&mut model, backend);
        }
        assert!(world.update(&model));
        assert_eq!((world.reloads, world.convicted().len()), (2, 1), "{branch}");
    }
}

#[test]
fn snippets_of_the_main_text_are_told_apart() {
    for branch in BRANCHES {
        let mut model = empty();
        let mut world = World::new(branch, &model);
        let global = Arc::make_mut(&mut model.global);
        global.snippets.global = Some(snippet("global", &["fine"]));
        global.snippets.frontends = Some(snippet("frontends", &["fine too", "bad"]));
        global.snippets.stats = Some(snippet("stats", &["bad"]));
        assert!(world.update(&model));
        world.trials(&model);
        let convicted = world.convicted();
        assert_eq!(convicted.len(), 2, "{branch}: {convicted:?}");
        assert!(
            world.running.main.contains("  fine\n") && !world.running.main.contains("fine too"),
            "{branch}"
        );
    }
}

/// A shape that HAProxy refuses without any snippet.
fn refused_shape(model: &mut Model, name: &str) -> BackendName {
    let mut backend = backend(name, 80, &[server("10.0.0.9", 80, crate::model::ServerState::Active)]);
    backend.policy = Arc::new(Policy { balance: crate::model::Balance::LeastConn, ..Policy::default() });
    add_backend(model, backend)
}

#[test]
fn a_backend_without_snippet_keeps_what_ran_or_answers_503() {
    let mut model = empty();
    let known = add(&mut model, "known", &[]);
    let mut world = World::new("3.2", &model);
    refused_shape(&mut model, "ns/known");
    let new = refused_shape(&mut model, "ns/new");
    add_route(&mut model, route(key(exact_host("new.test"), prefix("")), Some(&new), &[]));
    let wanted = world.renderer.full(&model, &world.running);
    // This HAProxy does not know the algorithm.
    let volumes = Volumes::default();
    let mut places = Vec::new();
    for name in [&known, &new] {
        let id = FileId::Shard(outrigger_init::shard_of(name.as_str()));
        let bytes = wanted.file(&id, &volumes).unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        let from = text.lines().position(|line| line.starts_with(&format!("backend {name} "))).unwrap();
        places.push(Place {
            file: id.path(&volumes).display().to_string(),
            line: from + 3,
            message: "unknown algorithm".into(),
        });
    }
    let case = Case {
        log: "words",
        places: &places,
        texts: &wanted,
        model: &model,
        volumes: &volumes,
        running: &world.running,
        new_certificates: true,
    };
    let mut progress = Progress::default();
    assert_eq!(
        world.quarantine.refused(&case, &mut progress),
        Next::WithoutCertificates,
        "first things first"
    );
    assert_eq!(world.quarantine.refused(&case, &mut progress), Next::Again);
    world.renderer.leave_out(world.quarantine.left_out().clone());
    let kept = world.renderer.full(&model, &world.running);
    let text = kept.backends.get(&known).unwrap();
    assert!(
        text.header.contains("roundrobin") && text.servers.len() == 1,
        "old header, new servers: {text:?}"
    );
    assert!(!kept.backends.contains_key(&new));
    assert_eq!(kept.map(MapId::Prefix).get("web|new.test/").map(AsRef::as_ref), Some("fixed_503"));
    assert_eq!(
        kept.map(MapId::Prefix).get(&*format!("web|{known}.test/")).map(AsRef::as_ref),
        Some(known.as_str())
    );
    // Such parts get another trial now and then.
    world.quarantine.accepted(&progress, &model);
    assert_eq!(world.quarantine.pending(), Some(Pending::Sections));
    world.quarantine.begin_trial();
    assert!(world.quarantine.left_out().is_empty() && world.quarantine.is_on_trial());
    world.quarantine.accepted(&Progress::default(), &model);
    assert_eq!(world.convicted(), [] as [&str; 0]);
}

#[test]
fn the_main_text_stays_as_it_was_and_backends_go_on() {
    for branch in BRANCHES {
        let mut model = empty();
        let mut world = World::new(branch, &model);
        let before = world.running.main.clone();
        // No snippet: a text of ours that this HAProxy refuses.
        Arc::make_mut(&mut model.global).listeners.stats = 666;
        let new = add(&mut model, "new", &[]);
        let wanted = world.renderer.full(&model, &world.running);
        let line = wanted.main.lines().position(|line| line.contains(":666")).unwrap() + 2;
        let place = Place { file: "/etc/haproxy/haproxy.cfg".into(), line, message: "no".into() };
        let (log, places) = if world.tells { ("words", vec![place]) } else { ("", Vec::new()) };
        let case = Case {
            log,
            places: &places,
            texts: &wanted,
            model: &model,
            volumes: &Volumes::default(),
            running: &world.running,
            new_certificates: false,
        };
        let mut progress = Progress::default();
        assert_eq!(world.quarantine.refused(&case, &mut progress), Next::Again, "{branch}");
        world.renderer.leave_out(world.quarantine.left_out().clone());
        let kept = world.renderer.full(&model, &world.running);
        assert_eq!(kept.main, before, "{branch}");
        assert_eq!(kept.backends.contains_key(&new), world.tells, "{branch}: suspects with it before 2.7");
        assert_eq!(kept.map(MapId::Prefix).size(), 1, "{branch}");
    }
    // At the very first start there is nothing to keep.
    let model = empty();
    let texts = World::new("3.2", &model).running;
    let case = Case {
        log: "words",
        places: &[Place { file: "/etc/haproxy/haproxy.cfg".into(), line: 3, message: "no".into() }],
        texts: &texts,
        model: &model,
        volumes: &Volumes::default(),
        running: &Texts::default(),
        new_certificates: false,
    };
    let mut quarantine = Quarantine::default();
    let mut progress = Progress::default();
    while quarantine.refused(&case, &mut progress) != Next::GiveUp {}
    assert_eq!(quarantine.pending(), None);
    assert!(quarantine.left_out().is_empty());
}

#[test]
fn words_about_other_files_are_not_repeated() {
    let mut model = empty();
    let name = add(&mut model, "a", &["option a"]);
    let texts = World::new("3.2", &model).running;
    let (volumes, left_out) = (Volumes::default(), LeftOut::default());
    let read = Read { texts: &texts, model: &model, volumes: &volumes, left_out: &left_out };
    let place = Place { file: "/etc/passwd".into(), line: 1, message: "unknown keyword 'root:x:0:0'".into() };
    let log = format!(
        "[ALERT]    (1) : config : parsing [/etc/passwd:1] : unknown keyword 'root:x:0:0'\n\
         [ALERT]    (1) : config : parsing [/etc/passwd:2] : in backend '{name}', 'daemon:x'\n\
         [ALERT]    (1) : config : Error(s) found in configuration file : /etc/haproxy\n"
    );
    let found = blame(&log, &[place], &read);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].words.as_str(), found[0].sure), ("HAProxy refuses it", false));
    // Without place the proxy's name leads to it.
    let log = format!("[ALERT]    (1) : config : Proxy '{name}': unable to find '/var/lib/haproxy/x'.\n");
    let found = blame(&log, &[], &read);
    assert_eq!(found[0].words, format!("config : Proxy '{name}': unable to find 'x'"));
    assert!(
        matches!(&found[0].part, Part::Snippet(snippet) if snippet.origin.object.name.name.as_ref() == "a")
    );
}

#[test]
fn a_socket_that_cannot_be_had_is_nobodys_mistake() {
    let mut model = empty();
    add(&mut model, "a", &["option a"]);
    let texts = World::new("3.2", &model).running;
    let line = texts.main.lines().position(|line| line.contains("bind ")).unwrap() + 2;
    let message = "cannot bind socket (Address already in use) for [0.0.0.0:80]".to_owned();
    let case = Case {
        log: &format!("[ALERT] (1) : Binding [/etc/haproxy/haproxy.cfg:{line}] for frontend http: {message}"),
        places: &[Place { file: "/etc/haproxy/haproxy.cfg".into(), line, message }],
        texts: &texts,
        model: &model,
        volumes: &Volumes::default(),
        running: &Texts::default(),
        new_certificates: false,
    };
    assert_eq!(Quarantine::default().refused(&case, &mut Progress::default()), Next::GiveUp);
}

#[test]
fn a_tenant_cannot_blame_another_one() {
    let mut model = empty();
    let mut world = World::new("3.2", &model);
    // Lines are written without comments, so no line of a snippet begins another one.
    let victim = add(&mut model, "victim", &["option a"]);
    add(&mut model, "evil", &["option a", "http-request x \"# snippet of Ingress ns/victim\"", "bad"]);
    assert!(world.update(&model));
    assert_eq!(world.convicted(), ["Ingress ns/evil, haproxy.org/backend-config-snippet"]);
    assert!(world.has(&victim, "option a"));
}

#[test]
fn a_host_of_its_own_is_no_route_to_a_missing_backend() {
    // Entries of fixed backends and of hosts without route stay what they are.
    let mut model = empty();
    add_route(&mut model, route(key(HostMatch::Any, prefix("")), Some(&BackendName::fixed(404)), &[]));
    add_route(&mut model, route(key(exact_host("a.test"), prefix("")), None, &[]));
    let new = refused_shape(&mut model, "ns/new");
    let mut renderer = Renderer::new(Volumes::default(), capabilities("3.2"));
    let before = renderer.full(&model, &Texts::default());
    let mut left_out = LeftOut::default();
    left_out.add(&Part::Backend(new), &model);
    renderer.leave_out(left_out);
    assert_eq!(renderer.full(&model, &Texts::default()).maps, before.maps);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whoever is bad, in whatever order things change: everybody else's text runs, and the guilty ones are exactly known.
    #[test]
    fn exactly_the_bad_ones_are_left_out(
        branch in prop::sample::select(&BRANCHES[..]),
        steps in prop::collection::vec((0usize..12, any::<bool>()), 1..16),
        search in prop::collection::vec(any::<bool>(), 16),
    ) {
        let mut model = empty();
        let mut world = World::new(branch, &model);
        let mut bad: BTreeSet<usize> = BTreeSet::new();
        for (number, (index, is_bad)) in steps.into_iter().enumerate() {
            let line = format!("{} {number}", if is_bad { "bad" } else { "option" });
            add(&mut model, &format!("s{index}"), &[&line]);
            if is_bad { bad.insert(index); } else { bad.remove(&index); }
            prop_assert!(world.update(&model), "{branch}: nothing of ours is wrong");
            if search[number] {
                world.trials(&model);
            }
        }
        world.trials(&model);
        let expected: Vec<String> =
            bad.iter().map(|index| format!("Ingress ns/s{index}, haproxy.org/backend-config-snippet")).collect();
        let found: BTreeSet<String> = world.convicted().into_iter().collect();
        prop_assert_eq!(found, expected.into_iter().collect::<BTreeSet<_>>());
        for name in model.backends.keys() {
            let snippet = snippet_of(&model, name).unwrap();
            let runs = world.has(name, &format!("  {}\n", snippet.lines[0]));
            prop_assert_eq!(runs, !snippet.lines[0].starts_with("bad"), "{}", name);
        }
    }
}
