//! What the API server does not let the controller read freezes; it never counts as "nothing there".

use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::{Api, Client};
use serde_json::json;

use super::lab::{self, BRANCH, pod, processes, updates};
use super::objects::{allow, apply};
use super::space::tls;
use crate::support::certificates::ecdsa;
use crate::support::{Bed, client, until};

const ALL: [&str; 5] = ["ingresses", "ingressclasses", "services", "endpointslices", "secrets"];

/// All but one.
fn without(resource: &str) -> Vec<&'static str> {
    ALL.into_iter().filter(|other| *other != resource).collect()
}

#[test]
fn a_controller_without_rights_waits_and_says_which() {
    lab::run(async |lab| {
        let space = lab.space("waits").await;
        let one = pod("one").await;
        space.app("app", &[&one]).await;
        space.ingress("app", "waits.test", "app").await;
        let refused = [("user-a", "secrets"), ("user-b", "services")];
        for (user, resource) in refused {
            allow(&lab.client, user, &without(resource)).await;
        }
        let beds = refused.map(|(user, resource)| (lab.unready_bed(user), user, resource));
        for (bed, user, resource) in &beds {
            let said = bed
                .until_logged(&[
                    "watch-refused",
                    &format!("User \"{user}\" cannot list resource \"{resource}\""),
                ])
                .await;
            assert!(
                said.contains(&format!("allow the verbs `get`, `list`, `watch` on `{resource}`")),
                "{said}"
            );
            until_seed_serves(bed).await;
            assert_eq!(updates(bed, 0), 0, "nothing is planned on half of the objects\n{}", bed.log_tail());
        }
        for (user, _) in refused {
            allow(&lab.client, user, &ALL).await;
        }
        for (bed, _, resource) in &beds {
            bed.until_ready().await;
            bed.until_name("waits.test", "/", "one").await;
            bed.until_logged(&["mended", resource, "watch-refused"]).await;
            bed.check_after_test().await;
        }
    });
}

/// The seed answers its health endpoint and says that it is not ready.
async fn until_seed_serves(bed: &Bed) {
    let address = bed.address(bed.ports.healthz);
    until("the seed to serve", || async {
        let healthz = client::get(address, "x", "/healthz").await?;
        let readyz = client::get(address, "x", "/readyz").await?;
        if (healthz.status, readyz.status) == (200, 503) {
            Ok(())
        } else {
            Err(format!("{healthz:?} {readyz:?}"))
        }
    })
    .await;
}

#[test]
fn a_role_in_one_namespace_is_enough_to_serve_it() {
    lab::run(async |lab| {
        let space = lab.space("tenant").await;
        let one = pod("one").await;
        space.app("app", &[&one]).await;
        space.ingress_with("app", "tenant.test", "app", tls("tenant.test", "cert")).await;
        space.tls_secret("cert", &ecdsa("tenant", &["tenant.test"])).await;
        space.allow("user-d", &ALL).await;
        let kubeconfig = lab.kubeconfig("user-d");
        let bed = Bed::start(BRANCH, &[&kubeconfig, "--watch-namespace=tenant"]).await;
        bed.until_certificate("tenant.test", "tenant").await;
        assert_eq!(bed.get_tls("tenant.test", "/").await.0.name(), "one");
        // IngressClass has no namespace, so that no Role can allow it: that is no mistake.
        bed.until_logged(&["no IngressClass is read"]).await;
        assert!(!bed.log().contains("watch-refused"), "{}", bed.log());
        bed.check_after_test().await;
    });
}

#[test]
fn a_role_that_forgot_to_allow_watching_is_said_once() {
    lab::run(async |lab| {
        let space = lab.space("polls").await;
        let (one, two) = (pod("one").await, pod("two").await);
        space.app("app", &[&one]).await;
        space.ingress("app", "polls.test", "app").await;
        allow(&lab.client, "user-d", &ALL).await;
        allow_verbs(&lab.client, "user-d", &["get", "list"]).await;
        let bed = Bed::start(BRANCH, &[&lab.kubeconfig("user-d")]).await;
        bed.until_name("polls.test", "/", "one").await;
        for resource in ALL {
            bed.until_logged(&[
                "watch-refused",
                &format!("User \"user-d\" cannot watch resource \"{resource}\""),
            ])
            .await;
        }
        // Trying again is a list that works and a watch that does not: neither is news.
        until("the watches to be tried again", || async {
            let tries = bed.log().matches("watch refused scope=").count();
            if tries > 2 * ALL.len() { Ok(()) } else { Err(format!("{tries} tries")) }
        })
        .await;
        let log = bed.log();
        assert_eq!(log.matches("[watch-refused]").count(), ALL.len(), "{log}");
        allow(&lab.client, "user-d", &ALL).await;
        space.endpoints("app", &[&two]).await;
        bed.until_name("polls.test", "/", "two").await;
        bed.until_logged(&["mended: Ingress", "watch-refused"]).await;
        bed.check_after_test().await;
    });
}

/// Changes the verbs of a user's role.
async fn allow_verbs(client: &Client, user: &str, verbs: &[&str]) {
    let groups = ["", "networking.k8s.io", "discovery.k8s.io"];
    let rules = json!([{"apiGroups": groups, "resources": ALL, "verbs": verbs}]);
    apply(&Api::<ClusterRole>::all(client.clone()), json!({"metadata": {"name": user}, "rules": rules}))
        .await;
}

#[test]
fn rights_that_are_taken_away_freeze_and_come_back() {
    lab::run(async |lab| {
        let space = lab.space("freezes").await;
        let (one, two) = (pod("one").await, pod("two").await);
        space.app("app", &[&one]).await;
        space.ingress("app", "freezes.test", "app").await;
        space.ingress_with("tls", "tls.freezes.test", "app", tls("tls.freezes.test", "cert")).await;
        space.tls_secret("cert", &ecdsa("first", &["tls.freezes.test"])).await;
        allow(&lab.client, "user-c", &ALL).await;
        let bed = Bed::start(BRANCH, &[&lab.kubeconfig("user-c")]).await;
        bed.until_name("freezes.test", "/", "one").await;
        bed.until_certificate("tls.freezes.test", "first").await;
        let (worker, marker) = (processes(&bed).await.1, bed.log().len());

        allow(&lab.client, "user-c", &["ingresses", "ingressclasses"]).await;
        // The API server checks rights when a watch starts; a restart makes all of them start anew.
        lab.server().stop();
        lab.server().resume().await;
        for resource in ["services", "endpointslices", "secrets"] {
            let said = bed.until_logged(&["watch-refused", &format!("`{resource}")]).await;
            assert!(said.contains("User \"user-c\" cannot ") && !said.contains("metadata"), "{said}");
        }
        assert_eq!(bed.get("freezes.test", "/").await.name(), "one");
        bed.until_certificate("tls.freezes.test", "first").await;
        assert_eq!(updates(&bed, marker), 0, "nothing was emptied\n{}", bed.log_tail());
        // What may still be read is followed; what may not stays as it was.
        space.endpoints("app", &[&two]).await;
        space.tls_secret("cert", &ecdsa("second", &["tls.freezes.test"])).await;
        space.ingress("new", "new.freezes.test", "app").await;
        bed.until_name("new.freezes.test", "/", "one").await;
        bed.until_certificate("tls.freezes.test", "first").await;
        assert!(!bed.log().contains("mended: Secret"), "it is refused still\n{}", bed.log_tail());

        allow(&lab.client, "user-c", &ALL).await;
        bed.until_name("freezes.test", "/", "two").await;
        bed.until_certificate("tls.freezes.test", "second").await;
        for resource in ["services", "endpointslices", "secrets"] {
            bed.until_logged(&["mended", "watch-refused", &format!("`{resource}")]).await;
        }
        assert_eq!(processes(&bed).await.1, worker, "no reload\n{}", bed.log_tail());
        bed.check_after_test().await;
    });
}
