//! Keys of the other controller that mean nothing here say so once, and disturb nothing.

use super::settings;
use crate::support::manifests::{application, ingress_with};
use crate::support::{Branch, Echo};

on_every_branch!(
    keys_that_are_not_supported_say_what_to_use,
    ["--configmap=default/settings"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        let keys = [
            ("cr-global", "global-config-snippet"),
            ("cr-defaults", "timeout-client"),
            ("cr-backend", "backend-config-snippet"),
            ("cr-frontend-http", "frontend-config-snippet"),
            ("cr-frontend-https", "frontend-config-snippet"),
            ("cr-frontend-stats", "stats-config-snippet"),
            ("quic-alt-svc-max-age", "HTTP/3"),
            ("clean-certs", "always removed"),
        ];
        let mut data: Vec<(&str, &str)> = keys.iter().map(|(key, _)| (*key, "no")).collect();
        data.push(("timeout-connect", "4s"));
        bed.put("settings.yaml", &settings(&data));
        let rules = [("other.test", "Prefix", "/", "app")];
        bed.put(
            "app.yaml",
            &(application("app", echo.address)
                + &ingress_with(
                    "other",
                    "2024-01-01T00:00:00Z",
                    "haproxy.org/cr-backend: default/b",
                    &rules,
                    "",
                )),
        );
        bed.until_name("app.test", "/", "echo").await;
        bed.until_name("other.test", "/", "echo").await;
        for (key, instead) in keys {
            bed.until_logged(&["value-invalid", "ConfigMap default/settings", &format!("`{key}`"), instead])
                .await;
        }
        bed.until_logged(&["value-invalid", "Ingress default/other", "cr-backend"]).await;
        bed.until_settled().await;
        let log = bed.log();
        for (key, _) in keys {
            let problem = format!("is not a value for `{key}`");
            assert_eq!(log.matches(&problem).count(), 1, "{key}");
        }
        let names: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
        bed.proves(&names);
    }
);
