//! The map of regular expressions: replaced as a whole when there is a new one.

use super::*;

fn model(paths: &[(&str, Option<u16>)]) -> Model {
    let mut model = empty();
    for (path, status) in paths {
        let key = key(exact_host("a.test"), PathMatch::Regex((*path).into()));
        add_route(&mut model, route(key, status.map(BackendName::fixed).as_ref(), &[]));
    }
    add_roots(&mut model);
    add_needs(&mut model);
    model
}

fn entry(path: &str) -> String {
    format!(r"^web\|a\.test(?:{path})")
}

#[test]
fn a_new_one_goes_to_its_place_and_others_change_alone() {
    let before = model(&[("/a.*", Some(404)), ("/abc.*", Some(404))]);
    let after = model(&[("/a.*", Some(503)), ("/abc.*", Some(404)), ("/ab.*", Some(404))]);
    let (running, _, plan) = planned("3.2", &before, &after);
    assert_eq!(commands(&plan), [format!("{} > {} > {}", entry("/abc.*"), entry("/ab.*"), entry("/a.*"))]);
    assert_eq!(labels(&plan), [""; 0]);
    let file = running.file(&FileId::Map(MapId::Regex), &Volumes::default()).unwrap();
    let file = String::from_utf8(file.to_vec()).unwrap();
    assert!(
        file.starts_with(&format!("{} fixed_404\n{} fixed_404\n", entry("/abc.*"), entry("/a.*"))),
        "{file}"
    );

    let (_, _, plan) = planned("2.2", &before, &after);
    assert_eq!(commands(&plan), [format!("set {} fixed_503", entry("/a.*"))]);
    assert_eq!(labels(&plan), ["new-regex"]);
    assert_eq!(plan.waiting, [Unit::Entry(MapId::Regex, entry("/ab.*").into())]);

    for branch in ["2.2", "3.2"] {
        let after = model(&[("/abc.*", Some(503))]);
        let (_, _, plan) = planned(branch, &before, &after);
        let expected = [format!("set {} fixed_503", entry("/abc.*")), format!("delete {}", entry("/a.*"))];
        assert_eq!((commands(&plan), labels(&plan)), (expected.to_vec(), vec![]));
    }
}

#[test]
fn a_value_waits_for_the_frontends_that_understand_it() {
    let mut after = empty();
    let name = BackendName::fixed(503);
    let redirect = [Filter::RedirectToHttps { status: 302, port: Some(8443) }];
    add_route(&mut after, route(key(exact_host("a.test"), prefix("")), Some(&name), &redirect));
    let mut split = route(key(exact_host("b.test"), prefix("")), Some(&name), &[]);
    split.candidates[0].split.push(Weighted { weight: 1, backend: BackendName::fixed(404) });
    add_route(&mut after, split);
    add_needs(&mut after);
    let (_, running, plan) = planned("3.2", &empty(), &after);
    assert_eq!(plan.steps, []);
    assert_eq!(labels(&plan), ["main-changed"]);
    // One way and back: what is plain needs nothing.
    let back = rendered("3.2", &empty(), &running);
    let plan = super::plan(&running, &back, &Units::All, capabilities("3.2"));
    assert_eq!(labels(&plan), ["main-changed"]);
    assert_eq!(plan.steps.len(), 4);
}
