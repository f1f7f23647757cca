//! Redirects, backends of one's own, classes: what an Ingress says about itself and no other.

use super::{canary, echoes, weight};
use crate::support::manifests::{endpoints, ingress, ingress_with, service};
use crate::support::{Branch, Echo, client, until};

on_every_branch!(
    redirects_have_the_code_and_port_that_is_asked_for,
    ["--configmap=default/settings"],
    |bed| async move {
        let _echoes = echoes(&bed, &["app", "canary"]).await;
        let redirect = |name: &str, annotations: &str| {
            let annotations = format!("haproxy.org/ssl-redirect: \"true\"\n{annotations}");
            let host = format!("{name}.test");
            ingress_with(
                name,
                "2024-01-01T00:00:00Z",
                annotations.trim_end(),
                &[(&host, "Prefix", "/", "app")],
                "",
            )
        };
        let location = async |host: &str| {
            let answer = bed.get(&format!("{host}.test:8080"), "/a?b=c").await;
            (answer.status, answer.header("location").unwrap_or_default().to_owned())
        };
        let until_location = async |host: &str, status: u16, expected: &str| {
            until(&format!("{status} {expected}"), || async {
                let found = location(host).await;
                if found == (status, expected.to_owned()) { Ok(()) } else { Err(format!("{found:?}")) }
            })
            .await;
        };
        bed.put("plain.yaml", &redirect("plain", ""));
        bed.put(
            "codes.yaml",
            &[301, 302, 303, 307, 308]
                .map(|code| {
                    redirect(&format!("r{code}"), &format!("haproxy.org/ssl-redirect-code: \"{code}\""))
                })
                .concat(),
        );
        until_location("plain", 302, "https://plain.test/a?b=c").await;
        for code in [301, 302, 303, 307, 308] {
            let host = format!("r{code}");
            until_location(&host, code, &format!("https://{host}.test/a?b=c")).await;
        }
        // The first port is a reload, further ones are not.
        bed.put(
            "port.yaml",
            &redirect(
                "port",
                "haproxy.org/ssl-redirect-port: \"9443\"\nhaproxy.org/ssl-redirect-code: \"308\"",
            ),
        );
        until_location("port", 308, "https://port.test:9443/a?b=c").await;
        bed.until_settled().await;
        let worker = bed.worker().await;
        bed.put("port.yaml", &redirect("port", "haproxy.org/ssl-redirect-port: \"9444\""));
        until_location("port", 302, "https://port.test:9444/a?b=c").await;
        assert_eq!(location("plain").await, (302, "https://plain.test/a?b=c".to_owned()));
        assert_eq!(bed.get("port.test", "/.well-known/acme-challenge/x").await.name(), "app");
        assert_eq!(bed.get_tls("port.test", "/").await.0.name(), "app");
        // A canary leaves the redirect as it is.
        bed.put("canary.yaml", &canary(&weight(100), "port.test"));
        bed.until_tls_name("port.test", "/", "canary").await;
        until_location("port", 302, "https://port.test:9444/a?b=c").await;
        bed.remove("canary.yaml");
        bed.until_tls_name("port.test", "/", "app").await;
        // For all of them in the ConfigMap; a bad value has no effect.
        bed.put("settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: default\ndata:\n  ssl-redirect-code: \"301\"\n  ssl-redirect-port: \"443x\"\n");
        until_location("plain", 301, "https://plain.test/a?b=c").await;
        bed.until_logged(&["value-invalid", "ssl-redirect-port", "443x"]).await;
        assert_eq!(location("r308").await.0, 308);
        let _ = worker;
        bed.proves(&["ssl-redirect-code", "ssl-redirect-port"]);
    }
);

on_every_branch!(an_ingress_can_have_backends_of_its_own, |bed| async move {
    let _echoes = echoes(&bed, &["app"]).await;
    let rule = |host| [(host, "Prefix", "/", "app")];
    let alone = |name: &str, host| {
        ingress_with(
            name,
            "2024-01-01T00:00:00Z",
            "haproxy.org/standalone-backend: \"true\"",
            &rule(host),
            "",
        )
    };
    bed.put(
        "shared.yaml",
        &(ingress("shared", &rule("shared.test")) + &ingress("other", &rule("other.test"))),
    );
    bed.put("alone.yaml", &(alone("one", "one.test") + &alone("two", "two.test")));
    for host in ["shared.test", "other.test", "one.test", "two.test"] {
        bed.until_name(host, "/", "app").await;
    }
    bed.until_settled().await;
    // Each backend counts its own requests: three of them have answered.
    let backends = async || {
        let stats = client::get(bed.address(bed.ports.stats), "x", "/;csv").await.unwrap().body;
        let rows = stats.lines().filter(|line| line.split(',').nth(1) == Some("BACKEND"));
        let used = rows.filter(|line| line.split(',').nth(7).is_some_and(|sessions| sessions != "0"));
        used.filter(|line| !line.starts_with("fixed_") && !line.starts_with("stats,")).count()
    };
    assert_eq!(backends().await, 3);
    bed.put("services.yaml", "");
    bed.until_status("one.test", "/", 503).await;
    bed.until_status("two.test", "/", 503).await;
    bed.proves(&["standalone-backend"]);
});

on_every_branch!(a_class_in_an_annotation_counts, ["--ingress.class=ours"], |bed| async move {
    let _echoes = echoes(&bed, &["app"]).await;
    let of_class = |name: &str, key: &str, class: &str| {
        let host = format!("{name}.test");
        ingress_with(
            name,
            "2024-01-01T00:00:00Z",
            &format!("{key}: {class}"),
            &[(&host, "Prefix", "/", "app")],
            "",
        )
    };
    let text = of_class("theirs", "haproxy.org/ingress.class", "theirs")
        + &of_class("old", "kubernetes.io/ingress.class", "ours")
        + &of_class("ours", "haproxy.org/ingress.class", "ours");
    bed.put("all.yaml", &text);
    bed.until_name("ours.test", "/", "app").await;
    bed.until_name("old.test", "/", "app").await;
    assert_eq!(bed.get("theirs.test", "/").await.status, 404);
    bed.put(
        "all.yaml",
        &text.replace("haproxy.org/ingress.class: ours", "haproxy.org/ingress.class: theirs"),
    );
    bed.until_status("ours.test", "/", 404).await;
    bed.proves(&["ingress.class"]);
});

on_every_branch!(two_ingresses_on_one_service_do_not_disturb_each_other, |bed| async move {
    let echoes = echoes(&bed, &["app"]).await;
    let with = |name: &str, annotations: &str| {
        let host = format!("{name}.test");
        ingress_with(name, "2024-01-01T00:00:00Z", annotations, &[(&host, "Prefix", "/", "app")], "")
    };
    bed.put("plain.yaml", &with("plain", ""));
    bed.put("alone.yaml", &with("alone", "haproxy.org/standalone-backend: \"true\""));
    bed.put(
        "redirect.yaml",
        &with("redirect", "haproxy.org/ssl-redirect: \"true\"\nhaproxy.org/ssl-redirect-code: \"307\""),
    );
    bed.until_name("plain.test", "/", "app").await;
    bed.until_name("alone.test", "/", "app").await;
    bed.until_status("redirect.test", "/", 307).await;
    // A change of one, whatever backend it has, leaves the others alone, and new endpoints reach all of them.
    bed.put("redirect.yaml", &with("redirect", "haproxy.org/standalone-backend: \"true\""));
    bed.until_name("redirect.test", "/", "app").await;
    let late = Echo::start("late").await;
    bed.put("services.yaml", &(service("app") + &endpoints("app", &[late.address])));
    for host in ["plain.test", "alone.test", "redirect.test"] {
        bed.until_name(host, "/", "late").await;
    }
    bed.remove("alone.yaml");
    bed.until_status("alone.test", "/", 404).await;
    assert_eq!(bed.get("plain.test", "/").await.name(), "late");
    assert_eq!(bed.get("redirect.test", "/").await.name(), "late");
    drop(echoes);
});
