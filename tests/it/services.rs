//! New Services appear while HAProxy runs, as long as it has spare backends.

use crate::support::manifests::application;
use crate::support::{Bed, Branch, Echo, until};

on_every_branch!(new_services_answer_without_a_reload, |bed| async move {
    bed.until_settled().await;
    let worker = bed.worker().await;
    let mut echoes = Vec::new();
    for i in 0..5 {
        let echo = Echo::start(&format!("echo{i}")).await;
        bed.put(&format!("app{i}.yaml"), &application(&format!("app{i}"), echo.address));
        echoes.push(echo);
        // The new one, and all that came before it.
        for i in 0..=i {
            bed.until_name(&format!("app{i}.test"), "/", &format!("echo{i}")).await;
        }
    }
    if bed.branch.has_dynamic_servers() {
        assert_eq!(bed.worker().await, worker, "no reload was needed");
    } else {
        assert_ne!(bed.worker().await, worker, "there are no spare backends");
    }
    // Everything about them goes on as usual.
    let late = Echo::start("late").await;
    bed.put("app3.yaml", &application("app3", late.address));
    bed.until_name("app3.test", "/", "late").await;
    bed.remove("app1.yaml");
    bed.until_status("app1.test", "/", 404).await;
    for (i, name) in [(0, "echo0"), (2, "echo2"), (3, "late"), (4, "echo4")] {
        assert_eq!(bed.get(&format!("app{i}.test"), "/").await.name(), name);
    }
    if bed.branch.has_dynamic_servers() {
        assert_eq!(bed.worker().await, worker, "no reload was needed");
    }
});

/// A spare stands for nobody else until a reload, so the Services that come and go need one when the spares are used up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_services_come_and_go_with_one_reload() {
    let bed = Bed::start(Branch(3, 2), &[]).await;
    bed.until_settled().await;
    let (_, _, before) = bed.processes().await;
    let echoes = [Echo::start("even").await, Echo::start("odd").await];
    for i in 0..100 {
        let (name, host) = (format!("app{i}"), format!("app{i}.test"));
        bed.put("app.yaml", &application(&name, echoes[i % 2].address));
        bed.until_name(&host, "/", ["even", "odd"][i % 2]).await;
        // Every other one is replaced by the next at once.
        if i % 2 == 1 {
            bed.remove("app.yaml");
            bed.until_status(&host, "/", 404).await;
        }
    }
    bed.until_settled().await;
    let (_, _, reloads) = bed.processes().await;
    assert_eq!(reloads - before, 1, "for the 65th");
    bed.check_after_test().await;
}

/// More new Services than there are spares: one reload gives all of them a backend of their own, and all spares are free.
async fn more_than_there_are_spares(bed: std::sync::Arc<Bed>) {
    bed.until_settled().await;
    let (_, _, before) = bed.processes().await;
    let echo = Echo::start("echo").await;
    let all: String = (0..70).map(|i| application(&format!("app{i}"), echo.address)).collect();
    bed.put("all.yaml", &all);
    for i in 0..70 {
        bed.until_name(&format!("app{i}.test"), "/", "echo").await;
    }
    bed.until_settled().await;
    let (_, worker, reloads) = bed.processes().await;
    assert!((1..=2).contains(&(reloads - before)), "{reloads} reloads, {before} before");
    let other = Echo::start("other").await;
    bed.put("other.yaml", &application("other", other.address));
    bed.until_name("other.test", "/", "other").await;
    assert_eq!(bed.worker().await, worker, "spares are free again");
    for i in 0..70 {
        assert_eq!(bed.get(&format!("app{i}.test"), "/").await.name(), "echo");
    }
}

on_branch!(haproxy_2_6_with_more_new_services_than_spares_reloads_once, Branch(2, 6), [], |bed| {
    Box::pin(more_than_there_are_spares(bed))
});
on_branch!(haproxy_3_2_with_more_new_services_than_spares_reloads_once, Branch(3, 2), [], |bed| {
    Box::pin(more_than_there_are_spares(bed))
});

on_every_branch!(a_killed_haproxy_comes_back_with_new_services, |bed| async move {
    let echoes = [Echo::start("echo0").await, Echo::start("echo1").await, Echo::start("echo2").await];
    for (i, echo) in echoes.iter().enumerate() {
        bed.put(&format!("app{i}.yaml"), &application(&format!("app{i}"), echo.address));
        bed.until_name(&format!("app{i}.test"), "/", &format!("echo{i}")).await;
    }
    bed.until_settled().await;
    let (master, worker, _) = bed.processes().await;
    bed.kill(master);
    bed.kill(worker);
    until("another HAProxy", || async {
        let (now, ..) = bed.processes().await;
        if now == master { Err("the old one".to_owned()) } else { Ok(()) }
    })
    .await;
    // Never another answer than the one from before.
    for i in 0..3 {
        until("HAProxy to serve", || async {
            crate::support::client::get(bed.http(), &format!("app{i}.test"), "/").await.map(|_| ())
        })
        .await;
        assert_eq!(bed.get(&format!("app{i}.test"), "/").await.name(), format!("echo{i}"));
    }
    // And it is driven again, without a reload.
    let worker = bed.worker().await;
    bed.put("app0.yaml", &application("app0", echoes[2].address));
    bed.until_name("app0.test", "/", "echo2").await;
    if bed.branch.has_dynamic_servers() {
        assert_eq!(bed.worker().await, worker, "no reload was needed");
    }
});
