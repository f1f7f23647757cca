//! Raw configuration: whose counts, and what is said of the others.

use super::build::{config_map, ingress, service, settings};
use super::translated;
use crate::cluster::Object;
use crate::model::Snippet;
use crate::translate::{Settings, SnippetRules, Translator};

const KEY: &str = "haproxy.org/backend-config-snippet";

fn with(snippets: SnippetRules) -> Settings {
    Settings { snippets, ..settings() }
}

fn tenants() -> Settings {
    with(SnippetRules { tenants: true, ..SnippetRules::default() })
}

fn objects(lines: &str) -> Vec<Object> {
    vec![
        service("a/s", &["80"]),
        ingress("a/x").rule("x.test", &["/ Prefix s:80"]).annotation(KEY, lines).into(),
        ingress("a/y").rule("y.test", &["/ Prefix s:80"]).into(),
        config_map(&[("backend-config-snippet", "option of-all")]),
    ]
}

fn snippets(translator: &Translator) -> Vec<String> {
    let shown = |snippet: &Snippet| format!("{}: {}", snippet.origin, snippet.lines.join("; "));
    let backends = translator.model().backends.values();
    backends.filter_map(|backend| backend.policy.raw.snippet.as_ref()).map(shown).collect()
}

fn problems(translator: &Translator) -> Vec<String> {
    translator.problems().map(|problem| format!("{}: {}", problem.origin, problem.code)).collect()
}

const OF_ALL: &str = "ConfigMap outrigger/config, backend-config-snippet: option of-all";

#[test]
fn a_tenant_s_snippet_stands_in_its_own_backend_only() {
    let translator = translated(tenants(), objects("option mine\n# why\noption more"));
    let own = "Ingress a/x, haproxy.org/backend-config-snippet: option mine; option more";
    assert_eq!(snippets(&translator), [OF_ALL, own]);
    assert_eq!(problems(&translator), [] as [&str; 0]);
}

#[test]
fn what_is_off_or_refused_does_not_hide_what_the_config_map_says() {
    let translator = translated(settings(), objects("option mine"));
    assert_eq!(snippets(&translator), [OF_ALL]);
    assert_eq!(problems(&translator), [format!("Ingress a/x, {KEY}: snippet-disabled")]);
    let problem = translator.problems().next().expect("a problem");
    assert!(
        problem.hint.contains("`--enable-config-snippets`") && problem.hint.contains("controller.extraArgs")
    );

    let translator = translated(tenants(), objects("option mine\nstats admin if TRUE"));
    assert_eq!(snippets(&translator), [OF_ALL]);
    assert_eq!(problems(&translator), [format!("Ingress a/x, {KEY}: snippet-refused")]);

    let translator = translated(tenants(), objects("option mine\nbackend other"));
    assert_eq!(snippets(&translator), [OF_ALL]);
    assert_eq!(problems(&translator), [format!("Ingress a/x, {KEY}: value-invalid")]);
}

#[test]
fn switching_off_wins() {
    let off = SnippetRules { global: false, frontend: false, backend: false, tenants: false };
    let mut objects = objects("option mine");
    objects.push(config_map(&[
        ("backend-config-snippet", "option of-all"),
        ("global-config-snippet", "node a"),
        ("frontend-config-snippet", "option a"),
        ("stats-config-snippet", "option a"),
    ]));
    let translator = translated(with(off), objects);
    assert_eq!(snippets(&translator), [] as [&str; 0]);
    assert_eq!(translator.model().global.snippets.iter().count(), 0);
    let disabled = |key: &str| format!("ConfigMap outrigger/config, {key}: snippet-disabled");
    let mut expected: Vec<String> = [
        "backend-config-snippet",
        "frontend-config-snippet",
        "global-config-snippet",
        "stats-config-snippet",
    ]
    .iter()
    .map(|key| disabled(key))
    .collect();
    expected.insert(0, format!("Ingress a/x, {KEY}: snippet-disabled"));
    assert_eq!(problems(&translator), expected);
}
