//! The main job on a cluster: 404, then 200, then everything that changes while the worker stays.

use super::lab::{self, Lab, pod, processes};
use super::space::tls;
use crate::support::Branch;
use crate::support::certificates::ecdsa;

const DEFAULT: &str = "Outrigger self-signed certificate";

async fn foo_bar(lab: &mut Lab, branch: Branch) {
    let space = lab.space("foo").await;
    let (one, two) = (pod("one").await, pod("two").await);
    let bed = lab.bed(branch, &[]).await;
    assert_eq!(bed.get("foo.bar", "/").await.status, 404);
    space.app("app", &[&one]).await;
    space.ingress("app", "foo.bar", "app").await;
    bed.until_name("foo.bar", "/", "one").await;
    let worker = processes(&bed).await.1;

    space.endpoints("app", &[&two]).await;
    bed.until_name("foo.bar", "/", "two").await;
    for _ in 0..10 {
        assert_eq!(bed.get("foo.bar", "/").await.name(), "two");
    }
    space.ingress("new", "new.bar", "app").await;
    bed.until_name("new.bar", "/", "two").await;

    // The Ingress comes first, and gets the default certificate until its Secret is there.
    space.ingress_with("tls", "tls.bar", "app", tls("tls.bar", "cert")).await;
    bed.until_status("tls.bar", "/", 302).await;
    bed.until_certificate("tls.bar", DEFAULT).await;
    assert_eq!(bed.get_tls("tls.bar", "/").await.0.name(), "two");
    space.tls_secret("cert", &ecdsa("first", &["tls.bar"])).await;
    bed.until_certificate("tls.bar", "first").await;
    space.tls_secret("cert", &ecdsa("renewed", &["tls.bar"])).await;
    bed.until_certificate("tls.bar", "renewed").await;
    assert_eq!(bed.get_tls("tls.bar", "/").await.0.name(), "two");
    space.delete_secret("cert").await;
    bed.until_certificate("tls.bar", DEFAULT).await;
    bed.until_logged(&["secret-not-found", "tls"]).await;

    space.delete_ingress("new").await;
    bed.until_status("new.bar", "/", 404).await;
    space.endpoints("app", &[]).await;
    bed.until_status("foo.bar", "/", 503).await;
    assert_eq!(
        processes(&bed).await.1,
        worker,
        "one reload for the new Service, none after\n{}",
        bed.log_tail()
    );
    bed.check_after_test().await;
}

#[test]
fn haproxy_2_2() {
    lab::run(async |lab| foo_bar(lab, Branch(2, 2)).await);
}

#[test]
fn haproxy_2_6() {
    lab::run(async |lab| foo_bar(lab, Branch(2, 6)).await);
}

#[test]
fn haproxy_3_0() {
    lab::run(async |lab| foo_bar(lab, Branch(3, 0)).await);
}

#[test]
fn haproxy_3_2() {
    lab::run(async |lab| foo_bar(lab, Branch(3, 2)).await);
}

#[test]
fn haproxy_3_4() {
    lab::run(async |lab| foo_bar(lab, Branch(3, 4)).await);
}
