//! `ssl-passthrough`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{app, plain_site, site};
use crate::support::certificates::ecdsa;
use crate::support::client::{Hello, connect_tls, get_tls, get_tls_as};
use crate::support::manifests::{endpoints, ingress_with, service};
use crate::support::tls_echo::TlsEcho;
use crate::support::{Bed, Branch, Echo, until};

const PASS: &str = "haproxy.org/ssl-passthrough: \"true\"";

/// An Ingress for the root of a host that leads to the Service `pod`.
fn passed(name: &str, host: &str, annotations: &str) -> String {
    ingress_with(name, "2024-01-01T00:00:00Z", annotations, &[(host, "Prefix", "/", "pod")], "")
}

on_every_branch!(
    tls_is_passed_through_beside_hosts_that_terminate_it,
    ["--configmap=default/settings"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        let pod = TlsEcho::start("pod", &ecdsa("of the pod", &["pass.test"])).await;
        bed.put("app.yaml", &(app(echo.address) + &service("pod") + &endpoints("pod", &[pod.address])));
        bed.put("open.yaml", &site("open", "open.test", ""));
        bed.until_tls_name("open.test", "/", "echo").await;
        // Requests go on while the port goes over to another frontend and back.
        let (stop, failed, done) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let load = {
            let (stop, failed, done, address) = (stop.clone(), failed.clone(), done.clone(), bed.https());
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    match get_tls(address, "open.test", "/").await {
                        Ok((answer, _)) if answer.status == 200 => done.fetch_add(1, Ordering::SeqCst),
                        other => {
                            eprintln!("{other:?}");
                            failed.fetch_add(1, Ordering::SeqCst)
                        }
                    };
                }
            })
        };
        bed.put(
            "pass.yaml",
            &(passed("pass", "pass.test", PASS)
                + &passed("wild", "*.wild.test", PASS)
                + &passed("bare", "off.test", &format!("{PASS}\nhaproxy.org/ssl-redirect: \"false\""))),
        );
        bed.until_certificate("pass.test", "of the pod").await;
        let answer = bed.until_tls_name("pass.test", "/x", "pod").await;
        assert!(answer.body.contains("sni: pass.test\nGET /x "), "{}", answer.body);
        bed.until_tls_name("a.wild.test", "/", "pod").await;
        bed.until_certificate("open.test", "open.test").await;
        let answer = bed.until_tls_name("open.test", "/", "echo").await;
        assert!(answer.body.contains("x-forwarded-for: 127.0.0.1\n"), "{}", answer.body);
        let (_, no_name) = connect_tls(bed.https(), None, &Hello::default()).await.unwrap();
        assert_eq!(no_name.common_name, "Outrigger self-signed certificate");
        bed.until_certificate("wild.test", "Outrigger self-signed certificate").await;
        bed.until_certificate("a.b.wild.test", "Outrigger self-signed certificate").await;
        // Clear text.
        assert_eq!(bed.get("pass.test", "/y").await.header("location"), Some("https://pass.test/y"));
        assert_eq!(bed.get("off.test", "/").await.status, 404);
        let asked = get_tls_as(bed.https(), ("open.test", "pass.test"), "/", "", &Hello::default()).await;
        assert_eq!(asked.unwrap().0.status, 404, "a connection to another host");
        // One more host for the same pods, live.
        let worker = bed.worker().await;
        bed.put("more.yaml", &passed("more", "more.test", PASS));
        bed.until_certificate("more.test", "of the pod").await;
        bed.remove("more.yaml");
        bed.until_certificate("more.test", "Outrigger self-signed certificate").await;
        assert_eq!(bed.worker().await, worker, "no reload was needed");
        stop.store(true, Ordering::SeqCst);
        load.await.unwrap();
        assert!(done.load(Ordering::SeqCst) > 0);
        assert_eq!(failed.load(Ordering::SeqCst), 0, "requests were lost");
        // None any more. The old worker has no listener left for a connection whose name it is just reading: that one is closed,
        // as the documentation of the key says.
        bed.remove("pass.yaml");
        bed.until_certificate("pass.test", "Outrigger self-signed certificate").await;
        bed.until_settled().await;
        bed.until_tls_name("open.test", "/", "echo").await;
        bed.proves(&["ssl-passthrough"]);
    }
);

on_every_branch!(who_passes_tls_through, ["--configmap=default/settings"], |bed| async move {
    let echo = Echo::start("echo").await;
    let pod = TlsEcho::start("pod", &ecdsa("of the pod", &["pass.test"])).await;
    let annotated = service("pod")
        .replace("  namespace: default\n", &format!("  namespace: default\n  annotations:\n    {PASS}\n"));
    let path = |name: &str, created: &str, host: &str, path: &str, service: &str, annotations: &str| {
        ingress_with(name, created, annotations, &[(host, "Prefix", path, service)], "")
    };
    let (old, new) = ("2023-01-01T00:00:00Z", "2024-01-01T00:00:00Z");
    bed.put(
        "app.yaml",
        &(app(echo.address)
            + &annotated
            + &endpoints("pod", &[pod.address])
            // The Service says so.
            + &passed("service", "service.test", "")
            + &passed("not", "not.test", "haproxy.org/ssl-passthrough: \"false\"")
            + &path("sub", old, "sub.test", "/sub", "app", PASS)
            + &path("nohost", old, "", "/", "app", PASS)
            + &path("first", old, "both.test", "/api", "app", "")
            + &path("second", new, "both.test", "/", "pod", "")
            + &path("third", old, "won.test", "/", "pod", "")
            + &path("fourth", new, "won.test", "/api", "app", "")),
    );
    bed.until_certificate("service.test", "of the pod").await;
    bed.until_certificate("won.test", "of the pod").await;
    bed.until_certificate("both.test", "Outrigger self-signed certificate").await;
    bed.until_tls_name("both.test", "/api", "echo").await;
    bed.until_tls_name("sub.test", "/sub", "echo").await;
    bed.until_logged(&["key-ineffective", "Ingress default/sub"]).await;
    bed.until_logged(&["key-ineffective", "Ingress default/nohost"]).await;
    bed.until_logged(&["passthrough-conflict", "Ingress default/second", "Ingress `default/first`"]).await;
    bed.until_logged(&["passthrough-conflict", "Ingress default/fourth", "Ingress `default/third`"]).await;
    // The ConfigMap says so for all hosts.
    bed.put(
        "all.yaml",
        &(crate::support::authority::settings(&[("ssl-passthrough", "true")])
            + &service("all")
            + &endpoints("all", &[pod.address])
            + &ingress_with("all", new, "", &[("all.test", "Prefix", "/", "all")], "")),
    );
    bed.until_certificate("all.test", "of the pod").await;
    until("the Service to be asked", || async {
        let (_, handshake) = connect_tls(bed.https(), Some("not.test"), &Hello::default()).await?;
        if handshake.common_name == "of the pod" { Ok(()) } else { Err(handshake.common_name) }
    })
    .await;
    bed.put("plain.yaml", &plain_site("plain", "plain.test", "haproxy.org/ssl-passthrough: \"false\"", ""));
    bed.until_tls_name("plain.test", "/", "echo").await;
    bed.proves(&["ssl-passthrough"]);
});

/// The name in the certificate that a client from this address is shown, or why there is none.
async fn shown(bed: &Bed, name: &str, from: u8) -> Result<String, String> {
    let hello = Hello { source: Some([127, 0, 0, from].into()), ..Hello::default() };
    connect_tls(bed.https(), Some(name), &hello).await.map(|(_, handshake)| handshake.common_name)
}

/// Waits until connections of this source are closed without any certificate.
async fn until_closed(bed: &Bed, name: &str, from: u8) {
    until(&format!("{name} to be closed"), || async {
        match shown(bed, name, from).await {
            Err(reason) if reason.starts_with("handshake") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
}

on_every_branch!(
    who_may_counts_where_tls_is_passed_through,
    ["--configmap=default/settings"],
    |bed| async move {
        let pod = TlsEcho::start("pod", &ecdsa("of the pod", &["pass.test"])).await;
        let speaks_tls = service("pod").replace("name: http\n", "name: http\n    appProtocol: https\n");
        assert!(speaks_tls.contains("appProtocol"), "{speaks_tls}");
        let with = |name: &str, keys: &str| passed(name, &format!("{name}.test"), &format!("{PASS}\n{keys}"));
        bed.put("app.yaml", &(speaks_tls + &endpoints("pod", &[pod.address])));
        bed.put(
            "ca.yaml",
            &crate::support::authority::settings(&[("log-format-tcp", "passed-through %ci %b")]),
        );
        bed.put("allow.yaml", &with("allow", "haproxy.org/allow-list: 127.0.0.2"));
        bed.put(
            "more.yaml",
            &(with("wrapped", "haproxy.org/server-ssl: \"true\"\nhaproxy.org/cookie-persistence: x")
                + &with("asked", "haproxy.org/auth-url: http://pod.default.svc/")
                + &with("password", "haproxy.org/auth-type: basic-auth\nhaproxy.org/auth-secret: users")
                + &with("shown", "haproxy.org/client-ca: nobody")
                + &with("nonsense", "haproxy.org/allow-list: nonsense")),
        );
        until("the allowed source", || async {
            let name = shown(&bed, "allow.test", 2).await?;
            if name == "of the pod" { Ok(()) } else { Err(name) }
        })
        .await;
        until_closed(&bed, "allow.test", 1).await;
        // `appProtocol` and keys do not wrap the bytes a second time.
        bed.until_certificate("wrapped.test", "of the pod").await;
        bed.until_tls_name("wrapped.test", "/", "pod").await;
        for name in ["asked", "password", "shown", "nonsense"] {
            until_closed(&bed, &format!("{name}.test"), 1).await;
            bed.until_logged(&["access-closed", &format!("default/{name}"), "closed"]).await;
        }
        bed.until_logged(&["key-ineffective", "default/wrapped", "server-ssl"]).await;
        // Log lines are those of TCP.
        bed.until_logged(&["passed-through 127.0.0.2 default_pod_80"]).await;
        // The other way round, live.
        let worker = bed.worker().await;
        bed.put("allow.yaml", &with("allow", "haproxy.org/allow-list: 127.0.0.1"));
        bed.until_certificate("allow.test", "of the pod").await;
        until_closed(&bed, "allow.test", 2).await;
        assert_eq!(bed.worker().await, worker, "no reload was needed");
        bed.proves(&["ssl-passthrough", "allow-list", "log-format-tcp"]);
    }
);
