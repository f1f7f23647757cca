//! Certificates by server name, and the way from clear text to TLS.

use crate::support::certificates::{ecdsa, rsa};
use crate::support::client::{Hello, connect_tls, get};
use crate::support::manifests::{endpoints, ingress_with, service, tls_secret};
use crate::support::{Branch, Echo};

/// `spec.tls` lines.
fn tls(hosts: &[&str], secret: &str) -> String {
    let hosts: Vec<String> = hosts.iter().map(|h| format!("\"{h}\"")).collect();
    format!("  tls:\n  - hosts: [{}]\n    secretName: {secret}\n", hosts.join(", "))
}

on_every_branch!(certificates_are_chosen_by_server_name_and_change_without_a_reload, |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
    let pair = ecdsa("first", &["foo.bar"]);
    bed.put("secret.yaml", &tls_secret("foo", &pair.certificate, &pair.key));
    let rules = [("foo.bar", "Prefix", "/", "app")];
    bed.put("a.yaml", &ingress_with("a", "2024-01-01T00:00:00Z", "", &rules, &tls(&["foo.bar"], "foo")));
    bed.until_certificate("foo.bar", "first").await;
    let answer = bed.until_tls_name("foo.bar", "/x", "echo").await;
    assert!(answer.body.contains("x-forwarded-proto: https"), "{}", answer.body);
    // Unknown and absent server names get the self-signed default.
    let default = bed.until_certificate("other.test", "Outrigger self-signed certificate").await;
    assert_eq!(default.key, "ecdsa");
    let (_, no_name) = connect_tls(bed.https(), None, &Hello::default()).await.unwrap();
    assert_eq!(no_name.common_name, "Outrigger self-signed certificate");
    bed.until_logged(&["self-signed"]).await;
    let worker = bed.worker().await;

    // Renewed.
    let pair = ecdsa("second", &["foo.bar"]);
    bed.put("secret.yaml", &tls_secret("foo", &pair.certificate, &pair.key));
    bed.until_certificate("foo.bar", "second").await;
    // A new host with a certificate of its own.
    let pair = ecdsa("new", &["new.test"]);
    bed.put("new-secret.yaml", &tls_secret("new", &pair.certificate, &pair.key));
    let rules = [("new.test", "Prefix", "/", "app")];
    bed.put("new.yaml", &ingress_with("new", "2024-01-01T00:00:00Z", "", &rules, &tls(&["new.test"], "new")));
    bed.until_certificate("new.test", "new").await;
    bed.until_tls_name("new.test", "/", "echo").await;
    // Removed: the default certificate again.
    bed.remove("new.yaml");
    bed.until_certificate("new.test", "Outrigger self-signed certificate").await;
    bed.until_certificate("foo.bar", "second").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
});

on_every_branch!(a_certificate_serves_only_the_hosts_of_its_ingress, |bed| async move {
    let wild = ecdsa("wild", &["*.team.test", "other.test"]);
    bed.put("secret.yaml", &tls_secret("wild", &wild.certificate, &wild.key));
    bed.put("app.yaml", &service("app"));
    let rules = [("a.team.test", "Prefix", "/", "app")];
    bed.put("a.yaml", &ingress_with("a", "2024-01-01T00:00:00Z", "", &rules, &tls(&["a.team.test"], "wild")));
    bed.until_certificate("a.team.test", "wild").await;
    // The certificate would fit these names, but no tls entry of the object names them.
    bed.until_certificate("b.team.test", "Outrigger self-signed certificate").await;
    bed.until_certificate("other.test", "Outrigger self-signed certificate").await;
    // A wildcard entry takes all, but an exact name of another object wins.
    bed.put("a.yaml", &ingress_with("a", "2024-01-01T00:00:00Z", "", &rules, &tls(&["*.team.test"], "wild")));
    bed.until_certificate("b.team.test", "wild").await;
    let own = ecdsa("own", &["b.team.test"]);
    bed.put("own-secret.yaml", &tls_secret("own", &own.certificate, &own.key));
    let rules = [("b.team.test", "Prefix", "/", "app")];
    bed.put("b.yaml", &ingress_with("b", "2024-02-01T00:00:00Z", "", &rules, &tls(&["b.team.test"], "own")));
    bed.until_certificate("b.team.test", "own").await;
    bed.until_certificate("c.team.test", "wild").await;
});

on_every_branch!(a_host_may_have_an_rsa_and_an_ecdsa_certificate, |bed| async move {
    let (one, two) = (rsa("rsa-one", &["foo.bar"]), ecdsa("ecdsa-one", &["foo.bar"]));
    bed.put(
        "secrets.yaml",
        &(tls_secret("r", &one.certificate, &one.key) + &tls_secret("e", &two.certificate, &two.key)),
    );
    bed.put("app.yaml", &service("app"));
    let spec = "  tls:\n  - hosts: [foo.bar]\n    secretName: r\n  - hosts: [foo.bar]\n    secretName: e\n";
    bed.put(
        "a.yaml",
        &ingress_with("a", "2024-01-01T00:00:00Z", "", &[("foo.bar", "Prefix", "/", "app")], spec),
    );
    assert_eq!(bed.until_certificate("foo.bar", "ecdsa-one").await.key, "ecdsa");
    crate::support::until("the RSA certificate", || async {
        let hello = Hello { rsa_only: true, ..Hello::default() };
        let (_, handshake) = connect_tls(bed.https(), Some("foo.bar"), &hello).await?;
        if handshake.common_name == "rsa-one" { Ok(()) } else { Err(format!("{handshake:?}")) }
    })
    .await;
});

on_every_branch!(http2_is_negotiated_by_alpn, |bed| async move {
    for (offered, expected) in [(vec!["h2", "http/1.1"], "h2"), (vec!["http/1.1"], "http/1.1")] {
        let hello = Hello { alpn: offered, ..Hello::default() };
        let (_, handshake) = connect_tls(bed.https(), Some("x.test"), &hello).await.unwrap();
        assert_eq!(handshake.alpn.as_deref(), Some(expected));
    }
});

on_every_branch!(a_bad_secret_costs_only_its_own_hosts, |bed| async move {
    let echo = Echo::start("echo").await;
    let (good, other) = (ecdsa("good", &["good.test"]), ecdsa("other", &["bad.test"]));
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
    bed.put(
        "good.yaml",
        &(tls_secret("good", &good.certificate, &good.key)
            + &ingress_with(
                "good",
                "2024-01-01T00:00:00Z",
                "",
                &[("good.test", "Prefix", "/", "app")],
                &tls(&["good.test"], "good"),
            )),
    );
    // The key is another certificate's.
    bed.put("bad-secret.yaml", &tls_secret("bad", &other.certificate, &good.key));
    bed.put(
        "bad.yaml",
        &ingress_with(
            "bad",
            "2024-01-01T00:00:00Z",
            "",
            &[("bad.test", "Prefix", "/", "app")],
            &tls(&["bad.test"], "bad"),
        ),
    );
    bed.put(
        "none.yaml",
        &ingress_with(
            "none",
            "2024-01-01T00:00:00Z",
            "",
            &[("none.test", "Prefix", "/", "app")],
            &tls(&["none.test"], "none"),
        ),
    );
    bed.until_certificate("good.test", "good").await;
    bed.until_certificate("bad.test", "Outrigger self-signed certificate").await;
    bed.until_tls_name("bad.test", "/", "echo").await;
    bed.until_tls_name("none.test", "/", "echo").await;
    bed.until_logged(&["certificate-invalid", "default/bad"]).await;
    bed.until_logged(&["secret-not-found", "default/none"]).await;
    assert!(!bed.log().contains("PRIVATE KEY"), "a key was printed");
    // Mended.
    bed.put("bad-secret.yaml", &tls_secret("bad", &other.certificate, &other.key));
    bed.until_certificate("bad.test", "other").await;
});

on_every_branch!(clear_text_is_redirected_to_https_without_a_port, |bed| async move {
    let echo = Echo::start("echo").await;
    let pair = ecdsa("foo", &["foo.bar"]);
    bed.put(
        "app.yaml",
        &(service("app")
            + &endpoints("app", &[echo.address])
            + &tls_secret("foo", &pair.certificate, &pair.key)),
    );
    let rules = [("foo.bar", "Prefix", "/", "app"), ("plain.test", "Prefix", "/", "app")];
    bed.put("a.yaml", &ingress_with("a", "2024-01-01T00:00:00Z", "", &rules, &tls(&["foo.bar"], "foo")));
    let answer = bed.until_status("foo.bar", "/a/b?c=d", 302).await;
    assert_eq!(answer.header("location"), Some("https://foo.bar/a/b?c=d"));
    let answer = get(bed.http(), &format!("foo.bar:{}", bed.ports.http), "/x").await.unwrap();
    assert_eq!(answer.header("location"), Some("https://foo.bar/x"), "no port of ours leaks");
    assert_eq!(bed.get("foo.bar", "/.well-known/acme-challenge/token").await.name(), "echo");
    assert_eq!(bed.get("plain.test", "/").await.name(), "echo", "a host without TLS is not redirected");
    let worker = bed.worker().await;
    bed.put(
        "a.yaml",
        &ingress_with(
            "a",
            "2024-01-01T00:00:00Z",
            "haproxy.org/ssl-redirect: \"OFF\"",
            &rules,
            &tls(&["foo.bar"], "foo"),
        ),
    );
    bed.until_name("foo.bar", "/", "echo").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    bed.proves(&["ssl-redirect"]);
});

on_every_branch!(
    the_default_certificate_may_come_from_a_secret,
    ["--default-ssl-certificate=default/fallback"],
    |bed| async move {
        bed.until_certificate("x.test", "Outrigger self-signed certificate").await;
        bed.until_logged(&["secret-not-found", "default/fallback"]).await;
        // Its own names must not take hosts from tenants.
        let (fallback, tenant) = (ecdsa("fallback", &["foo.bar", "x.test"]), ecdsa("tenant", &["foo.bar"]));
        bed.put("fallback.yaml", &tls_secret("fallback", &fallback.certificate, &fallback.key));
        bed.until_certificate("x.test", "fallback").await;
        bed.put(
            "tenant.yaml",
            &(tls_secret("tenant", &tenant.certificate, &tenant.key)
                + &service("app")
                + &ingress_with(
                    "a",
                    "2024-01-01T00:00:00Z",
                    "",
                    &[("foo.bar", "Prefix", "/", "app")],
                    &tls(&["foo.bar"], "tenant"),
                )),
        );
        bed.until_certificate("foo.bar", "tenant").await;
        bed.until_certificate("x.test", "fallback").await;
    }
);
