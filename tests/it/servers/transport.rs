//! TLS, HTTP/2 and the PROXY protocol to pods.

use super::pods::{Authority, Kind, Pod};
use super::{app, config_map};
use crate::support::certificates::{Pair, ecdsa};
use crate::support::manifests::{endpoints, tls_secret};
use crate::support::{Branch, Echo, client, until};

/// A Secret with `ca.crt` only.
fn authority_secret(name: &str, authority: &Authority) -> String {
    let pair = Pair { certificate: authority.certificate.clone(), key: String::new() };
    let text = tls_secret(name, &pair.certificate, &pair.key);
    text.replace("tls.crt", "ca.crt").replace("  tls.key: |\n", "").replace("kubernetes.io/tls", "Opaque")
}

on_every_branch!(tls_to_pods_is_verified_and_mutual_as_keys_say, |bed| async move {
    let (trusted, other, clients) =
        (Authority::new("trusted"), Authority::new("other"), Authority::new("clients"));
    let alpn = &["h2", "http/1.1"][..];
    let plain = Pod::start("plain", Kind::tls(&ecdsa("self", &["pod"]), alpn, None)).await;
    let good = Pod::start("good", Kind::tls(&trusted.sign("pod", &["pod"]), alpn, None)).await;
    let bad = Pod::start("bad", Kind::tls(&other.sign("pod", &["pod"]), alpn, None)).await;
    let mutual = Pod::start("mutual", Kind::tls(&trusted.sign("pod", &["pod"]), alpn, Some(&clients))).await;
    let client = clients.sign("ingress", &[]);
    bed.put(
        "secrets.yaml",
        &(authority_secret("ca", &trusted) + &tls_secret("client", &client.certificate, &client.key)),
    );
    bed.put("plain.yaml", &app("plain", "haproxy.org/server-ssl: \"true\"", &[plain.address]));
    bed.put("good.yaml", &app("good", "haproxy.org/server-ca: default/ca", &[good.address]));
    bed.put("bad.yaml", &app("bad", "haproxy.org/server-ca: ca", &[bad.address]));
    let both = "haproxy.org/server-ca: ca\nhaproxy.org/server-crt: client";
    bed.put("mutual.yaml", &app("mutual", both, &[mutual.address]));
    bed.put("alone.yaml", &app("alone", "haproxy.org/server-ca: ca", &[mutual.address]));
    bed.put(
        "h1.yaml",
        &app("h1", "haproxy.org/server-ssl: \"true\"\nhaproxy.org/server-proto: h1", &[plain.address]),
    );

    let answer = bed.until_name("plain.test", "/", "plain").await;
    let version = if bed.branch == Branch(2, 2) { "HTTP/1.1" } else { "HTTP/2.0" };
    assert!(answer.body.contains(version), "{}", answer.body);
    assert!(answer.body.contains("tls: no name"), "{}", answer.body);
    assert!(bed.until_name("h1.test", "/", "plain").await.body.contains("HTTP/1.1"));
    bed.until_name("good.test", "/", "good").await;
    let answer = bed.until_name("mutual.test", "/", "mutual").await;
    assert!(answer.body.contains("client: ingress"), "{}", answer.body);
    // The wrong authority, and no certificate where one is demanded.
    bed.until_status("bad.test", "/", 503).await;
    // 2.2 closes the connection without an answer when the pod does so in the middle of a handshake of TLS 1.3.
    match client::get(bed.http(), "alone.test", "/").await {
        Ok(answer) => assert!([502, 503].contains(&answer.status), "{answer:?}"),
        Err(error) => assert!(bed.branch == Branch(2, 2), "{error}"),
    }

    // All pods go and come back: the files are in HAProxy's memory although no server names them.
    bed.until_settled().await;
    bed.put("ghost.yaml", &app("ghost", both, &[]));
    bed.until_status("ghost.test", "/", 503).await;
    let worker = bed.worker().await;
    bed.put("ghost.yaml", &app("ghost", both, &[mutual.address]));
    let answer = bed.until_name("ghost.test", "/", "mutual").await;
    assert!(answer.body.contains("client: ingress"), "{}", answer.body);
    bed.put("good.yaml", &app("good", "haproxy.org/server-ca: default/ca", &[]));
    bed.until_status("good.test", "/", 503).await;
    bed.put("good.yaml", &app("good", "haproxy.org/server-ca: default/ca", &[good.address]));
    bed.until_name("good.test", "/", "good").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");

    // A missing Secret fails closed until it is there; that of another namespace stays out of reach.
    bed.put("late.yaml", &app("late", "haproxy.org/server-ca: late-ca", &[good.address]));
    bed.until_status("late.test", "/", 503).await;
    bed.until_logged(&["secret-not-found", "default/late-ca", "server-ca"]).await;
    bed.put("late-secret.yaml", &authority_secret("late-ca", &trusted));
    bed.until_name("late.test", "/", "good").await;
    let foreign = authority_secret("foreign", &trusted).replace("namespace: default", "namespace: other");
    bed.put(
        "foreign.yaml",
        &(foreign + &app("foreign", "haproxy.org/server-ca: other/foreign", &[good.address])),
    );
    bed.until_logged(&["secret-forbidden", "other/foreign", "another namespace"]).await;
    bed.until_status("foreign.test", "/", 503).await;
    // A renewed authority counts.
    bed.put("secrets2.yaml", &authority_secret("late-ca", &other));
    bed.remove("late-secret.yaml");
    bed.until_status("late.test", "/", 503).await;
    assert!(!bed.log().contains("PRIVATE KEY"), "a key was printed");
    bed.proves(&["server-ssl", "server-ca", "server-crt"]);
});

on_every_branch!(http2_to_pods_by_key_and_by_app_protocol, |bed| async move {
    let h2c = Pod::start("h2c", Kind { h2: true, ..Kind::default() }).await;
    let plain = Pod::start("plain", Kind::default()).await;
    let pair = ecdsa("self", &["pod"]);
    let tls_any = Pod::start("any", Kind::tls(&pair, &["h2", "http/1.1"], None)).await;
    let tls_h2 = Pod::start("only-h2", Kind::tls(&pair, &["h2"], None)).await;
    let with = |name: &str, protocol: &str, pod: &Pod| {
        let port = format!("port: 80\n    appProtocol: {protocol}\n    targetPort");
        app(name, "", &[pod.address]).replace("port: 80\n    targetPort", &port)
    };
    let key = "haproxy.org/server-proto: h2";
    let all = [
        app("key", key, &[h2c.address]),
        app("both", &format!("{key}\nhaproxy.org/server-ssl: \"true\""), &[tls_h2.address]),
        with("p1", "kubernetes.io/h2c", &h2c),
        with("p2", "grpc", &h2c),
        with("p3", "https", &tls_any),
        with("p4", "grpcs", &tls_h2),
        with("p5", "kubernetes.io/wss", &tls_any),
        with("p6", "kubernetes.io/ws", &plain),
        with("p7", "http", &plain),
        with("p8", "example.org/custom", &plain),
    ];
    bed.put("all.yaml", &all.concat());
    let any = if bed.branch == Branch(2, 2) { "HTTP/1.1" } else { "HTTP/2.0" };
    for (host, name, version) in [
        ("key", "h2c", "HTTP/2.0"),
        ("both", "only-h2", "HTTP/2.0"),
        ("p1", "h2c", "HTTP/2.0"),
        ("p2", "h2c", "HTTP/2.0"),
        ("p3", "any", any),
        ("p4", "only-h2", "HTTP/2.0"),
        ("p5", "any", "HTTP/1.1"),
        ("p6", "plain", "HTTP/1.1"),
        ("p7", "plain", "HTTP/1.1"),
        ("p8", "plain", "HTTP/1.1"),
    ] {
        let answer = bed.until_name(&format!("{host}.test"), "/", name).await;
        assert!(answer.body.contains(version), "{host}: {}", answer.body);
    }
    // An annotation counts before what the port says.
    let port = "port: 80\n    appProtocol: https\n    targetPort";
    let text = app("p3", "haproxy.org/server-ssl: \"false\"", &[plain.address]);
    bed.put("p3.yaml", &text.replace("port: 80\n    targetPort", port));
    bed.put("all.yaml", &all[..4].concat());
    bed.until_name("p3.test", "/", "plain").await;
    bed.proves(&["server-proto"]);
});

on_every_branch!(
    what_the_configmap_says_of_pods_counts_for_all,
    ["--configmap=default/settings"],
    |bed| async move {
        let tls = Pod::start("tls", Kind::tls(&ecdsa("self", &["pod"]), &["http/1.1"], None)).await;
        let plain = Pod::start("plain", Kind::default()).await;
        bed.put("a.yaml", &app("a", "", &[tls.address]));
        bed.put("b.yaml", &app("b", "haproxy.org/server-ssl: \"false\"", &[plain.address]));
        bed.until_name("b.test", "/", "plain").await;
        bed.put("settings.yaml", &config_map("server-ssl: \"true\""));
        bed.until_name("a.test", "/", "tls").await;
        assert_eq!(bed.get("b.test", "/").await.name(), "plain");
        // A new Service has it, too.
        bed.put("c.yaml", &app("c", "", &[tls.address]));
        bed.until_name("c.test", "/", "tls").await;
        bed.remove("settings.yaml");
        bed.put("c.yaml", &app("c", "", &[plain.address]));
        bed.until_name("c.test", "/", "plain").await;
        bed.proves(&["server-ssl"]);
    }
);

on_every_branch!(the_proxy_protocol_in_five_forms, |bed| async move {
    let pod = Pod::start("pod", Kind { proxy: true, ..Kind::default() }).await;
    let forms = ["proxy", "proxy-v1", "proxy-v2", "proxy-v2-ssl", "proxy-v2-ssl-cn"];
    for form in forms {
        let annotation = format!("haproxy.org/send-proxy-protocol: {form}");
        bed.put(&format!("{form}.yaml"), &app(form, &annotation, &[pod.address]));
    }
    for form in forms {
        let host = format!("{form}.test");
        let answer = bed.until_name(&host, "/", "pod").await;
        let expected = if form.starts_with("proxy-v2") {
            "proxy: v2 family 0x11 from 127.0.0.1"
        } else {
            "proxy: v1 PROXY TCP4 127.0.0.1 "
        };
        assert!(answer.body.contains(expected), "{form}: {}", answer.body);
        let secure = bed.until_tls_name(&host, "/", "pod").await;
        // Flag 1: over TLS; 0x21: its version.
        assert_eq!(
            secure.body.contains(" ssl 0x1 0x21=TLSv1.3"),
            form.contains("ssl"),
            "{form}: {}",
            secure.body
        );
    }
    // Servers come and go live.
    let worker = bed.worker().await;
    let other = Pod::start("other", Kind { proxy: true, ..Kind::default() }).await;
    let annotation = "haproxy.org/send-proxy-protocol: proxy-v2";
    bed.put("proxy-v2.yaml", &(app("proxy-v2", annotation, &[]) + &endpoints("proxy-v2", &[other.address])));
    bed.until_name("proxy-v2.test", "/", "other").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    bed.proves(&["send-proxy-protocol"]);
});

// A server that still works on a request cannot be replaced while HAProxy runs, so a reload does it, and soon.
on_every_branch!(
    a_busy_server_gets_its_tls_by_a_reload,
    ["--configmap=default/settings"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("a.yaml", &app("a", "", &[echo.address]));
        // One that says what the ConfigMap will say for the other: then nothing but servers differs.
        bed.put("b.yaml", &app("b", "haproxy.org/server-ssl: \"false\"", &[echo.address]));
        bed.until_name("a.test", "/", "echo").await;
        bed.until_name("b.test", "/", "echo").await;
        bed.until_settled().await;
        let http = bed.http();
        let slow = tokio::spawn(async move { client::get(http, "a.test", "/wait").await });
        until("the slow request", || async { if echo.waiting() == 1 { Ok(()) } else { Err(String::new()) } })
            .await;
        let reloads = |log: &str| log.matches("haproxy successfully reloaded").count();
        let before = reloads(&bed.log());
        bed.put("settings.yaml", &config_map("server-ssl: \"true\""));
        until("the reload", || async {
            let log = bed.log();
            if reloads(&log) > before { Ok(()) } else { Err(bed.log_tail()) }
        })
        .await;
        assert!(!slow.is_finished());
        echo.release(1);
        assert_eq!(slow.await.unwrap().unwrap().status, 200, "the one before finished it");
        bed.until_status("a.test", "/", 503).await;
    }
);
