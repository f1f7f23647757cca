//! Which Ingresses are served, by IngressClass objects that come, change and go.

use serde_json::json;

use super::lab::{self, BRANCH, pod, processes};
use super::space::{class, delete_class};

const OURS: &str = "outrigger.dev/ingress-controller";
const THEIRS: &str = "example.com/other";

#[test]
fn classes_decide_whose_an_ingress_is() {
    lab::run(async |lab| {
        let space = lab.space("classes").await;
        let one = pod("one").await;
        space.app("app", &[&one]).await;
        class(&lab.client, "ours", OURS, false).await;
        class(&lab.client, "theirs", THEIRS, false).await;
        for name in ["ours", "theirs", "nobodys"] {
            let further = json!({"ingressClassName": name});
            space.ingress_with(name, &format!("{name}.test"), "app", further).await;
        }
        // The API server fills the class in where there is a default, so this one is made before.
        space.ingress("unnamed", "unnamed.test", "app").await;
        let bed = lab.bed(BRANCH, &[]).await;
        bed.until_name("ours.test", "/", "one").await;
        bed.until_name("unnamed.test", "/", "one").await;
        assert_eq!(bed.get("theirs.test", "/").await.status, 404);
        assert_eq!(bed.get("nobodys.test", "/").await.status, 404);
        let worker = processes(&bed).await.1;

        class(&lab.client, "theirs", THEIRS, true).await;
        bed.until_status("unnamed.test", "/", 404).await;
        assert_eq!(bed.get("ours.test", "/").await.status, 200);
        class(&lab.client, "theirs", THEIRS, false).await;
        class(&lab.client, "ours", OURS, true).await;
        bed.until_name("unnamed.test", "/", "one").await;
        space.ingress("filled-in", "filled-in.test", "app").await;
        bed.until_name("filled-in.test", "/", "one").await;
        // A class appears and takes an Ingress that waits for it; a class goes, and with it what it had.
        class(&lab.client, "nobodys", OURS, false).await;
        bed.until_name("nobodys.test", "/", "one").await;
        delete_class(&lab.client, "nobodys").await;
        bed.until_status("nobodys.test", "/", 404).await;
        assert_eq!(bed.get("theirs.test", "/").await.status, 404);
        assert_eq!(processes(&bed).await.1, worker, "no reload\n{}", bed.log_tail());
        bed.check_after_test().await;

        // One class of several.
        class(&lab.client, "second", OURS, false).await;
        space.ingress_with("second", "second.test", "app", json!({"ingressClassName": "second"})).await;
        let bed = lab.bed(BRANCH, &["--ingress-class=second"]).await;
        bed.until_name("second.test", "/", "one").await;
        for host in ["ours.test", "unnamed.test", "filled-in.test", "theirs.test"] {
            assert_eq!(bed.get(host, "/").await.status, 404, "{host}");
        }
        bed.check_after_test().await;
    });
}
