use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::haproxy::testing::{BRANCHES, Haproxy, eventually, soon};

/// From 2.7 on the answer carries the log.
fn tells(branch: &str) -> bool {
    !["2.2", "2.6"].contains(&branch)
}

#[tokio::test]
async fn a_good_configuration_is_served_when_success_is_said() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let before = master.info(soon()).await.unwrap().pid;
        let text = haproxy.good_config("").replace("outrigger-abc", "outrigger-def");
        haproxy.write_config(&text.replace("default_backend b", "default_backend new"));
        std::fs::OpenOptions::new()
            .append(true)
            .open(haproxy.volumes.main_file())
            .and_then(|mut file| {
                std::io::Write::write_all(
                    &mut file,
                    b"backend new\n  errorfile 503 /dev/null\n  http-request deny deny_status 429\n",
                )
            })
            .unwrap();
        let outcome = reload(&master, soon()).await;
        let Reload::Succeeded { worker } = outcome else {
            panic!("{branch}: {outcome:?}\n{}", haproxy.log())
        };
        assert_ne!(worker, before);
        let info = master.info(soon()).await.unwrap();
        assert_eq!((info.pid, info.description.as_deref()), (worker, Some("outrigger-def")), "{branch}");
        assert_eq!(haproxy.get("/x").await, 429, "{branch}");
    }
}

#[tokio::test]
async fn a_bad_configuration_is_refused_and_the_old_worker_serves_on() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let before = master.info(soon()).await.unwrap().pid;
        let good = haproxy.good_config("");
        haproxy.write_config(&format!("{good}  bogus 1\n"));
        let outcome = reload(&master, soon()).await;
        let Reload::Refused(refusal) = outcome else { panic!("{branch}: {outcome:?}") };
        if tells(branch) {
            assert_eq!(refusal.places.len(), 1, "{branch}: {refusal:?}");
            assert_eq!(refusal.places[0].file, haproxy.volumes.main_file().to_string_lossy());
            assert_eq!(refusal.places[0].line, good.lines().count() + 1, "{branch}");
            assert_eq!(refusal.places[0].message, "unknown keyword 'bogus' in 'backend' section");
            assert!(refusal.log.contains("Fatal errors"));
        } else {
            assert_eq!(refusal, Refusal::default());
        }
        assert_eq!(master.info(soon()).await.unwrap().pid, before, "{branch}");
        assert_eq!(haproxy.get("/known").await, 503, "{branch}");
        // And back.
        haproxy.write_config(&good);
        assert!(matches!(reload(&master, soon()).await, Reload::Succeeded { .. }), "{branch}");
        assert_eq!(master.processes(soon()).await.unwrap().current().unwrap().reloads, 0, "{branch}");
    }
}

/// HAProxy tries for two seconds; up to 3.0 its master CLI is refused meanwhile.
#[tokio::test]
async fn a_port_in_use_is_refused_and_what_listens_goes_on() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let (served, taken) = (free_port().await, TcpListener::bind("127.0.0.1:0").await.unwrap());
        let good = format!(
            "{}listen served\n  bind 127.0.0.1:{served}\n  http-request deny deny_status 429\n",
            haproxy.good_config("")
        );
        haproxy.write_config(&good);
        assert!(matches!(reload(&master, soon()).await, Reload::Succeeded { .. }), "{branch}");
        let port = taken.local_addr().unwrap().port();
        haproxy.write_config(&format!("{good}listen taken\n  bind 127.0.0.1:{port}\n"));
        let outcome = reload(&master, soon()).await;
        let Reload::Refused(refusal) = outcome else { panic!("{branch}: {outcome:?}") };
        if tells(branch) {
            assert!(refusal.places[0].message.contains("cannot bind socket"), "{branch}: {refusal:?}");
            assert_eq!(refusal.places[0].file, haproxy.volumes.main_file().to_string_lossy(), "{branch}");
        }
        // The worker resumes listening when it hears of the failure.
        eventually("the worker listens", || async {
            let Ok(mut socket) = TcpStream::connect(("127.0.0.1", served)).await else { return false };
            socket.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
            let mut answer = String::new();
            socket.read_to_string(&mut answer).await.is_ok() && answer.starts_with("HTTP/1.1 429")
        })
        .await;
    }
}

async fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

/// From 3.1 on an overlapping reload is answered with `Success=0`; before, the socket is away.
#[tokio::test]
async fn reloads_that_overlap_all_succeed() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let other = haproxy.master().await;
        let (first, second) = tokio::join!(reload(&master, soon()), reload(&other, soon()));
        for outcome in [first, second] {
            assert!(matches!(outcome, Reload::Succeeded { .. }), "{branch}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn reloads_in_a_row_all_succeed() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        for _ in 0..5 {
            let outcome = reload(&master, soon()).await;
            assert!(matches!(outcome, Reload::Succeeded { .. }), "{branch}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn the_deadline_is_kept() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = taken.local_addr().unwrap().port();
        haproxy.write_config(&format!("{}listen taken\n  bind 127.0.0.1:{port}\n", haproxy.good_config("")));
        let begin = Instant::now();
        let outcome = reload(&master, begin + Duration::from_millis(300)).await;
        assert!(matches!(outcome, Reload::Unknown { .. }), "{branch}: {outcome:?}");
        assert!(begin.elapsed() < Duration::from_millis(1_500), "{branch}");
        // The connection is of use again afterwards.
        master.wait_until_ready(soon()).await.unwrap();
    }
    let nobody = Master::connect("/nonexistent/master.sock");
    let outcome = reload(&nobody, Instant::now() + Duration::from_millis(20)).await;
    assert!(matches!(outcome, Reload::Unknown { .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_haproxy_that_restarts_meanwhile_is_noticed() {
    for branch in BRANCHES {
        let mut haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let before = master.processes(soon()).await.unwrap();
        haproxy.restart();
        assert_eq!(settle(&master, &before, soon()).await, Reload::MasterRestarted, "{branch}");
    }
}

#[test]
fn real_logs() {
    for branch in ["3.0", "3.2", "3.4"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("src/haproxy/fixtures/reload-refused-{branch}.txt"));
        let text = std::fs::read_to_string(path).unwrap();
        let log::Verdict::Refused(refusal) = log::verdict(&text) else { panic!("{branch}") };
        let place = Place {
            file: "/tmp/haproxy/haproxy.cfg".into(),
            line: 17,
            message: "unknown keyword 'bogus' in 'backend' section".into(),
        };
        assert_eq!(refusal.places, [place], "{branch}");
        assert!(!refusal.log.starts_with("--"));
    }
    assert!(matches!(
        log::verdict("Success=0\n--\nAnother reload is still in progress.\n"),
        log::Verdict::InProgress
    ));
    assert!(matches!(log::verdict(""), log::Verdict::Silent));
}
