//! Endpoints come and go while HAProxy runs.

use crate::support::manifests::{endpoints, endpoints_with, ingress, service};
use crate::support::{Branch, Echo, until};

on_every_branch!(endpoints_are_followed_without_a_reload, |bed| async move {
    let (one, two, three) = (Echo::start("one").await, Echo::start("two").await, Echo::start("three").await);
    bed.put("app.yaml", &(service("app") + &ingress("app", &[("foo.bar", "Prefix", "/", "app")])));
    bed.put("endpoints.yaml", &endpoints("app", &[one.address]));
    bed.until_name("foo.bar", "/", "one").await;
    let worker = bed.worker().await;

    // Replaced: only the new one answers.
    bed.put("endpoints.yaml", &endpoints("app", &[two.address]));
    bed.until_name("foo.bar", "/", "two").await;
    for _ in 0..10 {
        assert_eq!(bed.get("foo.bar", "/").await.name(), "two");
    }
    // Added: all answer.
    bed.put("endpoints.yaml", &endpoints("app", &[one.address, two.address, three.address]));
    for name in ["one", "two", "three"] {
        bed.until_name("foo.bar", "/", name).await;
    }
    // None: 503, and the way back.
    bed.put("endpoints.yaml", &endpoints("app", &[]));
    bed.until_status("foo.bar", "/", 503).await;
    bed.put("endpoints.yaml", &endpoints("app", &[three.address]));
    bed.until_name("foo.bar", "/", "three").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
});

on_every_branch!(a_removed_endpoint_finishes_the_request_it_has, |bed| async move {
    let (one, two) = (Echo::start("one").await, Echo::start("two").await);
    bed.put("app.yaml", &(service("app") + &ingress("app", &[("foo.bar", "Prefix", "/", "app")])));
    bed.put("endpoints.yaml", &endpoints("app", &[one.address]));
    bed.until_name("foo.bar", "/", "one").await;
    let worker = bed.worker().await;
    let slow = tokio::spawn({
        let bed = bed.clone();
        async move { bed.get("foo.bar", "/wait").await }
    });
    until("the request to reach the pod", || async {
        if one.waiting() == 1 { Ok(()) } else { Err(String::new()) }
    })
    .await;

    bed.put("endpoints.yaml", &endpoints("app", &[two.address]));
    bed.until_name("foo.bar", "/", "two").await;
    for _ in 0..5 {
        assert_eq!(bed.get("foo.bar", "/").await.name(), "two");
    }
    // It comes back while its last request still runs, and goes again.
    bed.put("endpoints.yaml", &endpoints("app", &[one.address, two.address]));
    bed.until_name("foo.bar", "/", "one").await;
    bed.put("endpoints.yaml", &endpoints("app", &[two.address]));
    one.release(1);
    let answer = slow.await.unwrap();
    assert_eq!((answer.status, answer.name()), (200, "one"));
    bed.until_name("foo.bar", "/", "two").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
});

on_every_branch!(conditions_decide_which_endpoints_serve, |bed| async move {
    let (ready, unready, leaving) =
        (Echo::start("ready").await, Echo::start("unready").await, Echo::start("leaving").await);
    bed.put("app.yaml", &(service("app") + &ingress("app", &[("foo.bar", "Prefix", "/", "app")])));
    let leaving_conditions = (leaving.address, "ready: false, serving: true, terminating: true");
    bed.put(
        "endpoints.yaml",
        &endpoints_with(
            "app",
            &[(ready.address, "ready: true"), (unready.address, "ready: false"), leaving_conditions],
        ),
    );
    bed.until_name("foo.bar", "/", "ready").await;
    for _ in 0..10 {
        assert_eq!(bed.get("foo.bar", "/").await.name(), "ready");
    }
    // Nobody is ready: those that leave but still serve are better than nothing.
    bed.put(
        "endpoints.yaml",
        &endpoints_with("app", &[(unready.address, "ready: false"), leaving_conditions]),
    );
    bed.until_name("foo.bar", "/", "leaving").await;
    // publishNotReadyAddresses counts all that do not leave.
    let publish = service("app").replace("spec:\n", "spec:\n  publishNotReadyAddresses: true\n");
    bed.put("app.yaml", &(publish + &ingress("app", &[("foo.bar", "Prefix", "/", "app")])));
    bed.until_name("foo.bar", "/", "unready").await;
});

on_every_branch!(ports_are_joined_by_name_also_where_they_differ_per_pod, |bed| async move {
    let (one, two) = (Echo::start("one").await, Echo::start("two").await);
    bed.put("app.yaml", &service("app"));
    let by_name = ingress("app", &[("foo.bar", "Prefix", "/", "app")]).replace("number: 80", "name: http");
    bed.put("ingress.yaml", &by_name);
    // One named port, another number on each pod: two slices.
    bed.put("endpoints.yaml", &endpoints("app", &[one.address, two.address]));
    bed.until_name("foo.bar", "/", "one").await;
    bed.until_name("foo.bar", "/", "two").await;
    bed.put("ingress.yaml", &by_name.replace("name: http", "name: nope"));
    bed.until_status("foo.bar", "/", 503).await;
    bed.until_logged(&["service-port-not-found", "nope"]).await;
});

on_every_branch!(both_address_families_serve, |bed| async move {
    let four = Echo::start("four").await;
    let six = Echo::start_at("six", std::net::Ipv6Addr::LOCALHOST.into(), 0).await;
    bed.put("app.yaml", &(service("app") + &ingress("app", &[("foo.bar", "Prefix", "/", "app")])));
    bed.put("endpoints.yaml", &endpoints("app", &[four.address, six.address]));
    bed.until_name("foo.bar", "/", "four").await;
    bed.until_name("foo.bar", "/", "six").await;
    bed.put("endpoints.yaml", &endpoints("app", &[six.address]));
    bed.until_name("foo.bar", "/", "six").await;
});

on_every_branch!(a_dead_endpoint_is_retried_on_another, |bed| async move {
    let alive = Echo::start("alive").await;
    let dead = std::net::SocketAddr::from(([127, 0, 0, 1], crate::support::free_port()));
    bed.put("app.yaml", &(service("app") + &ingress("app", &[("foo.bar", "Prefix", "/", "app")])));
    bed.put("endpoints.yaml", &endpoints("app", &[dead, alive.address]));
    bed.until_name("foo.bar", "/", "alive").await;
    for _ in 0..20 {
        assert_eq!(bed.get("foo.bar", "/").await.name(), "alive");
    }
});

/// Before 2.6 servers are slots: more endpoints than slots need one reload, and only that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_endpoints_than_slots_need_one_reload() {
    let bed = crate::support::Bed::start(Branch(2, 2), &[]).await;
    assert!(!bed.branch.has_dynamic_servers());
    let mut echoes = Vec::new();
    for i in 0..12 {
        echoes.push(Echo::start(&format!("echo{i}")).await);
    }
    let addresses: Vec<_> = echoes.iter().map(|e| e.address).collect();
    bed.put("app.yaml", &(service("app") + &ingress("app", &[("foo.bar", "Prefix", "/", "app")])));
    bed.put("endpoints.yaml", &endpoints("app", &addresses[..2]));
    bed.until_name("foo.bar", "/", "echo1").await;
    let worker = bed.worker().await;
    bed.put("endpoints.yaml", &endpoints("app", &addresses[..6]));
    bed.until_name("foo.bar", "/", "echo5").await;
    assert_eq!(bed.worker().await, worker, "a free slot was there");
    bed.put("endpoints.yaml", &endpoints("app", &addresses));
    bed.until_name("foo.bar", "/", "echo11").await;
    assert_ne!(bed.worker().await, worker, "more slots need a reload");
    bed.check_after_test().await;
}
