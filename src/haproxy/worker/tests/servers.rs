use std::sync::Arc;

use crate::haproxy::testing::{BRANCHES, Haproxy, Upstream, backend, eventually, soon};
use crate::haproxy::{CommandError, Master, Reload, Request, ServerRunning, Worker, reload};
use crate::plan::{Command, ServerMode};

const DYNAMIC: [&str; 4] = ["2.6", "3.0", "3.2", "3.4"];
/// Of these the releases that are here can delete servers; Debian's 2.6.12 crashes.
const DELETING: [&str; 3] = ["3.0", "3.2", "3.4"];

fn add(server: &str, line: &str) -> Command {
    Command::AddServer { backend: backend("b"), server: server.into(), line: line.into() }
}

fn remove(name: &str, server: &str, line: &str) -> Command {
    Command::RemoveServer { backend: backend(name), server: server.into(), line: line.into() }
}

fn mode(server: &str, mode: ServerMode) -> Command {
    Command::SetMode { backend: backend("b"), server: server.into(), mode }
}

fn weight(server: &str, weight: u16) -> Command {
    Command::SetWeight { backend: backend("b"), server: server.into(), weight }
}

async fn run(worker: &mut Worker, commands: &[Command]) {
    for command in commands {
        worker.run(command).await.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    }
}

async fn state(worker: &Worker, name: &str, server: &str) -> Option<ServerRunning> {
    worker
        .running()
        .await
        .unwrap()
        .servers
        .get(&backend(name))
        .and_then(|servers| servers.get(server))
        .copied()
}

#[tokio::test]
async fn a_new_server_serves_and_a_removed_one_is_gone() {
    for branch in DYNAMIC {
        let (haproxy, upstream) = (Haproxy::start(branch), Upstream::start(true).await);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        assert_eq!(haproxy.get("/").await, 503, "{branch}");
        let line = format!("127.0.0.1:{} weight 128 id 77", upstream.port);
        run(&mut worker, &[add("a", &line)]).await;
        assert_eq!(haproxy.get("/").await, 503, "{branch}: it starts in maintenance");
        run(&mut worker, &[mode("a", ServerMode::Ready)]).await;
        assert_eq!(haproxy.get("/").await, 200, "{branch}");
        let running = ServerRunning {
            address: "127.0.0.1".parse().ok(),
            port: upstream.port,
            weight: 128,
            maintenance: false,
        };
        assert_eq!(state(&worker, "b", "a").await, Some(running), "{branch}");
        run(&mut worker, &[weight("a", 0)]).await;
        assert_eq!(state(&worker, "b", "a").await.unwrap().weight, 0, "{branch}");
        run(&mut worker, &[remove("b", "a", &line)]).await;
        assert_eq!(haproxy.get("/").await, 503, "{branch}");
        assert_eq!(state(&worker, "b", "a").await, None, "{branch}");
        while worker.sweep().await.unwrap() {}
        // The id and the name are free again, and a server of the file can go, too.
        run(&mut worker, &[add("a", &line), mode("a", ServerMode::Ready)]).await;
        assert_eq!(haproxy.get("/").await, 200, "{branch}");
        run(&mut worker, &[remove("c", "old", "127.0.0.1:1 weight 7")]).await;
        assert_eq!(state(&worker, "c", "old").await, None, "{branch}");
    }
}

#[tokio::test]
async fn a_checked_server_is_checked() {
    for branch in DYNAMIC {
        let (haproxy, upstream) = (Haproxy::start(branch), Upstream::start(true).await);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let line = format!("127.0.0.1:{} check inter 50ms fall 1", upstream.port);
        run(&mut worker, &[add("a", &line), mode("a", ServerMode::Ready)]).await;
        assert_eq!(haproxy.get("/").await, 200, "{branch}");
        // The check notices that the pod is gone.
        drop(upstream);
        eventually("the check", || async {
            let request = Request::worker("show servers state").word("b").unwrap();
            let text = master.send(request, soon()).await.unwrap().text;
            // The operational state is the sixth column.
            text.lines()
                .any(|line| line.split(' ').nth(3) == Some("a") && line.split(' ').nth(5) == Some("0"))
        })
        .await;
    }
}

#[tokio::test]
async fn a_request_in_flight_is_finished_before_its_server_goes() {
    for branch in DELETING {
        let (haproxy, upstream) = (Arc::new(Haproxy::start(branch)), Upstream::start(false).await);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let line = format!("127.0.0.1:{} weight 128 id 77", upstream.port);
        run(&mut worker, &[add("a", &line), mode("a", ServerMode::Ready)]).await;
        let request = tokio::spawn({
            let haproxy = haproxy.clone();
            async move { haproxy.get("/").await }
        });
        upstream.request_arrived().await;
        run(&mut worker, &[remove("b", "a", &line)]).await;
        let dying: Vec<String> =
            worker.dying().map(|(backend, server)| format!("{backend}/{server}")).collect();
        assert_eq!(dying, ["b/a"], "{branch}");
        assert_eq!(state(&worker, "b", "a").await, None, "{branch}: it is as good as gone");
        assert!(worker.sweep().await.unwrap(), "{branch}");
        assert!(!request.is_finished());
        upstream.open();
        assert_eq!(request.await.unwrap(), 200, "{branch}");
        let deadline = soon();
        while worker.sweep().await.unwrap() {
            assert!(tokio::time::Instant::now() < deadline, "{branch}: never deleted");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(worker.dying().len(), 0);
    }
}

#[tokio::test]
async fn a_server_that_comes_back_while_busy_is_kept() {
    for branch in DYNAMIC {
        let (haproxy, upstream) = (Arc::new(Haproxy::start(branch)), Upstream::start(false).await);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let line = |weight: u16| format!("127.0.0.1:{} weight {weight} id 77", upstream.port);
        run(&mut worker, &[add("a", &line(128)), mode("a", ServerMode::Ready)]).await;
        let request = tokio::spawn({
            let haproxy = haproxy.clone();
            async move { haproxy.get("/").await }
        });
        upstream.request_arrived().await;
        // It drained, went and comes back while its last request is still running.
        run(&mut worker, &[weight("a", 0), remove("b", "a", &line(0))]).await;
        let other = worker.run(&add("a", &format!("{} send-proxy", line(128)))).await;
        assert_eq!(other, Err(CommandError::Busy { backend: backend("b"), server: "a".into() }), "{branch}");
        run(&mut worker, &[add("a", &line(128)), mode("a", ServerMode::Ready)]).await;
        assert_eq!(worker.dying().len(), 0);
        let running = state(&worker, "b", "a").await.unwrap();
        assert_eq!((running.weight, running.maintenance), (128, false), "{branch}");
        upstream.open();
        assert_eq!(request.await.unwrap(), 200, "{branch}");
        assert_eq!(haproxy.get("/").await, 200, "{branch}");
    }
}

/// The lines of `show servers state` for the backend `b`, in maintenance or not.
async fn listed(master: &Master) -> usize {
    let request = Request::worker("show servers state").word("b").unwrap();
    let text = master.read_large(request, soon()).await.unwrap();
    text.lines().filter(|line| line.split(' ').nth(1) == Some("b")).count()
}

#[tokio::test]
async fn a_release_that_would_crash_keeps_its_servers_until_a_reload() {
    let (haproxy, upstream) = (Haproxy::start("2.6"), Upstream::start(true).await);
    let master = haproxy.master().await;
    let mut worker = haproxy.worker(&master).await;
    let line = format!("127.0.0.1:{} weight 128 id 77", upstream.port);
    run(&mut worker, &[add("a", &line), mode("a", ServerMode::Ready), remove("b", "a", &line)]).await;
    assert!(!worker.has_to_sweep() && !worker.sweep().await.unwrap());
    assert_eq!((listed(&master).await, state(&worker, "b", "a").await), (1, None));
    assert_eq!(haproxy.get("/").await, 503);
    run(&mut worker, &[add("a", &line), mode("a", ServerMode::Ready)]).await;
    assert_eq!((listed(&master).await, haproxy.get("/").await), (1, 200));
    // Not without end.
    let server =
        |number: usize| (format!("s{number}"), format!("127.0.1.{}:{}", number / 250, number % 250 + 1));
    for number in 0..1000 {
        let (name, line) = server(number);
        run(&mut worker, &[add(&name, &line), remove("b", &name, &line)]).await;
    }
    let full = worker.run(&add("t", "127.0.0.1:1")).await;
    assert_eq!(full, Err(CommandError::TooManyKept { count: 1000 }));
    let (name, line) = server(3);
    run(&mut worker, &[add(&name, &line), add("t", "127.0.0.1:1")]).await;
    assert!(matches!(reload(&master, soon()).await, Reload::Succeeded { .. } | Reload::Unknown { .. }));
    worker.forget_dying();
    assert_eq!(listed(&master).await, 0);
}

#[tokio::test]
async fn a_reload_forgets_dying_servers() {
    for branch in DYNAMIC {
        let (haproxy, upstream) = (Arc::new(Haproxy::start(branch)), Upstream::start(false).await);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let line = format!("127.0.0.1:{} weight 128 id 77", upstream.port);
        run(&mut worker, &[add("a", &line), mode("a", ServerMode::Ready)]).await;
        let request = tokio::spawn({
            let haproxy = haproxy.clone();
            async move { haproxy.get("/").await }
        });
        upstream.request_arrived().await;
        run(&mut worker, &[remove("b", "a", &line)]).await;
        assert!(matches!(reload(&master, soon()).await, Reload::Succeeded { .. }));
        worker.forget_dying();
        run(&mut worker, &[add("a", &line), mode("a", ServerMode::Ready)]).await;
        upstream.open();
        assert_eq!(request.await.unwrap(), 200, "{branch}: the old worker finished it");
        assert_eq!(haproxy.get("/").await, 200, "{branch}");
    }
}

#[tokio::test]
async fn slots_of_2_2() {
    let (haproxy, upstream) = (Haproxy::start("2.2"), Upstream::start(true).await);
    let master = haproxy.master().await;
    let mut worker = haproxy.worker(&master).await;
    let address = Command::SetAddress {
        backend: backend("b"),
        server: "s2".into(),
        address: "127.0.0.1".parse().unwrap(),
        port: upstream.port,
    };
    // Twice: the second time nothing changes, which is fine.
    run(&mut worker, &[address.clone(), address, weight("s2", 5), mode("s2", ServerMode::Ready)]).await;
    assert_eq!(haproxy.get("/").await, 200);
    let running = state(&worker, "b", "s2").await.unwrap();
    assert_eq!((running.port, running.weight, running.maintenance), (upstream.port, 5, false));
    run(&mut worker, &[mode("s2", ServerMode::Maintenance)]).await;
    assert_eq!(haproxy.get("/").await, 503);
    let v6 = Command::SetAddress {
        backend: backend("b"),
        server: "s2".into(),
        address: "2001:db8::1".parse().unwrap(),
        port: 80,
    };
    run(&mut worker, &[v6]).await;
    assert_eq!(state(&worker, "b", "s2").await.unwrap().address, "2001:db8::1".parse().ok());
}

#[tokio::test]
async fn whatever_else_haproxy_says_is_an_error() {
    for branch in BRANCHES {
        let haproxy = Haproxy::start(branch);
        let master = haproxy.master().await;
        let mut worker = haproxy.worker(&master).await;
        let bad = [
            add("a", "127.0.0.1:1 rubbish"),
            add("old\n", "127.0.0.1:1"),
            mode("nobody", ServerMode::Ready),
            weight("nobody", 1),
            remove("b", "nobody", "127.0.0.1:1"),
            Command::AddServer { backend: backend("c"), server: "old".into(), line: "127.0.0.1:1".into() },
            Command::SetAddress {
                backend: backend("b"),
                server: "nobody".into(),
                address: "127.0.0.1".parse().unwrap(),
                port: 1,
            },
        ];
        for command in bad {
            let outcome = worker.run(&command).await;
            assert!(
                matches!(outcome, Err(CommandError::Unexpected { .. } | CommandError::TooLarge(_))),
                "{branch}: {command:?}: {outcome:?}"
            );
        }
        assert_eq!(worker.dying().len(), 0);
    }
}
