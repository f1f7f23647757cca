//! What the controllers tell the cluster: addresses in the status of Ingresses, Events, and who of two does it.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::api::networking::v1::Ingress;
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::json;

use super::lab::{self, BRANCH, pod};
use crate::support::until;

/// The address in the status of an Ingress.
async fn address(ingresses: &Api<Ingress>, name: &str) -> Option<String> {
    let ingress = ingresses.get(name).await.unwrap();
    let entries = ingress.status?.load_balancer?.ingress?;
    let entry = entries.first()?;
    entry.ip.clone().or_else(|| entry.hostname.clone())
}

async fn until_address(ingresses: &Api<Ingress>, name: &str, wanted: Option<&str>) {
    until(&format!("address {wanted:?} of {name}"), || async {
        let found = address(ingresses, name).await;
        if found.as_deref() == wanted { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .await;
}

#[test]
fn the_leader_writes_status_and_events_and_another_takes_over() {
    lab::run(async |lab| {
        let space = lab.space("report").await;
        let one = pod("one").await;
        space.app("app", &[&one]).await;
        space.ingress("app", "report.test", "app").await;
        space.ingress("foreign", "foreign.test", "app").await;
        space.ingress_with("elsewhere", "elsewhere.test", "app", json!({"ingressClassName": "other"})).await;
        let ingresses: Api<Ingress> = Api::namespaced(lab.client.clone(), "report");
        // What another controller left behind.
        let left = json!({"status": {"loadBalancer": {"ingress": [{"hostname": "old.example.org"}]}}});
        for name in ["foreign", "elsewhere"] {
            let patch = Patch::Merge(&left);
            ingresses.patch_status(name, &PatchParams::default(), &patch).await.unwrap();
        }
        let flags = |name: &'static str, address: &'static str| {
            [
                "--pod-namespace=report".to_owned(),
                format!("--pod-name={name}"),
                format!("--publish-address={address}"),
                "--clear-status-on-exit".to_owned(),
            ]
        };
        let words = |flags: &'static [String]| flags.iter().map(String::as_str).collect::<Vec<_>>();
        let first = lab.bed(BRANCH, &words(Vec::leak(flags("first", "192.0.2.1").into()))).await;
        until_address(&ingresses, "app", Some("192.0.2.1")).await;
        until_address(&ingresses, "foreign", Some("192.0.2.1")).await;
        assert_eq!(address(&ingresses, "elsewhere").await.as_deref(), Some("old.example.org"), "not ours");

        let leases: Api<Lease> = Api::namespaced(lab.client.clone(), "report");
        let holder =
            async || leases.get("outrigger-leader").await.unwrap().spec.unwrap().holder_identity.unwrap();
        assert_eq!(holder().await, "first");
        let second = lab.bed(BRANCH, &words(Vec::leak(flags("second", "lb.example.org").into()))).await;

        // A new Ingress gets its address, and a mistake in it an Event that `kubectl describe` finds by its uid.
        space.ingress_with("late", "late.test", "app", json!({})).await;
        until_address(&ingresses, "late", Some("192.0.2.1")).await;
        let wrong = json!({"metadata": {"annotations": {"haproxy.org/ssl-redirect": "perhaps"}}});
        ingresses.patch("late", &PatchParams::default(), &Patch::Merge(&wrong)).await.unwrap();
        let uid = ingresses.get("late").await.unwrap().metadata.uid;
        let events: Api<Event> = Api::namespaced(lab.client.clone(), "report");
        let of_late = async || -> Vec<Event> {
            let all = events.list(&ListParams::default()).await.unwrap();
            all.items.into_iter().filter(|e| e.regarding.as_ref().is_some_and(|r| r.uid == uid)).collect()
        };
        let event =
            until("an Event on the Ingress", async || of_late().await.pop().ok_or_else(String::new)).await;
        assert_eq!(event.reason.as_deref(), Some("ValueInvalid"));
        assert_eq!(event.type_.as_deref(), Some("Warning"));
        let note = event.note.unwrap_or_default();
        assert!(note.contains("`perhaps`") && note.contains("hint:"), "{note}");
        second.until_logged(&["perhaps", "value-invalid"]).await;
        assert_eq!(of_late().await.len(), 1, "the one that does not lead says nothing to the cluster");

        first.stop_controller().await;
        until("the other to lead", async || match holder().await {
            holder if holder == "second" => Ok(()),
            holder => Err(holder),
        })
        .await;
        until_address(&ingresses, "app", Some("lb.example.org")).await;
        second.stop_controller().await;
        until_address(&ingresses, "app", None).await;
    });
}

#[test]
fn addresses_are_taken_back_while_controllers_still_run() {
    lab::run(async |lab| {
        let space = lab.space("withdrawn").await;
        let one = pod("one").await;
        space.app("app", &[&one]).await;
        space.ingress("app", "withdrawn.test", "app").await;
        space.ingress_with("elsewhere", "elsewhere.test", "app", json!({"ingressClassName": "other"})).await;
        let ingresses: Api<Ingress> = Api::namespaced(lab.client.clone(), "withdrawn");
        let left = json!({"status": {"loadBalancer": {"ingress": [{"hostname": "old.example.org"}]}}});
        ingresses.patch_status("elsewhere", &PatchParams::default(), &Patch::Merge(left)).await.unwrap();
        let flags = ["--pod-namespace=withdrawn", "--publish-address=192.0.2.7", "--election-id=withdrawn"];
        let bed = lab.bed(BRANCH, &[&flags[..], &["--pod-name=still-there"]].concat()).await;
        until_address(&ingresses, "app", Some("192.0.2.7")).await;

        let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_outrigger"))
            // As typed in the pod of the one that leads.
            .args(["clear-status", "--pod-name=still-there", "--watch-namespace=withdrawn"])
            .args(flags)
            .arg(lab.kubeconfig("admin"))
            .output()
            .await
            .unwrap();
        let log =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && log.contains("status of 1 Ingresses"), "{log}");
        assert_eq!(address(&ingresses, "app").await, None);
        assert_eq!(address(&ingresses, "elsewhere").await.as_deref(), Some("old.example.org"), "not ours");

        // The one that led serves on, and writes no more.
        bed.until_logged(&["this controller leads no longer"]).await;
        space.ingress("late", "late.test", "app").await;
        bed.until_name("late.test", "/", "one").await;
        assert_eq!((address(&ingresses, "app").await, address(&ingresses, "late").await), (None, None));
    });
}
