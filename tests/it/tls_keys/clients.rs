//! Certificates of clients, on all hosts and per host.

use std::sync::Arc;

use super::{app, plain_site, site};
use crate::support::authority::{Authority, secret, settings};
use crate::support::certificates::Pair;
use crate::support::client::{Answer, Hello, get_tls_as};
use crate::support::{Bed, Branch, Echo, until};

/// Header lines that a client sends to look like another.
const FORGED: &str = "X-SSL-Client-CN: mallory\r\nX-SSL-Client-Verify: 0\r\n";

fn showing(pair: &Pair) -> Hello {
    Hello { client: Some((pair.certificate.clone(), pair.key.clone())), ..Hello::default() }
}

/// What a request for this server name and Host header gets.
async fn ask(bed: &Bed, names: (&str, &str), hello: &Hello) -> Result<Answer, String> {
    get_tls_as(bed.https(), names, "/", FORGED, hello).await.map(|(answer, _)| answer)
}

/// Waits until the status is this; `None`: the handshake is refused.
async fn until_asked(bed: &Arc<Bed>, host: &str, hello: &Hello, status: Option<u16>) -> Option<Answer> {
    until(&format!("{status:?} for {host}"), || async {
        match (ask(bed, (host, host), hello).await, status) {
            (Ok(answer), Some(status)) if answer.status == status => Ok(Some(answer)),
            (Err(_), None) => Ok(None),
            (other, _) => Err(format!("{other:?}")),
        }
    })
    .await
}

on_every_branch!(
    clients_of_all_hosts_show_certificates,
    ["--configmap=default/settings"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
        let (alice, bob, eve) = (ours.client("alice", 7), ours.client("bob", 8), theirs.client("eve", 7));
        bed.put("app.yaml", &(app(echo.address) + &plain_site("a", "a.test", "", "")));
        bed.put("ca.yaml", &secret("ca", &[("tls.crt", &ours.pair().certificate)]));
        bed.put("settings.yaml", &settings(&[("client-ca", "default/ca")]));
        until_asked(&bed, "a.test", &Hello::default(), None).await;
        let answer = until_asked(&bed, "a.test", &showing(&alice), Some(200)).await.unwrap();
        assert!(
            answer.body.contains("x-ssl-client-cn: alice\n") && !answer.body.contains("mallory"),
            "{}",
            answer.body
        );
        assert!(answer.body.contains("x-ssl-client-verify: 0\n"), "{}", answer.body);
        until_asked(&bed, "a.test", &showing(&eve), None).await;
        assert_eq!(bed.get("a.test", "/").await.name(), "echo", "clear text is not covered");
        // A host with an authority of its own says nothing about the others.
        bed.put(
            "own.yaml",
            &(secret("theirs", &[("ca.crt", &theirs.pair().certificate)])
                + &site("own", "own.test", "haproxy.org/client-ca: theirs")),
        );
        until_asked(&bed, "own.test", &showing(&eve), Some(200)).await;
        // Right after a reload 2.2 may still answer with the old worker.
        for (names, hello) in
            [(("own.test", "a.test"), showing(&eve)), (("a.test", "own.test"), showing(&alice))]
        {
            until("421", || async {
                match ask(&bed, names, &hello).await?.status {
                    421 => Ok(()),
                    status => Err(status.to_string()),
                }
            })
            .await;
        }
        bed.remove("own.yaml");
        // To whom HAProxy shows a generated certificate it does not ask properly: nobody gets in without.
        let signer = Authority::new("development").pair();
        bed.put(
            "signer.yaml",
            &secret("signer", &[("tls.crt", &signer.certificate), ("tls.key", &signer.key)]),
        );
        bed.put(
            "settings.yaml",
            &settings(&[("client-ca", "ca"), ("generate-certificates-signer", "signer")]),
        );
        bed.until_logged(&["reloading haproxy", "frontend https"]).await;
        bed.until_settled().await;
        match ask(&bed, ("a.test", "a.test"), &Hello::default()).await {
            Err(_) => {}
            Ok(answer) => assert_eq!(answer.status, 403),
        }
        // Bob's was revoked.
        bed.put("crl.yaml", &secret("crl", &[("ca.crl", &ours.revoke(&[8]))]));
        bed.put("settings.yaml", &settings(&[("client-ca", "ca"), ("client-crl", "crl")]));
        until_asked(&bed, "a.test", &showing(&bob), None).await;
        until_asked(&bed, "a.test", &showing(&alice), Some(200)).await;
        // Optional: without is fine, a bad one is not.
        bed.put("settings.yaml", &settings(&[("client-ca", "default/ca"), ("client-crt-optional", "true")]));
        let answer = until_asked(&bed, "a.test", &Hello::default(), Some(200)).await.unwrap();
        assert!(!answer.body.contains("x-ssl-client"), "{}", answer.body);
        until_asked(&bed, "a.test", &showing(&eve), None).await;
        // Broken: nobody gets in over TLS.
        bed.put("ca.yaml", &secret("ca", &[("ca.crt", "nothing")]));
        bed.until_logged(&["authority-invalid", "default/ca"]).await;
        until_asked(&bed, "a.test", &showing(&alice), Some(503)).await;
        bed.put("settings.yaml", &settings(&[("client-ca", "Not A Name")]));
        bed.until_logged(&["value-invalid", "client-ca"]).await;
        until_asked(&bed, "a.test", &showing(&alice), Some(503)).await;
        bed.put("settings.yaml", &settings(&[]));
        until_asked(&bed, "a.test", &Hello::default(), Some(200)).await;
        bed.proves(&["client-ca", "client-crl", "client-crt-optional"]);
    }
);

on_every_branch!(clients_of_one_host_show_certificates, |bed| async move {
    let echo = Echo::start("echo").await;
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let (alice, bob, eve) = (ours.client("alice", 7), ours.client("bob", 8), theirs.client("eve", 7));
    let no_redirect = "haproxy.org/ssl-redirect: \"false\"";
    bed.put(
        "app.yaml",
        &(app(echo.address)
            + &secret("ours", &[("ca.crt", &ours.pair().certificate)])
            + &secret("theirs", &[("ca.crt", &theirs.pair().certificate)])
            + &secret("crl", &[("ca.crl", &ours.revoke(&[8]))])
            + &site("open", "open.test", "")
            + &site("theirs", "theirs.test", "haproxy.org/client-ca: theirs")
            + &site("maybe", "maybe.test", "haproxy.org/client-ca: ours\nhaproxy.org/client-crt-optional: \"true\"")
            // Another Ingress of the same host, and a host without a certificate of its own.
            + &plain_site("bare", "bare.test", "haproxy.org/client-ca: ours", "")
            + &crate::support::manifests::ingress("more", &[("mine.test", "Prefix", "/more", "app")])),
    );
    let guarded = format!("haproxy.org/client-ca: default/ours\nhaproxy.org/client-crl: crl\n{no_redirect}");
    bed.put("mine.yaml", &site("mine", "mine.test", &guarded));
    until_asked(&bed, "mine.test", &showing(&alice), Some(200)).await;
    let answer = ask(&bed, ("mine.test", "mine.test"), &showing(&alice)).await.unwrap();
    assert!(
        answer.body.contains("x-ssl-client-cn: alice\n") && !answer.body.contains("mallory"),
        "{}",
        answer.body
    );
    assert!(answer.body.contains("x-ssl-client-dn: /CN=alice\n"), "{}", answer.body);
    for hello in [Hello::default(), showing(&bob), showing(&eve)] {
        until_asked(&bed, "mine.test", &hello, None).await;
    }
    // The connection is for another host.
    for (name, hello) in [
        ("open.test", Hello::default()),
        ("theirs.test", showing(&eve)),
        ("maybe.test", showing(&alice)),
        ("x.test", Hello::default()),
    ] {
        for path in ["/", "/more"] {
            until(&format!("421 for {path} over {name}"), || async {
                match get_tls_as(bed.https(), (name, "mine.test"), path, "", &hello).await?.0.status {
                    421 => Ok(()),
                    status => Err(status.to_string()),
                }
            })
            .await;
        }
    }
    // Clear text, save ACME challenges.
    assert_eq!(bed.get("mine.test", "/").await.status, 403);
    assert_eq!(bed.get("mine.test", "/.well-known/acme-challenge/../../x").await.status, 403);
    assert_eq!(bed.get("mine.test", "/.well-known/acme-challenge/t0-k_n").await.name(), "echo");
    // Other hosts are as open as ever.
    until_asked(&bed, "open.test", &Hello::default(), Some(200)).await;
    until_asked(&bed, "theirs.test", &showing(&eve), Some(200)).await;
    until_asked(&bed, "theirs.test", &showing(&alice), None).await;
    let answer = ask(&bed, ("maybe.test", "maybe.test"), &Hello::default()).await.unwrap();
    assert_eq!((answer.name(), answer.body.contains("x-ssl-client")), ("echo", false));
    until_asked(&bed, "maybe.test", &showing(&alice), Some(200)).await;
    until_asked(&bed, "bare.test", &showing(&alice), Some(200)).await;
    until_asked(&bed, "bare.test", &Hello::default(), None).await;
    sessions_are_not_resumed_over_hosts(&bed, &eve);
    // A certificate is renewed live.
    let worker = bed.worker().await;
    let renewed = crate::support::certificates::ecdsa("renewed", &["mine.test"]);
    bed.put("mine.yaml", &site("mine", "mine.test", &guarded));
    bed.put(
        "renewed.yaml",
        &crate::support::manifests::tls_secret("mine-renewed", &renewed.certificate, &renewed.key),
    );
    until("the renewed certificate", || async {
        let hello = showing(&alice);
        let (_, handshake) = get_tls_as(bed.https(), ("mine.test", "mine.test"), "/", "", &hello).await?;
        if handshake.common_name == "mine.test" { Ok(()) } else { Err(handshake.common_name) }
    })
    .await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    // Open again.
    bed.put("mine.yaml", &site("mine", "mine.test", no_redirect));
    until_asked(&bed, "mine.test", &Hello::default(), Some(200)).await;
    bed.proves(&["client-ca", "client-crl", "client-crt-optional"]);
});

/// TLS 1.3 does not bind a session to its server name.
fn sessions_are_not_resumed_over_hosts(bed: &Bed, eve: &Pair) {
    let file = |name: &str, text: &str| {
        std::fs::write(bed.path(name), text).unwrap();
        bed.path(name).to_str().unwrap().to_owned()
    };
    let (certificate, key) = (file("eve.crt", &eve.certificate), file("eve.key", &eve.key));
    let session = bed.path("session").to_str().unwrap().to_owned();
    let connect = |name: &str, more: &[&str]| {
        let script = format!(
            "printf 'GET / HTTP/1.1\\r\\nHost: {name}\\r\\nConnection: close\\r\\n\\r\\n' | timeout 20 openssl s_client -quiet -connect {} -servername {name} {}",
            bed.https(),
            more.join(" ")
        );
        let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let own = connect("theirs.test", &["-cert", &certificate, "-key", &key, "-sess_out", &session]);
    assert!(own.contains("200 OK"), "{own}");
    let other = connect("mine.test", &["-sess_in", &session]);
    assert!(!other.contains("200 OK"), "{other}");
}

on_every_branch!(what_cannot_be_checked_is_closed, |bed| async move {
    let echo = Echo::start("echo").await;
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let alice = ours.client("alice", 7);
    let older = "2023-01-01T00:00:00Z";
    let second = |name: &str, host: &str, annotations: &str| {
        crate::support::manifests::ingress_with(
            name,
            older,
            annotations,
            &[(host, "Prefix", "/sub", "app")],
            "",
        )
    };
    bed.put(
        "app.yaml",
        &(app(echo.address)
            + &secret("ours", &[("ca.crt", &ours.pair().certificate)])
            + &secret("theirs", &[("ca.crt", &theirs.pair().certificate)])
            + &site("gone", "gone.test", "haproxy.org/client-ca: gone")
            + &site("other", "other.test", "haproxy.org/client-ca: kube-system/ours")
            + &site("bad", "bad.test", "haproxy.org/client-ca: \"Ours!\"")
            + &site("nolist", "nolist.test", "haproxy.org/client-ca: ours\nhaproxy.org/client-crl: ours")
            + &site("both", "both.test", "haproxy.org/client-ca: theirs")
            + &second("old", "both.test", "haproxy.org/client-ca: ours")
            + &plain_site("any", "", "haproxy.org/client-ca: ours", "")
            + &site("open", "open.test", "")),
    );
    bed.until_tls_name("open.test", "/", "echo").await;
    for host in ["gone.test", "other.test", "bad.test", "nolist.test", "any.test"] {
        until_asked(&bed, host, &showing(&alice), Some(503)).await;
    }
    assert_eq!(bed.get("any.test", "/").await.status, 503);
    bed.until_logged(&["secret-not-found", "default/gone", "Ingress default/gone"]).await;
    bed.until_logged(&["secret-forbidden", "kube-system/ours"]).await;
    bed.until_logged(&["value-invalid", "Ingress default/bad"]).await;
    bed.until_logged(&["authority-invalid", "it has no `ca.crl`"]).await;
    bed.until_logged(&["client-check-conflict", "Ingress default/both"]).await;
    bed.until_logged(&["key-ineffective", "Ingress default/any"]).await;
    // The older one counts for the whole host.
    until_asked(&bed, "both.test", &showing(&alice), Some(200)).await;
    until_asked(&bed, "both.test", &showing(&theirs.client("eve", 1)), None).await;
    // It comes.
    bed.put("gone.yaml", &secret("gone", &[("ca.crt", &ours.pair().certificate)]));
    until_asked(&bed, "gone.test", &showing(&alice), Some(200)).await;
    until_asked(&bed, "gone.test", &Hello::default(), None).await;
});
