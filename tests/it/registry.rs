//! What every entry of the registry of keys must be, whoever adds it.

use outrigger::options::{Scope, example, find, keys};

fn is_kebab(name: &str) -> bool {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    name.split(['-', '.']).all(word)
}

/// All that is wrong, at once.
fn wrong(check: impl Fn(&outrigger::options::Entry) -> Vec<String>) {
    let found: Vec<String> = keys()
        .iter()
        .map(|key| key.entry())
        .flat_map(|entry| check(entry).into_iter().map(|what| format!("{}: {what}", entry.name)))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn names_are_kebab_case() {
    wrong(|entry| {
        let bad = entry.names().filter(|name| !is_kebab(name));
        bad.map(|name| format!("`{name}` is not kebab-case")).collect()
    });
}

#[test]
fn docs_are_one_paragraph_of_sentences() {
    wrong(|entry| {
        let mut found = Vec::new();
        if !entry.docs.ends_with('.') {
            found.push("the docs end without a full stop".to_owned());
        }
        if entry.docs.contains('\n') || entry.docs.contains("  ") {
            found.push("the docs are not one paragraph".to_owned());
        }
        if !entry.docs.starts_with(|c: char| c.is_uppercase() || c == '`') {
            found.push("the docs do not start with a capital letter".to_owned());
        }
        if entry.docs.split(' ').count() < 5 {
            found.push("the docs say next to nothing".to_owned());
        }
        for (what, text) in [("allowed", entry.allowed), ("default", entry.default)] {
            if text.is_empty() || text.ends_with('.') || text.contains('\n') {
                found.push(format!("`{what}` is no phrase: `{text}`"));
            }
        }
        found
    });
}

#[test]
fn scopes_are_in_the_order_of_lookup_each_once() {
    wrong(|entry| {
        let good = !entry.scopes.is_empty() && entry.scopes.windows(2).all(|pair| pair[0] < pair[1]);
        if good { Vec::new() } else { vec![format!("{:?}", entry.scopes)] }
    });
}

#[test]
fn examples_are_valid_values_and_valid_manifests() {
    wrong(|entry| {
        let key = find(entry.name).unwrap();
        // Not supported: there is nothing to write.
        if entry.example.is_empty() {
            return Vec::new();
        }
        if let Err(wrong) = key.check(entry.example) {
            return vec![format!("the example `{}` is refused: {}", entry.example, wrong.0)];
        }
        let text = example(entry);
        let name = entry.names().next().unwrap();
        let shown: Vec<&str> = text.lines().filter(|line| line.contains(name)).collect();
        let annotated = entry.scopes.iter().any(|scope| *scope != Scope::ConfigMap);
        let parent = if annotated { "annotations:" } else { "data:" };
        if shown.is_empty() || !text.contains(parent) { vec![format!("example: {text}")] } else { Vec::new() }
    });
}

/// Values that no key may take as they are, or that at least no parser may stumble over.
#[test]
fn no_parser_panics() {
    let values = [
        "",
        " ",
        "\0",
        "\u{7f}",
        "\r\n",
        "a\nb",
        "\"",
        "'",
        "\\",
        "#",
        "%[",
        "%[env(HOME)]",
        "${HOME}",
        "\u{2028}",
        "\u{fffd}",
        "💥",
        "-1",
        "0",
        "99999999999999999999999999",
        "global",
        "backend x\n  server y 1.2.3.4:80",
        "/",
        "..",
        "a,b",
        "a b c",
        "[::1]",
        "{}",
        "[",
    ];
    let huge = "x".repeat(1 << 20);
    for key in keys() {
        for value in values.into_iter().chain([huge.as_str()]) {
            let _ = key.check(value);
        }
    }
}
