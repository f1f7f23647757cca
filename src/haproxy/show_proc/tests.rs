use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::haproxy::testing::BRANCHES;

fn fixture(name: &str, branch: &str) -> Processes {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("src/haproxy/fixtures/show-proc-{name}-{branch}.txt"));
    parse_show_proc(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn real_outputs_of_all_branches() {
    for branch in BRANCHES {
        let fresh = fixture("fresh", branch);
        assert_eq!(fresh.master.version, Version::parse(branch).unwrap());
        assert!(fresh.master.version_text.starts_with(branch));
        assert_eq!((fresh.master.reloads, fresh.workers.len()), (0, 1), "{branch}");
        assert_eq!(fresh.master.failed, (branch != "2.2").then_some(0));
        let worker = fresh.current().unwrap();
        assert_eq!((worker.reloads, worker.listed_old), (0, false), "{branch}");
        assert!(worker.uptime < Duration::from_secs(10));

        let reloaded = fixture("old-worker", branch);
        assert_eq!((reloaded.master.reloads, reloaded.workers.len()), (1, 2), "{branch}");
        let worker = reloaded.current().unwrap();
        assert_eq!((worker.reloads, worker.listed_old), (0, false), "{branch}");
        assert!(reloaded.has_worker(fresh.current().unwrap().pid));
        assert!(!reloaded.restarted_since(&fresh));
        assert!(fresh.restarted_since(&reloaded));

        // After a failed reload the worker that serves can be listed as old.
        let failed = fixture("failed", branch);
        assert_eq!(failed.master.failed, (branch != "2.2").then_some(1));
        let serving = failed.current().unwrap();
        assert_eq!((serving.pid, serving.reloads), (worker.pid, 1), "{branch}");
        assert_eq!(serving.listed_old, !["2.6", "3.0"].contains(&branch), "{branch}");
    }
}

#[test]
fn uptimes() {
    assert_eq!(parse_uptime("1d02h03m04s"), Some(Duration::from_secs(93_784)));
    for bad in
        ["", "1d", "1d02h03m", "xd02h03m04s", "99999999999999999999d0h0m0s", "9999999999999999999d0h0m0s"]
    {
        assert_eq!(parse_uptime(bad), None, "{bad}");
    }
}

#[test]
fn an_answer_without_master_is_refused() {
    for text in ["", "Unknown command.", "1 worker 0 0d00h00m01s 3.2.1", "1 master 0 0d00h00m01s x"] {
        assert!(parse_show_proc(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn nothing_breaks_it(text in "([0-9]{1,12}|master|worker|\\[failed:|0\\]|[0-9]d[0-9]h[0-9]m[0-9]s|# old|[ \n]){0,40}") {
        let _ = parse_show_proc(&text);
    }
}
