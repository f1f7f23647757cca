//! Whatever users write: the configuration still loads on every branch, the neighbour is served, the Problem says what is wrong.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use outrigger::cluster::Strings;
use outrigger::options::{self, Scope};
use outrigger::plan::Texts;
use outrigger::problem::Problem;
use outrigger_init::Volumes;
use proptest::prelude::*;

use crate::support::Branch;
use crate::support::certificates::ecdsa;
use crate::support::config_input::{BRANCHES, Cluster, Written, check, decode, settings};

/// Values that break out where they can: of lines, quotes, comments, expressions, words.
const BAD: &[&str] = &[
    "",
    " ",
    "\n",
    "x\n  EVIL y",
    "x\r\nEVIL: y",
    "\"",
    "'",
    "a\"b'c",
    "\\",
    "a\\",
    "#",
    "a #b",
    "a b",
    "%",
    "%[src",
    "%[src]",
    "%[env(HOME)]",
    "%{+Q}r",
    "$HOME",
    "${HOME}",
    "a,b;c",
    "{ src 0.0.0.0/0 }",
    "} { always_true }",
    "if TRUE",
    "unless FALSE",
    "||",
    "--",
    "-f /etc/passwd",
    "backend x",
    "global",
    "http-request deny",
    "server evil 127.0.0.1:1",
    "0",
    "-1",
    "1",
    "99999999999999999999",
    "1.5",
    "0x10",
    "1e9",
    "true",
    "null",
    "..",
    "../../etc/passwd",
    "patterns/../../x",
    "patterns/x",
    "/",
    "(",
    "[",
    "*",
    "(a+)+$",
    "a\0b",
    "\u{85}\u{2028}",
    "\u{202e}ä€𝄞",
    "tenants/secret",
    "secret",
    "kube-system/secret",
    "http://127.0.0.1/",
    "10.0.0.1/33",
    "::/0",
];

fn long() -> String {
    "x".repeat(70_000)
}

fn bad_values() -> impl Iterator<Item = String> {
    BAD.iter().map(|value| (*value).to_owned()).chain([long()])
}

/// What is written in the ConfigMap counts for everybody, so every bad value gets a cluster of its own, with all keys having it.
fn config_maps() -> Vec<Cluster> {
    bad_values()
        .map(|value| {
            let keys = options::keys().iter().filter(|key| key.entry().scopes.contains(&Scope::ConfigMap));
            let entries: Vec<Written> =
                keys.map(|key| Written::ours(Scope::ConfigMap, key.entry().name, &value)).collect();
            Cluster::of(&entries)
        })
        .collect()
}

/// Every key with every bad value on an Ingress or Service of its own, in one cluster.
fn tenants() -> Cluster {
    let mut cluster = Cluster::of(&[]);
    for key in options::keys() {
        let entry = key.entry();
        for (number, value) in bad_values().enumerate() {
            for scope in [Scope::Service, Scope::Ingress] {
                if !entry.scopes.contains(&scope) {
                    continue;
                }
                let written = Written::ours(scope, entry.name, &value);
                let strings: Strings = [(written.key.as_str().into(), written.value.as_str().into())].into();
                let (service, ingress) = if scope == Scope::Service {
                    (strings, Strings::new())
                } else {
                    (Strings::new(), strings)
                };
                cluster.app(
                    &format!("{}-{}-{number}", entry.name, scope.as_str().to_lowercase()),
                    service,
                    ingress,
                );
            }
        }
    }
    cluster
}

/// Writes texts and lets HAProxy load them.
fn loads(branch: (u16, u16), texts: &Texts, volumes: &Volumes, pem: &str) -> Result<(), String> {
    outrigger_init::prepare_folders(volumes).unwrap();
    for id in texts.files() {
        let mut bytes = texts.file(&id, volumes).unwrap().to_vec();
        if bytes == b"fallback\n" {
            bytes = pem.as_bytes().to_vec();
        }
        std::fs::write(id.path(volumes), bytes).unwrap();
    }
    for asset in texts.assets() {
        let folder = volumes.assets(asset.kind().is_state(), asset.kind().folder());
        std::fs::write(folder.join(asset.name().as_ref()), asset.bytes()).unwrap();
    }
    let program = Branch(branch.0, branch.1).program();
    let output = Command::new(program).arg("-c").arg("-f").arg(&volumes.config).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

fn volumes(folder: &Path) -> Volumes {
    let volumes = Volumes { config: folder.join("etc"), state: folder.join("lib"), run: folder.join("run") };
    for path in [&volumes.config, &volumes.state, &volumes.run] {
        std::fs::create_dir_all(path).unwrap();
    }
    volumes
}

fn assert_loads(branch: (u16, u16)) {
    let pair = ecdsa("fallback", &["fallback.test"]);
    let pem = format!("{}{}", pair.certificate, pair.key);
    let folder = tempfile::tempdir().unwrap();
    let clusters = config_maps().into_iter().chain([tenants()]);
    for (number, cluster) in clusters.enumerate() {
        let volumes = volumes(&folder.path().join(number.to_string()));
        let (texts, _) = cluster.render(branch, &volumes, false);
        if let Err(said) = loads(branch, &texts, &volumes, &pem) {
            let value = bad_values().nth(number).map(|v| v.chars().take(40).collect::<String>());
            panic!("cluster {number} ({value:?}) does not load on {branch:?}:\n{said}");
        }
        std::fs::remove_dir_all(folder.path().join(number.to_string())).unwrap();
    }
}

mod every_bad_value_loads {
    #[test]
    fn haproxy_2_2() {
        super::assert_loads((2, 2));
    }

    #[test]
    fn haproxy_2_6() {
        super::assert_loads((2, 6));
    }

    #[test]
    fn haproxy_3_0() {
        super::assert_loads((3, 0));
    }

    #[test]
    fn haproxy_3_2() {
        super::assert_loads((3, 2));
    }

    #[test]
    fn haproxy_3_4() {
        super::assert_loads((3, 4));
    }
}

/// A refused value has a Problem with its object, its key, what is allowed and an example; an allowed one has none.
#[test]
fn every_refused_value_is_explained_on_its_object() {
    let cluster = tenants();
    let (_, problems) = cluster.render(BRANCHES[3], &Volumes::default(), false);
    let invalid: Vec<&Problem> = problems.iter().filter(|p| p.code.as_str() == "value-invalid").collect();
    let said: BTreeSet<(String, String)> = invalid
        .iter()
        .map(|p| {
            (p.origin.object.name.name.to_string(), p.origin.key.as_deref().unwrap_or_default().to_owned())
        })
        .collect();
    let mut refused = 0;
    // An Ingress of another class is not looked at.
    for key in options::keys().iter().filter(|key| key.entry().name != "ingress.class") {
        let entry = key.entry();
        for (number, value) in bad_values().enumerate() {
            for scope in
                [Scope::Service, Scope::Ingress].into_iter().filter(|scope| entry.scopes.contains(scope))
            {
                let object = format!("{}-{}-{number}", entry.name, scope.as_str().to_lowercase());
                let is_said = said.contains(&(object.clone(), format!("haproxy.org/{}", entry.name)));
                assert_eq!(is_said, key.check(&value).is_err(), "{object}: {value:?}");
                refused += usize::from(is_said);
            }
        }
    }
    assert!(refused > options::keys().len(), "{refused} values were refused");
    for problem in invalid {
        assert!(problem.message.len() < 1000, "a message that fits an Event: {problem}");
        // A key that takes no value at all has no example.
        let says_what_to_do =
            ["write for example", "remove `"].iter().any(|words| problem.hint.contains(words));
        assert!(says_what_to_do, "{problem}");
    }
}

/// The fuzz target's corpus, where every crash that it finds becomes a file.
#[test]
fn the_corpus_of_the_fuzz_target_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/config");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        check(&decode(&std::fs::read(entry.unwrap().path()).unwrap()));
        files += 1;
    }
    assert!(files > 0);
}

/// Entries as an attacker or a beginner writes them: keys of ours with pieces of good values and of bad ones.
fn entries() -> impl Strategy<Value = Vec<Written>> {
    let piece = prop_oneof![
        prop::sample::select(BAD).prop_map(str::to_owned),
        prop::sample::select(options::keys()).prop_map(|key| key.entry().example.to_owned()),
        any::<String>(),
    ];
    let value = prop::collection::vec(piece, 1..3).prop_map(|pieces| pieces.concat());
    let scope = prop::sample::select(&[Scope::Service, Scope::Ingress, Scope::ConfigMap][..]);
    let name = prop::sample::select(options::keys()).prop_map(|key| key.entry().name);
    let entry = (scope, name, value).prop_map(|(scope, name, value)| Written::ours(scope, name, &value));
    prop::collection::vec(entry, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn no_entry_adds_a_line_or_changes_the_neighbour(entries in entries()) {
        check(&entries);
    }
}

#[test]
fn settings_of_these_tests_switch_snippets_off() {
    assert!(!settings(false).snippets.backend && settings(true).snippets.tenants);
}
