use std::time::Duration;

use super::*;
use crate::haproxy::testing::{BRANCHES, Haproxy, soon};
use crate::haproxy::{Reload, reload};

async fn next(
    identity: &mut watch::Receiver<Option<Identity>>,
    what: impl Fn(&Identity) -> bool,
) -> Identity {
    let found = identity.wait_for(|identity| identity.as_ref().is_some_and(&what));
    let found = tokio::time::timeout_at(soon(), found).await.unwrap().unwrap();
    found.unwrap()
}

#[tokio::test]
async fn a_new_worker_and_a_restart_are_noticed() {
    for branch in BRANCHES {
        let mut haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let pid = master.info(soon()).await.unwrap().pid;
        // So rarely that only the closed connection can be the reason.
        let watchdog = Watchdog::start(&master, Duration::from_hours(1));
        let mut identity = watchdog.identity();
        let first = next(&mut identity, |_| true).await;
        assert_eq!((first.worker_pid, first.reloads, first.restarts), (Some(pid), 0, 0), "{branch}");

        let Reload::Succeeded { worker } = reload(&master, soon()).await else { panic!("{branch}") };
        let second = next(&mut identity, |identity| identity.worker_pid == Some(worker)).await;
        assert_eq!((second.reloads, second.restarts), (1, 0), "{branch}");

        haproxy.restart();
        let third = next(&mut identity, |identity| identity.restarts == 1).await;
        assert_eq!(third.reloads, 0, "{branch}");
        assert_ne!(third.worker_pid, second.worker_pid, "{branch}");
    }
}
