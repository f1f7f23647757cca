//! How requests are spread, and how many a pod gets at a time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::stickiness::get_with;
use super::{app, config_map};
use crate::support::bed::Bed;
use crate::support::client::get;
use crate::support::manifests::{endpoints, service};
use crate::support::{Branch, Echo, until};

/// Which pods answer this many requests with this header line.
async fn answers(bed: &Bed, host: &str, header: &str, count: usize) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for _ in 0..count {
        let answer = get_with(bed, host, header).await;
        assert_eq!(answer.status, 200, "{host}: {answer:?}");
        *found.entry(answer.name().to_owned()).or_insert(0) += 1;
    }
    found
}

on_every_branch!(every_algorithm_spreads_requests_its_way, |bed| async move {
    let echoes = [Echo::start("one").await, Echo::start("two").await, Echo::start("three").await];
    let addresses: Vec<_> = echoes.iter().map(|echo| echo.address).collect();
    let replica = Bed::start(bed.branch, &[]).await;
    let algorithms = [
        ("rr", "roundrobin"),
        ("static", "static-rr"),
        ("least", "leastconn"),
        ("first", "first"),
        ("random", "random"),
        ("draws", "random(3)"),
        ("source", "source"),
        ("uri", "uri whole"),
        ("param", "url_param user"),
        ("hdr", "hdr(X-User)"),
        ("rdp", "rdp-cookie(a)"),
        ("expr", "hash req.hdr(X-User),lower"),
        ("cook", "hash req.cook(user)"),
    ];
    let all: String = algorithms
        .iter()
        .map(|(name, value)| app(name, &format!("haproxy.org/load-balance: {value}"), &addresses))
        .collect();
    for bed in [&*bed, &replica] {
        bed.put("all.yaml", &all);
        for (name, _) in algorithms {
            bed.until_status(&format!("{name}.test"), "/", 200).await;
        }
    }
    // The replica has the pods in another order, as it would when it started later.
    for name in ["rr", "static", "random", "draws"] {
        until(&format!("{name} to reach all pods"), || async {
            let found = answers(&bed, &format!("{name}.test"), "", 12).await;
            if found.len() == 3 { Ok(()) } else { Err(format!("{found:?}")) }
        })
        .await;
    }
    assert_eq!(answers(&bed, "rr.test", "", 9).await.values().copied().collect::<Vec<_>>(), [3, 3, 3]);
    assert_eq!(answers(&bed, "first.test", "", 9).await.len(), 1);
    assert_eq!(answers(&bed, "source.test", "", 9).await.len(), 1);
    // The same key leads to the same pod, on every replica; different keys reach all of them.
    let no_cookie_hash = bed.branch == Branch(2, 2);
    for host in ["hdr.test", "expr.test", "cook.test"] {
        if host == "cook.test" && no_cookie_hash {
            continue;
        }
        let mut pods = std::collections::BTreeSet::new();
        for user in 0..24 {
            let header = format!("X-User: user{user}\r\nCookie: user=user{user}");
            let found = answers(&bed, host, &header, 3).await;
            assert_eq!(found.len(), 1, "{host}: {found:?}");
            if bed.branch.has_dynamic_servers() {
                assert_eq!(found, answers(&replica, host, &header, 3).await, "{host}");
            }
            pods.extend(found.into_keys());
        }
        assert_eq!(pods.len(), 3, "{host}");
    }
    if bed.branch.has_dynamic_servers() {
        let upper = answers(&bed, "expr.test", "X-User: USER7", 2).await;
        assert_eq!(upper, answers(&bed, "expr.test", "X-User: user7", 2).await, "`,lower`");
    }
    for host in ["uri.test", "param.test"] {
        for i in 0..12 {
            let path = format!("/?user={i}");
            let first = bed.get(host, &path).await;
            for _ in 0..3 {
                assert_eq!(bed.get(host, &path).await.name(), first.name(), "{host}{path}");
            }
        }
    }
    // A pod that goes takes only its own share along.
    let mut before = BTreeMap::new();
    for user in 0..24 {
        let header = format!("X-User: user{user}");
        before.insert(user, answers(&bed, "hdr.test", &header, 1).await.into_keys().next().unwrap());
    }
    let worker = bed.worker().await;
    bed.put("all.yaml", &app("hdr", "haproxy.org/load-balance: hdr(X-User)", &addresses[..2]));
    until("the third pod to be gone", || async {
        let mut moved = 0;
        for user in 0..24 {
            let now = get_with(&bed, "hdr.test", &format!("X-User: user{user}")).await;
            match before[&user].as_str() {
                "three" if now.name() == "three" => return Err("still there".to_owned()),
                "three" => moved += 1,
                pod => assert_eq!(now.name(), pod, "user{user}"),
            }
        }
        if moved > 0 { Ok(()) } else { Err("nobody was there".to_owned()) }
    })
    .await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    replica.check_after_test().await;
    bed.proves(&["load-balance"]);
});

on_every_branch!(the_least_busy_pod_is_taken, |bed| async move {
    let (one, two) = (Echo::start("one").await, Echo::start("two").await);
    bed.put("app.yaml", &app("app", "haproxy.org/load-balance: leastconn", &[one.address, two.address]));
    bed.until_name("app.test", "/", "one").await;
    bed.until_name("app.test", "/", "two").await;
    let slow = tokio::spawn({
        let bed = bed.clone();
        async move { bed.get("app.test", "/wait").await }
    });
    let (busy, free) = until("one pod to be busy", || async {
        match (one.waiting(), two.waiting()) {
            (1, 0) => Ok((&one, "two")),
            (0, 1) => Ok((&two, "one")),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    for _ in 0..10 {
        assert_eq!(bed.get("app.test", "/").await.name(), free);
    }
    busy.release(1);
    assert_eq!(slow.await.unwrap().status, 200);
    bed.proves(&["load-balance"]);
});

/// Requests that wait in the queue of a backend whose name begins so.
fn queued(bed: &Bed, backend: &str) -> Result<usize, String> {
    let stat = bed.master("@1 show stat")?;
    let spares = stat.lines().filter(|line| line.starts_with(backend) || line.starts_with("spare-"));
    Ok(spares
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|row| row.get(1) == Some(&"BACKEND"))
        .filter_map(|row| row[2].parse::<usize>().ok())
        .sum())
}

async fn until_queued(bed: &Bed, backend: &str, count: usize) {
    until(&format!("{count} in the queue"), || async {
        let found = queued(bed, backend)?;
        if found == count { Ok(()) } else { Err(format!("{found}")) }
    })
    .await;
}

async fn until_waiting(echo: &Echo, count: usize) {
    until(&format!("{count} requests in the pod"), || async {
        if echo.waiting() == count { Ok(()) } else { Err(format!("{}", echo.waiting())) }
    })
    .await;
}

on_every_branch!(a_pod_gets_no_more_requests_than_it_may, |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put(
        "app.yaml",
        &app("app", "haproxy.org/pod-maxconn: \"1\"\nhaproxy.org/abortonclose: \"true\"", &[echo.address]),
    );
    bed.until_name("app.test", "/", "echo").await;
    let wait = |path: &'static str| {
        let bed = bed.clone();
        tokio::spawn(async move { bed.get("app.test", path).await })
    };
    let first = wait("/wait");
    until_waiting(&echo, 1).await;
    // One whose client goes while it waits never reaches the pod.
    let stream = tokio::net::TcpStream::connect(bed.http()).await.unwrap();
    let mut stream = stream;
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"GET /wait HTTP/1.1\r\nHost: app.test\r\n\r\n")
        .await
        .unwrap();
    until_queued(&bed, "default_app", 1).await;
    drop(stream);
    until_queued(&bed, "default_app", 0).await;
    let second = wait("/second");
    until_queued(&bed, "default_app", 1).await;
    assert!(!second.is_finished());
    assert_eq!(echo.waiting(), 1);
    echo.release(1);
    assert_eq!(first.await.unwrap().status, 200);
    let answer = second.await.unwrap();
    assert!(answer.status == 200 && answer.body.contains("GET /second"), "{}", answer.body);
    assert_eq!(echo.waiting(), 0, "the one that was given up");
    bed.proves(&["pod-maxconn", "abortonclose"]);
});

on_every_branch!(
    replicas_share_what_a_pod_may_get,
    ["--publish-service=default/controllers", "--configmap=default/settings"],
    |bed| async move {
        let controllers = |count: u8| {
            let addresses: Vec<_> =
                (1..=count).map(|i| std::net::SocketAddr::from(([10, 0, 0, i], 80))).collect();
            service("controllers") + &endpoints("controllers", &addresses)
        };
        let echo = Echo::start("echo").await;
        bed.put("settings.yaml", &config_map("pod-maxconn: \"2\""));
        bed.put("controllers.yaml", &controllers(2));
        bed.put("app.yaml", &app("app", "", &[echo.address]));
        bed.put("own.yaml", &app("own", "haproxy.org/pod-maxconn: \"4\"", &[echo.address]));
        bed.until_name("app.test", "/", "echo").await;
        bed.until_name("own.test", "/", "echo").await;
        bed.until_settled().await;
        let wait = |host: &'static str| {
            let bed = bed.clone();
            tokio::spawn(async move { bed.get(host, "/wait").await })
        };
        let mut all = vec![wait("app.test"), wait("app.test")];
        until_waiting(&echo, 1).await;
        until_queued(&bed, "default_app", 1).await;
        all.extend([wait("own.test"), wait("own.test"), wait("own.test")]);
        until_waiting(&echo, 3).await;
        until_queued(&bed, "default_own", if bed.branch.has_dynamic_servers() { 2 } else { 1 }).await;
        // One controller is left: its share is the whole, at once.
        let worker = bed.worker().await;
        bed.put("controllers.yaml", &controllers(1));
        until("more requests to reach the pod", || async {
            // A raised limit takes effect with the next request that comes or ends.
            let address = bed.http();
            let more = tokio::spawn(async move { get(address, "app.test", "/wait").await });
            let patience = Instant::now() + Duration::from_millis(200);
            while echo.waiting() < 4 && Instant::now() < patience {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            more.abort();
            let waiting = echo.waiting();
            if waiting >= 4 { Ok(()) } else { Err(format!("{waiting}")) }
        })
        .await;
        assert_eq!(bed.worker().await == worker, bed.branch.has_dynamic_servers(), "2.2 needs a reload");
        echo.release(100_000);
        for request in all {
            assert_eq!(request.await.unwrap().status, 200);
        }
        bed.proves(&["pod-maxconn"]);
    }
);

on_every_branch!(slots_come_in_multiples_of_what_a_service_says, |bed| async move {
    let mut echoes = Vec::new();
    for i in 0..5 {
        echoes.push(Echo::start(&format!("echo{i}")).await);
    }
    let addresses: Vec<_> = echoes.iter().map(|e| e.address).collect();
    let put = |count: usize| {
        bed.put("app.yaml", &app("app", "haproxy.org/scale-server-slots: \"4\"", &addresses[..count]));
    };
    put(1);
    bed.until_name("app.test", "/", "echo0").await;
    let worker = bed.worker().await;
    put(4);
    bed.until_name("app.test", "/", "echo3").await;
    assert_eq!(bed.worker().await, worker, "four slots");
    put(5);
    bed.until_name("app.test", "/", "echo4").await;
    assert_eq!(
        bed.worker().await == worker,
        bed.branch.has_dynamic_servers(),
        "before 2.6 the fifth needs more slots"
    );
    if !bed.branch.has_dynamic_servers() {
        bed.proves(&["servers-increment"]);
    }
});
