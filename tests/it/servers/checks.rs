//! Health checks, and further tries.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use super::app;
use super::pods::{Kind, Pod};
use super::stickiness::get_with;
use crate::support::bed::Bed;
use crate::support::client::Call;
use crate::support::{Branch, Echo, free_port, until};

/// Waits until so many requests in a row are answered by exactly these.
async fn until_only(bed: &Bed, host: &str, names: &[&str]) {
    until(&format!("only {names:?} for {host}"), || async {
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..12 {
            let answer = bed.get(host, "/").await;
            if answer.status != 200 {
                return Err(format!("{} {}", answer.status, answer.body));
            }
            seen.insert(answer.name().to_owned());
        }
        if seen.iter().eq(names) { Ok(()) } else { Err(format!("{seen:?}")) }
    })
    .await;
}

on_every_branch!(a_pod_that_fails_its_checks_gets_no_traffic, |bed| async move {
    let (one, two) = (Pod::start("one", Kind::default()).await, Pod::start("two", Kind::default()).await);
    let addresses = [one.address, two.address];
    let check = "haproxy.org/check-http: GET /healthz HTTP/1.1\nhaproxy.org/check-interval: 100ms";
    let off = format!("{check}\nhaproxy.org/check: \"false\"");
    let slow = format!("{check}\nhaproxy.org/timeout-check: 1h");
    let quick = format!("{check}\nhaproxy.org/timeout-check: 200ms");
    bed.put("app.yaml", &app("app", check, &addresses));
    bed.put("unchecked.yaml", &app("unchecked", &off, &addresses));
    bed.put("none.yaml", &app("none", "", &addresses));
    bed.put("slow.yaml", &app("slow", &slow, &addresses));
    bed.put("quick.yaml", &app("quick", &quick, &addresses));
    for host in ["app.test", "unchecked.test", "none.test", "slow.test", "quick.test"] {
        until_only(&bed, host, &["one", "two"]).await;
    }
    let worker = bed.worker().await;
    one.health.store(500, Ordering::SeqCst);
    until_only(&bed, "app.test", &["two"]).await;
    until_only(&bed, "unchecked.test", &["one", "two"]).await;
    until_only(&bed, "none.test", &["one", "two"]).await;
    one.health.store(200, Ordering::SeqCst);
    until_only(&bed, "app.test", &["one", "two"]).await;
    until_only(&bed, "slow.test", &["one", "two"]).await;
    // It hangs.
    one.health.store(0, Ordering::SeqCst);
    until_only(&bed, "quick.test", &["two"]).await;
    until_only(&bed, "slow.test", &["one", "two"]).await;
    // What HAProxy thinks of a pod is no difference to mend, and other changes go on.
    let three = Pod::start("three", Kind::default()).await;
    bed.put("quick.yaml", &app("quick", &quick, &[one.address, two.address, three.address]));
    until_only(&bed, "quick.test", &["three", "two"]).await;
    until("a pod that came later to be checked, too", || async {
        if three.checks.load(Ordering::SeqCst) > 0 { Ok(()) } else { Err(String::new()) }
    })
    .await;
    three.health.store(503, Ordering::SeqCst);
    until_only(&bed, "quick.test", &["two"]).await;
    assert!(!bed.log().contains("mending"), "{}", bed.log_tail());
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    bed.proves(&["check", "check-http", "check-interval", "timeout-check"]);
});

on_every_branch!(a_dead_pod_is_found_by_its_check_or_costs_requests, |bed| async move {
    let alive = Echo::start("alive").await;
    let dead = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let no_retry = "haproxy.org/retries: \"0\"";
    let check = format!("{no_retry}\nhaproxy.org/check: \"true\"\nhaproxy.org/check-interval: 100ms");
    bed.put("raw.yaml", &app("raw", no_retry, &[alive.address, dead]));
    bed.put("checked.yaml", &app("checked", &check, &[alive.address, dead]));
    bed.put("retried.yaml", &app("retried", "haproxy.org/retries: \"1\"", &[alive.address, dead]));
    until_only(&bed, "checked.test", &["alive"]).await;
    bed.until_name("raw.test", "/", "alive").await;
    bed.until_status("raw.test", "/", 503).await;
    bed.until_name("retried.test", "/", "alive").await;
    until_only(&bed, "retried.test", &["alive"]).await;
    bed.proves(&["check", "retries"]);
});

on_every_branch!(checks_go_the_way_that_requests_go, |bed| async move {
    let tls = Kind::tls(&crate::support::certificates::ecdsa("self", &["pod"]), &["http/1.1"], None);
    let tls = Pod::start("tls", tls).await;
    let proxied = Pod::start("proxied", Kind { proxy: true, ..Kind::default() }).await;
    let h2c = Pod::start("h2c", Kind { h2: true, ..Kind::default() }).await;
    let check = "haproxy.org/check-http: GET /healthz\nhaproxy.org/check-interval: 100ms\nhaproxy.org/";
    bed.put("tls.yaml", &app("tls", &format!("{check}server-ssl: \"true\""), &[tls.address]));
    bed.put(
        "proxied.yaml",
        &app("proxied", &format!("{check}send-proxy-protocol: proxy-v2"), &[proxied.address]),
    );
    bed.put("h2c.yaml", &app("h2c", &format!("{check}server-proto: h2"), &[h2c.address]));
    for (name, pod) in [("tls", &tls), ("proxied", &proxied), ("h2c", &h2c)] {
        until(&format!("checks of {name}"), || async {
            match pod.checks.load(Ordering::SeqCst) {
                checks if checks > 5 => Ok(()),
                checks => Err(format!("{checks}")),
            }
        })
        .await;
        assert_eq!(bed.get(&format!("{name}.test"), "/").await.name(), name);
    }
    bed.proves(&["check-http"]);
});

/// A pod that takes a request and dies before it says a word.
async fn dying() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
        }
    });
    address
}

on_every_branch!(a_request_that_died_with_its_pod_is_repeated_if_its_method_may_be, |bed| async move {
    let good = Echo::start("good").await;
    bed.put("a.yaml", &app("a", "", &[good.address, dying().await]));
    bed.until_name("a.test", "/", "good").await;
    bed.until_settled().await;
    bed.until_alone().await;
    for method in ["GET", "HEAD", "PUT", "DELETE"] {
        for _ in 0..4 {
            let call = Call { host: "a.test", method, ..Call::default() };
            assert_eq!(call.send(bed.http()).await.unwrap().status, 200, "{method}");
        }
    }
    for method in ["POST", "PATCH"] {
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..4 {
            let call = Call { host: "a.test", method, ..Call::default() };
            seen.insert(call.send(bed.http()).await.unwrap().status);
        }
        assert!(seen.iter().eq(&[200, 502]), "{method}: {seen:?}");
    }
});

on_every_branch!(requests_are_tried_again_as_keys_say, |bed| async move {
    let (good, bad) = (Pod::start("good", Kind::default()).await, Pod::start("bad", Kind::default()).await);
    bad.status.store(503, Ordering::SeqCst);
    let both = [good.address, bad.address];
    bed.put("plain.yaml", &app("plain", "", &both));
    let again = "haproxy.org/retry-on: conn-failure, 503\nhaproxy.org/retries: \"1\"";
    bed.put("again.yaml", &app("again", again, &both));
    bed.until_name("plain.test", "/", "good").await;
    bed.until_status("plain.test", "/", 503).await;
    bed.until_name("again.test", "/", "good").await;
    until_only(&bed, "again.test", &["good"]).await;

    // The pod of a cookie is dead.
    let dead = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let cookie = "haproxy.org/cookie-persistence-no-dynamic: pod\nhaproxy.org/redispatch:";
    bed.put("other.yaml", &app("other", &format!("{cookie} \"true\""), &[good.address, dead]));
    bed.put("same.yaml", &app("same", &format!("{cookie} \"false\""), &[good.address, dead]));
    bed.until_name("other.test", "/", "good").await;
    bed.until_name("same.test", "/", "good").await;
    let header = format!("Cookie: pod={dead}");
    assert_eq!(get_with(&bed, "other.test", &header).await.name(), "good");
    assert_eq!(get_with(&bed, "same.test", &header).await.status, 503);
    bed.proves(&["retry-on", "retries", "redispatch"]);
});
