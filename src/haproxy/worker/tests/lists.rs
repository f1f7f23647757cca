use std::collections::BTreeSet;
use std::sync::Arc;

use crate::haproxy::CommandError;
use crate::haproxy::testing::{BRANCHES, Haproxy};
use crate::plan::Command;

const LIST: &str = "office.lst";

fn add(pattern: &str) -> Command {
    Command::AddPattern { list: LIST.into(), pattern: pattern.into() }
}

fn delete(pattern: &str) -> Command {
    Command::DeletePattern { list: LIST.into(), pattern: pattern.into() }
}

fn patterns(texts: &[&str]) -> BTreeSet<Arc<str>> {
    texts.iter().map(|text| Arc::from(*text)).collect()
}

#[tokio::test]
async fn patterns_are_added_deleted_and_read_back() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start_with_list(branch, LIST, "10.0.0.0/8\n# end 0123\n", "src");
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        for command in [add("192.0.2.7/32"), add("2001:db8::/32"), add("10.1.0.0/16"), delete("10.0.0.0/8")] {
            worker.run(&command).await.unwrap_or_else(|error| panic!("{branch}: {command:?}: {error}"));
        }
        let running = worker.running().await.unwrap();
        let wanted = patterns(&["192.0.2.7/32", "2001:db8::/32", "10.1.0.0/16"]);
        assert_eq!(running.lists.get(LIST), Some(&wanted), "{branch}");
        for command in [delete("10.0.0.0/8"), add("nonsense")] {
            let outcome = worker.run(&command).await;
            assert!(matches!(outcome, Err(CommandError::Unexpected { .. })), "{branch}: {outcome:?}");
        }
        // Many of them do not fit into a short answer.
        for i in 0..200 {
            worker.run(&add(&format!("172.16.{i}.0/24"))).await.unwrap();
        }
        assert_eq!(worker.running().await.unwrap().lists[LIST].len(), 203, "{branch}");
    }
}

#[tokio::test]
async fn patterns_arrive_as_they_are() {
    let texts = [
        "<<",
        "a\"b'c",
        "back\\slash",
        "a;b",
        "x#y",
        "é€😀",
        "@1",
        "a,b{c}|d&e$f",
        "a  b",
        "-m",
        "--",
        "%[path]",
    ];
    for branch in BRANCHES {
        let haproxy = Haproxy::start_with_list(branch, LIST, "", "path -m str");
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        for text in texts {
            worker.run(&add(text)).await.unwrap_or_else(|error| panic!("{branch}: {text}: {error}"));
        }
        assert_eq!(worker.running().await.unwrap().lists[LIST], patterns(&texts), "{branch}");
        for text in texts {
            worker.run(&delete(text)).await.unwrap_or_else(|error| panic!("{branch}: {text}: {error}"));
        }
        assert_eq!(worker.running().await.unwrap().lists[LIST], patterns(&[]), "{branch}");
    }
}
