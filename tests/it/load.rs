//! Under constant load nothing is lost: a rolling change of all endpoints and twenty forced reloads.

use crate::support::certificates::ecdsa;
use crate::support::load::Load;
use crate::support::manifests::{application, endpoints, ingress_with, service, tls_secret};
use crate::support::{Branch, Echo, until};
use std::sync::Arc;

async fn nothing_is_lost(bed: Arc<crate::support::Bed>) {
    let mut echoes = Vec::new();
    for i in 0..6 {
        echoes.push(Echo::start(&format!("echo{i}")).await);
    }
    let addresses: Vec<_> = echoes.iter().map(|e| e.address).collect();
    let pair = ecdsa("foo", &["foo.bar"]);
    bed.put("secret.yaml", &tls_secret("foo", &pair.certificate, &pair.key));
    let spec = "  tls:\n  - hosts: [foo.bar]\n    secretName: foo\n";
    let rules = [("foo.bar", "Prefix", "/", "app")];
    bed.put(
        "app.yaml",
        &(service("app")
            + &ingress_with(
                "app",
                "2024-01-01T00:00:00Z",
                "outrigger.dev/ssl-redirect: \"false\"",
                &rules,
                spec,
            )),
    );
    bed.put("endpoints.yaml", &endpoints("app", &addresses[..3]));
    bed.until_name("foo.bar", "/", "echo0").await;
    bed.until_certificate("foo.bar", "foo").await;

    let load = Load::start(bed.http(), bed.https(), "foo.bar");
    load.more(200).await;
    let worker = bed.worker().await;
    // One after the other, every pod is replaced.
    for first in 0..6 {
        let now: Vec<_> = (first..first + 3).map(|i| addresses[i % 6]).collect();
        bed.put("endpoints.yaml", &endpoints("app", &now));
        bed.until_name("foo.bar", "/", &format!("echo{}", (first + 2) % 6)).await;
        load.more(100).await;
    }
    assert_eq!(bed.worker().await, worker, "endpoints need no reload");
    // Reloads that nobody told the controller of.
    for _ in 0..20 {
        let before = bed.worker().await;
        // Up to 2.6 the master closes the connection and says nothing.
        let _ = bed.master("reload");
        until("another worker", || async {
            match bed.worker().await {
                now if now == before => Err(format!("still {now}")),
                _ => Ok(()),
            }
        })
        .await;
        load.more(20).await;
    }
    // It has noticed, and goes on.
    bed.put("late.yaml", &application("late", addresses[0]));
    bed.until_name("late.test", "/", "echo0").await;
    load.more(100).await;
    let (_, _, reloads) = bed.processes().await;
    let (done, failures) = load.stop().await;
    assert!(reloads >= 20, "{reloads} reloads were made, 20 were meant");
    assert!(
        failures.is_empty(),
        "{} of {done} requests failed: {:#?}",
        failures.len(),
        &failures[..failures.len().min(10)]
    );
}

on_branch!(nothing_is_lost_on_haproxy_2_6, Branch(2, 6), [], nothing_is_lost_boxed);
on_branch!(nothing_is_lost_on_haproxy_3_0, Branch(3, 0), [], nothing_is_lost_boxed);
on_branch!(nothing_is_lost_on_haproxy_3_2, Branch(3, 2), [], nothing_is_lost_boxed);
on_branch!(nothing_is_lost_on_haproxy_3_4, Branch(3, 4), [], nothing_is_lost_boxed);

fn nothing_is_lost_boxed(
    bed: Arc<crate::support::Bed>,
) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(nothing_is_lost(bed))
}
