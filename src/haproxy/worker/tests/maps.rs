use std::sync::Arc;

use crate::haproxy::CommandError;
use crate::haproxy::testing::{BRANCHES, Haproxy};
use crate::plan::{Command, MapId};

fn add(key: &str, value: &str) -> Command {
    Command::AddMapEntry { map: MapId::Exact, key: key.into(), value: value.into() }
}

fn set(key: &str, value: &str) -> Command {
    Command::SetMapEntry { map: MapId::Exact, key: key.into(), value: value.into() }
}

fn delete(key: &str) -> Command {
    Command::DeleteMapEntry { map: MapId::Exact, key: key.into() }
}

#[tokio::test]
async fn entries_are_added_changed_and_deleted() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let prefix = Command::AddMapEntry { map: MapId::Prefix, key: "/p/".into(), value: "c".into() };
        for command in [add("/a", "b"), set("/a", "c"), add("/gone", "x"), delete("/gone"), prefix] {
            worker.run(&command).await.unwrap_or_else(|error| panic!("{branch}: {command:?}: {error}"));
        }
        let running = worker.running().await.unwrap();
        let exact: Vec<(&str, &str)> =
            running.maps[&MapId::Exact].iter().map(|(key, value)| (&**key, &**value)).collect();
        assert_eq!(exact, [("/a", "c"), ("/known", "backend")], "{branch}: the comment line is no entry");
        assert_eq!(running.maps[&MapId::Prefix].len(), 1);
        assert_eq!(&*running.maps[&MapId::Prefix]["/p/"], "c");
    }
}

/// Each must arrive exactly as it is: what looks like syntax of the CLI is data.
#[tokio::test]
async fn keys_and_values_arrive_as_they_are() {
    let texts = [
        "<<",
        "a<<",
        "<<%EOF%",
        "a\"b'c",
        "back\\slash",
        "\\",
        "a;b",
        ";show",
        "end\\;",
        "x#y",
        "é€😀",
        "@1",
        "@!1",
        "a,b{c}|d&e$f(g)*?[h]!~`^%+=",
        "\\\\ ",
        "a  b",
        " lead",
        "trail ",
        "-m",
        "--",
        "<",
        ">",
        "%[path]",
        "*",
    ];
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        for (n, text) in texts.iter().enumerate() {
            worker
                .run(&add(&format!("/{n}"), text))
                .await
                .unwrap_or_else(|error| panic!("{branch}: {error}"));
        }
        let running = worker.running().await.unwrap();
        for (n, text) in texts.iter().enumerate() {
            assert_eq!(
                running.maps[&MapId::Exact].get(&*format!("/{n}")).map(AsRef::as_ref),
                Some(*text),
                "{branch}"
            );
        }
        assert_eq!(running.maps[&MapId::Exact].len(), texts.len() + 1);
        // As keys; a space cannot be told from the end of the key when reading back, so those go by deletion alone.
        for text in texts {
            let key: Arc<str> = format!("/k{text}").into();
            for command in [add(&key, "v1"), set(&key, "v2"), delete(&key)] {
                worker.run(&command).await.unwrap_or_else(|error| panic!("{branch}: {command:?}: {error}"));
            }
        }
        assert_eq!(worker.running().await.unwrap(), running, "{branch}");
    }
}

#[tokio::test]
async fn drift_is_an_error() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        for command in [set("/nobody", "x"), delete("/nobody")] {
            let outcome = worker.run(&command).await;
            assert!(matches!(outcome, Err(CommandError::Unexpected { .. })), "{branch}: {outcome:?}");
        }
        for command in [add("/a\nb", "x"), add("/a", "x\ty"), add("", "x")] {
            let outcome = worker.run(&command).await;
            assert!(matches!(outcome, Err(CommandError::TooLarge(_))), "{branch}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn a_map_is_replaced_as_a_whole_and_in_order_since_2_4() {
    let entries = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let replace = |pairs| Command::ReplaceMap { map: MapId::Exact, entries: entries(pairs) };
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let before = worker.running().await.unwrap().maps[&MapId::Exact].clone();
        let outcome = worker.run(&replace(&[("^/b\\.;<c(?:|d){2}", "1"), ("/a", "2|3")])).await;
        if branch == "2.2" {
            assert!(matches!(outcome, Err(CommandError::Unexpected { .. })), "{branch}: {outcome:?}");
            assert_eq!(worker.running().await.unwrap().maps[&MapId::Exact], before, "{branch}");
            continue;
        }
        outcome.unwrap_or_else(|error| panic!("{branch}: {error}"));
        let running = worker.running().await.unwrap();
        let found: Vec<(&str, &str)> =
            running.maps[&MapId::Exact].iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(found, [("/a", "2|3"), ("^/b\\.;<c(?:|d){2}", "1")], "{branch}");
        // One that fails half-way changes nothing, and the next one is not disturbed.
        let outcome = worker.run(&replace(&[("/x", "1"), ("/y\n", "2")])).await;
        assert!(outcome.is_err(), "{branch}");
        assert_eq!(worker.running().await.unwrap(), running, "{branch}");
        for command in [replace(&[("/z", "1")]), set("/z", "2"), replace(&[]), add("/q", "1")] {
            worker.run(&command).await.unwrap_or_else(|error| panic!("{branch}: {command:?}: {error}"));
        }
        let running = worker.running().await.unwrap();
        assert_eq!(
            running.maps[&MapId::Exact].keys().map(|key| &**key).collect::<Vec<_>>(),
            ["/q"],
            "{branch}"
        );
    }
}
