//! Reference pages that are made from the code, and the examples of users in them.

use std::path::Path;

/// The page on disk is the one that the code makes; `UPDATE_EXPECTED=1` writes it.
fn check(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    if std::env::var_os("UPDATE_EXPECTED").is_some_and(|value| value == "1") {
        std::fs::write(&path, made).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "docs/{name} is not what the code says; UPDATE_EXPECTED=1 cargo test --test it pages writes it"
    );
}

#[test]
fn the_page_of_keys_is_made_from_the_registry() {
    check("configuration.md", &outrigger::options::page());
}

#[test]
fn the_page_of_problems_is_made_from_the_codes() {
    check("problems.md", &outrigger::problem::page());
}

#[test]
fn every_key_has_a_place_in_the_page_of_keys() {
    let page = outrigger::options::page();
    for key in outrigger::options::keys() {
        let name = key.entry().name;
        assert_eq!(page.matches(&format!("\n### {name}\n")).count(), 1, "{name}");
        assert!(page.contains(&format!("(#{name})")), "{name}");
    }
}
