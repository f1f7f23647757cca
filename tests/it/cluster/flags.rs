//! Objects that flags name, also outside the namespaces that are watched.

use serde_json::json;

use super::lab::{self, BRANCH, pod, processes};
use super::space::tls;
use crate::support::certificates::ecdsa;

#[test]
fn flags_name_default_backend_certificate_and_settings() {
    lab::run(async |lab| {
        let apps = lab.space("apps").await;
        let infra = lab.space("infra").await;
        let (one, page, other) = (pod("one").await, pod("page").await, pod("other").await);
        infra.app("fallback", &[&page]).await;
        infra.tls_secret("default", &ecdsa("ours by default", &["default.test"])).await;
        infra.config_map("settings", json!({"ssl-redirect": "false"})).await;
        // The same names in the watched namespace must not be taken for them.
        apps.config_map("settings", json!({"ssl-redirect": "true"})).await;
        apps.tls_secret("default", &ecdsa("wrong", &["default.test"])).await;
        apps.app("app", &[&one]).await;
        apps.tls_secret("cert", &ecdsa("cert", &["flags.test"])).await;
        apps.ingress_with("app", "flags.test", "app", tls("flags.test", "cert")).await;
        infra.ingress("unwatched", "unwatched.test", "fallback").await;
        let bed = lab
            .bed(
                BRANCH,
                &[
                    "--watch-namespace=apps",
                    "--default-backend-service=infra/fallback",
                    "--default-ssl-certificate=infra/default",
                    "--configmap=infra/settings",
                ],
            )
            .await;
        // No redirect: the ConfigMap says so.
        bed.until_name("flags.test", "/", "one").await;
        bed.until_name("nobody.test", "/x", "page").await;
        bed.until_name("unwatched.test", "/", "page").await;
        bed.until_certificate("flags.test", "cert").await;
        bed.until_certificate("nobody.test", "ours by default").await;
        assert_eq!(bed.get_tls("nobody.test", "/").await.0.name(), "page");
        let worker = processes(&bed).await.1;

        infra.endpoints("fallback", &[&other]).await;
        bed.until_name("nobody.test", "/", "other").await;
        infra.tls_secret("default", &ecdsa("renewed", &["default.test"])).await;
        bed.until_certificate("nobody.test", "renewed").await;
        infra.config_map("settings", json!({"ssl-redirect": "true"})).await;
        bed.until_status("flags.test", "/", 302).await;
        infra.config_map("settings", json!({"ssl-redirect": "perhaps"})).await;
        bed.until_logged(&["value-invalid", "infra/settings", "ssl-redirect"]).await;
        infra.config_map("settings", json!({"ssl-redirect": "false"})).await;
        bed.until_name("flags.test", "/", "one").await;
        assert_eq!(processes(&bed).await.1, worker, "no reload\n{}", bed.log_tail());
        bed.check_after_test().await;
    });
}
