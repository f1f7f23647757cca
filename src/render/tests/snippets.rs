//! Raw configuration in rendered texts.

use super::super::tests::models::*;
use super::*;
use crate::cluster::{Kind, ObjectName, Origin};
use crate::plan::{FileId, Texts};

fn snippet(kind: Kind, key: &str, lines: &[&str]) -> Snippet {
    Snippet {
        origin: Origin::object(kind, ObjectName::new("ns", "name")).at(key),
        lines: lines.iter().map(|line| Arc::from(*line)).collect(),
    }
}

#[test]
fn snippets_stand_at_the_end_between_comments() {
    let mut model = empty();
    let mut backend = backend("ns/app", 80, &[server("10.0.0.1", 80, ServerState::Active)]);
    let lines = ["http-request set-header X \"a b\"", "http-request deny if { src -f patterns/offices }"];
    Arc::make_mut(&mut backend.policy).raw.snippet = Some(snippet(Kind::Ingress, "key", &lines));
    let name = add_backend(&mut model, backend);
    let texts = renderer("3.2").full(&model, &Texts::default());
    assert_eq!(
        texts.backends.get(&name).unwrap().header.as_ref(),
        "backend ns_app_80 from outrigger\n  # Service ns/app, port 80\n  balance roundrobin\n  \
         # snippet of Ingress ns/name, key\n  http-request set-header X \"a b\"\n  \
         http-request deny if { src -f /etc/haproxy/patterns/offices }\n  # end of snippet\n"
    );
    // What was written is read back as it was.
    let volumes = Volumes::default();
    let parsed = Texts::parse(|id: &FileId| texts.file(id, &volumes), []).unwrap();
    assert_eq!(parsed.texts.backends, texts.backends);
}

#[test]
fn the_main_text_has_one_in_each_section() {
    let mut model = empty();
    let before = renderer("3.2").full(&model, &Texts::default()).main;
    let snippets = &mut Arc::make_mut(&mut model.global).snippets;
    snippets.global = Some(snippet(Kind::ConfigMap, "global-config-snippet", &["node a"]));
    snippets.frontends = Some(snippet(Kind::ConfigMap, "frontend-config-snippet", &["option a"]));
    snippets.stats = Some(snippet(Kind::ConfigMap, "stats-config-snippet", &["stats hide-version"]));
    let main = renderer("3.2").full(&model, &Texts::default()).main;
    let sections: Vec<&str> = main.split("\n\n").collect();
    let block = |key: &str, line: &str| {
        format!("  # snippet of ConfigMap ns/name, {key}\n  {line}\n  # end of snippet")
    };
    assert!(sections[0].ends_with(&block("global-config-snippet", "node a")), "{}", sections[0]);
    for section in [sections[2], sections[3]] {
        let (_, after) = section.split_once(&block("frontend-config-snippet", "option a")).expect(section);
        assert_eq!(
            after.lines().filter(|line| !line.is_empty()).count(),
            2,
            "before the backend is used: {after}"
        );
    }
    assert!(sections[4].ends_with(&block("stats-config-snippet", "stats hide-version")), "{}", sections[4]);
    let rest: String = main
        .lines()
        .filter(|line| before.lines().any(|known| known == *line))
        .map(|l| l.to_owned() + "\n")
        .collect();
    assert_eq!(rest, before.as_ref(), "and nothing else");
}
