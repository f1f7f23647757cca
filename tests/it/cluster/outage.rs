//! The API server goes away, or forgets: nothing that serves is touched.

use serde_json::json;

use super::lab::{self, BRANCH, pod, processes, updates};
use crate::support::{client, until};

#[test]
fn without_api_server_everything_serves_on() {
    lab::run(async |lab| {
        let space = lab.space("outage").await;
        let (one, two) = (pod("one").await, pod("two").await);
        let bed = lab.bed(BRANCH, &[]).await;
        space.app("app", &[&one]).await;
        space.ingress("app", "outage.test", "app").await;
        bed.until_name("outage.test", "/", "one").await;
        let (before, marker) = (processes(&bed).await, bed.log().len());

        lab.server().stop();
        bed.until_logged(&["watch broken"]).await;
        for _ in 0..20 {
            assert_eq!(bed.get("outage.test", "/").await.name(), "one");
        }
        let ready = client::get(bed.address(bed.ports.healthz), "x", "/readyz").await.unwrap();
        assert_eq!(ready.status, 200, "what HAProxy serves is as good as before");
        let live = client::get(bed.address(bed.ports.controller), "x", "/livez").await.unwrap();
        assert_eq!(live.status, 200, "a restart of the controller would mend nothing");

        lab.server().resume().await;
        assert_eq!(bed.get("outage.test", "/").await.name(), "one");
        assert_eq!(updates(&bed, marker), 0, "{}", bed.log_tail());
        space.endpoints("app", &[&two]).await;
        bed.until_name("outage.test", "/", "two").await;
        space.ingress("new", "new.outage.test", "app").await;
        bed.until_name("new.outage.test", "/", "two").await;
        assert_eq!(processes(&bed).await, before, "no reload\n{}", bed.log_tail());
        bed.check_after_test().await;
    });
}

#[test]
fn a_start_without_api_server_serves_what_is_on_disk() {
    lab::run(async |lab| {
        let space = lab.space("dark").await;
        let (one, two) = (pod("one").await, pod("two").await);
        space.app("app", &[&one]).await;
        space.ingress("app", "dark.test", "app").await;
        let bed = lab.bed(BRANCH, &[]).await;
        bed.until_name("dark.test", "/", "one").await;
        processes(&bed).await;
        bed.stop_controller().await;

        lab.server().stop();
        let marker = bed.log().len();
        bed.start_controller();
        // Nobody who could say what is wanted, but what ran before is good: HAProxy starts on it, and is ready.
        bed.until_ready().await;
        bed.until_name("dark.test", "/", "one").await;
        until("the outage to be noticed", || async {
            if bed.log()[marker..].contains("watch broken") { Ok(()) } else { Err(bed.log_tail()) }
        })
        .await;
        assert_eq!(updates(&bed, marker), 0, "nothing is known yet\n{}", bed.log_tail());
        assert_eq!(bed.get("dark.test", "/").await.name(), "one");
        let before = processes(&bed).await;

        lab.server().resume().await;
        until("the first update", || async {
            if bed.log()[marker..].contains("outcome=unchanged") { Ok(()) } else { Err(bed.log_tail()) }
        })
        .await;
        space.endpoints("app", &[&two]).await;
        bed.until_name("dark.test", "/", "two").await;
        assert_eq!(processes(&bed).await, before, "no reload\n{}", bed.log_tail());
        bed.check_after_test().await;
    });
}

#[test]
fn an_expired_watch_changes_nothing() {
    lab::run(async |lab| {
        let space = lab.space("expiry").await;
        let (one, two) = (pod("one").await, pod("two").await);
        let bed = lab.bed(BRANCH, &[]).await;
        space.app("app", &[&one]).await;
        space.ingress("app", "expiry.test", "app").await;
        bed.until_name("expiry.test", "/", "one").await;
        let (before, marker) = (processes(&bed).await, bed.log().len());

        // Other objects move the version on; then nobody remembers the one that the watches are at.
        for round in 0..20 {
            space.config_map("unrelated", json!({"round": round.to_string()})).await;
        }
        lab.server().stop();
        lab.server().compact();
        lab.server().resume().await;
        // Each kind is listed anew when its version is too old (410).
        for kind in ["Ingress *", "Service *", "EndpointSlice *", "Secret *"] {
            bed.until_logged(&[&format!("scope={kind}"), "too old resource version"]).await;
        }
        space.endpoints("app", &[&two]).await;
        bed.until_name("expiry.test", "/", "two").await;
        assert_eq!(updates(&bed, marker), 1, "the new endpoint alone\n{}", bed.log_tail());
        assert_eq!(processes(&bed).await, before, "no reload\n{}", bed.log_tail());
        bed.check_after_test().await;
    });
}
