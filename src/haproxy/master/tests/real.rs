//! Every branch of HAProxy.

use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::Instant;

use crate::haproxy::testing::{BRANCHES, Haproxy, soon};
use crate::haproxy::{Error, Master, Reload, Request, reload};

#[tokio::test]
async fn the_worker_says_who_it_is() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let info = master.info(soon()).await.unwrap();
        // The generation mark works on every branch.
        assert_eq!(info.description.as_deref(), Some("outrigger-abc"), "{branch}");
        assert_eq!(info.maxconn, 100, "{branch}");
        assert!(info.ulimit_n > 100, "{branch}");
        let unknown = master.send(Request::worker("nonsense"), soon()).await.unwrap();
        assert!(unknown.text.starts_with("Unknown command"), "{branch}: {}", unknown.text);
        assert!(!master.closed().has_changed().unwrap(), "{branch}: one connection did it all");
    }
}

/// Each abandoned big answer costs one of ten slots on 2.2, 3.0 and 3.2; none is abandoned here.
#[tokio::test]
async fn deadlines_leak_no_connection_slot() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let map = haproxy.volumes.maps().join("prefix.map");
        let lines: Vec<String> =
            (0..20_000).map(|n| format!("/some/path/that/is/long/{n} backend\n")).collect();
        std::fs::write(&map, lines.concat()).unwrap();
        let master = haproxy.master().await;
        assert!(matches!(reload(&master, soon()).await, Reload::Succeeded { .. }));
        let show = || Request::worker("show map").word(&map.to_string_lossy()).unwrap();
        let (mut abandoned, deadline) = (0, soon());
        while abandoned < 50 {
            assert!(Instant::now() < deadline, "{branch}: {abandoned}");
            match master.read_large(show(), Instant::now() + Duration::from_micros(500)).await {
                Err(Error::Unknown { .. }) => abandoned += 1,
                // The answer before it is still coming.
                Err(Error::NotSent { .. }) => {}
                outcome => panic!("{branch}: {outcome:?}"),
            }
        }
        assert_eq!(master.read_large(show(), soon()).await.unwrap().lines().count(), 20_000, "{branch}");
        // All other slots are free: eight more masters can talk at once.
        let others: Vec<Master> = (0..8).map(|_| Master::connect(haproxy.volumes.master_socket())).collect();
        for other in &others {
            other.processes(soon()).await.unwrap();
        }
    }
}

/// The master accepts while its worker is stopped; the outcome is unknown, and nothing is lost afterwards.
#[tokio::test]
async fn a_worker_that_hangs_costs_only_time() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let pid = i32::try_from(master.info(soon()).await.unwrap().pid).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        let outcome =
            master.send(Request::worker("show info"), Instant::now() + Duration::from_millis(50)).await;
        assert_eq!(outcome, Err(Error::Unknown { command: "@1 show info".into() }), "{branch}");
        rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
        master.wait_until_ready(soon()).await.unwrap();
        assert!(!master.closed().has_changed().unwrap(), "{branch}");
    }
}

#[tokio::test]
async fn a_restarted_haproxy_is_found_again() {
    for branch in BRANCHES {
        let mut haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let before = master.processes(soon()).await.unwrap();
        let mut closed = master.closed();
        haproxy.restart();
        closed.changed().await.unwrap();
        let after = master.wait_until_ready(soon()).await.unwrap().processes;
        assert!(after.restarted_since(&before), "{branch}");
        UnixStream::connect(haproxy.volumes.master_socket()).await.unwrap();
    }
}

/// Prints nothing; fails only when the client is slower than a human would accept.
#[tokio::test]
async fn a_thousand_commands_take_less_than_seconds() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let map = haproxy.volumes.maps().join("exact.map");
        let begin = Instant::now();
        for n in 0..1_000 {
            let request = Request::worker("add map")
                .word(&map.to_string_lossy())
                .unwrap()
                .word(&format!("/{n}"))
                .unwrap();
            assert_eq!(master.send(request.word("b").unwrap(), soon()).await.unwrap().text, "");
        }
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(10), "{branch}: {took:?}");
        if std::env::var_os("OUTRIGGER_MEASURE").is_some() {
            std::fs::write(format!("/tmp/outrigger-commands-{branch}"), format!("{took:?}")).unwrap();
        }
    }
}
