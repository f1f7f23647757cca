//! External authentication: real services are asked before requests pass.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::support::client::{Answer, exchange};
use crate::support::manifests::{endpoints, ingress, ingress_with, service};
use crate::support::{Bed, Branch, Echo, Scripted, free_port, until};

/// An Ingress for `HOST` with annotations of ours, to the Service `app`.
fn guarded(host: &str, annotations: &str) -> String {
    let name = host.trim_end_matches(".test");
    let annotations: String = annotations.lines().map(|line| format!("outrigger.dev/{line}\n")).collect();
    ingress_with(name, "2024-01-01T00:00:00Z", &annotations, &[(host, "Prefix", "/", "app")], "")
}

/// The Services `app` and `auth` with an endpoint each.
fn services(app: SocketAddr, auth: SocketAddr) -> String {
    service("app") + &service("auth") + &endpoints("app", &[app]) + &endpoints("auth", &[auth])
}

fn config_map(data: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: default\ndata:\n  {data}\n---\n"
    )
}

/// A request with further header lines.
async fn send(bed: &Bed, line: &str, host: &str, headers: &[&str]) -> Answer {
    bed.until_alone().await;
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let text = format!("{line} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n");
    exchange(TcpStream::connect(bed.http()).await.unwrap(), &text).await.unwrap()
}

/// A TLS server that says yes with a certificate that no authority vouches for; its port, and how often it was reached.
async fn untrusted() -> (u16, Arc<AtomicUsize>) {
    let pair = crate::support::certificates::ecdsa("localhost", &["localhost"]);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let inside = count.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            inside.fetch_add(1, Ordering::SeqCst);
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    let _ = stream.read_u8().await;
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
                    let _ = stream.shutdown().await;
                }
            });
        }
    });
    (port, count)
}

/// Values of a header, in order.
fn all<'a>(answer: &'a Answer, name: &str) -> Vec<&'a str> {
    let headers = answer.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
    headers.map(|(_, value)| value.as_str()).collect()
}

on_every_branch!(the_service_decides, |bed| async move {
    let (pod, auth) = (Scripted::start().await, Scripted::start().await);
    let at = auth.address;
    bed.put("services.yaml", &services(pod.address, at));
    let ours = "auth-url: http://auth.default.svc:80/check?x=1\n";
    bed.put(
        "ingresses.yaml",
        &(ingress("free", &[("free.test", "Prefix", "/", "app")])
            + &guarded("plain.test", &format!("{ours}auth-response-headers: X-User, X-Role, Authorization"))
            + &guarded(
                "sign.test",
                &format!("{ours}auth-signin: https://sso.test/start\nauth-method: post"),
            )
            + &guarded(
                "rd.test",
                &format!("{ours}auth-signin: https://$host/in?rd=$scheme://$http_host$escaped_request_uri"),
            )
            + &guarded(
                "few.test",
                "auth-url: svc://default/auth:http/few\nauth-request-headers: Authorization",
            )
            + &guarded("here.test", "auth-url: svc://auth:80")
            + &guarded("moved.test", &format!("{ours}path-rewrite: /old/(.*) /new/\\1"))
            + &guarded("address.test", &format!("auth-url: http://{at}/address"))
            + &guarded("name.test", &format!("auth-url: http://localhost:{}/name", at.port()))),
    );
    bed.until_status("plain.test", "/", 200).await;
    bed.until_settled().await;

    // A yes: the pod gets the headers of the service and none of the same name from the client.
    auth.answers(
        202,
        &[
            ("X-User", "alice"),
            ("X-User", "bob"),
            ("Set-Cookie", "a=1"),
            ("Set-Cookie", "b=2"),
            ("X-Other", "1"),
        ],
        "welcome",
    );
    pod.answers(200, &[("Set-Cookie", "pod=1")], "from the pod");
    let spoofed =
        ["X-User: mallory", "x-role: admin", "Authorization: Basic eDp5", "Cookie: c=1", "X-Mine: 1"];
    let answer = send(&bed, "GET /a%20b/c?q=1&r=%2F", "plain.test", &spoofed).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "from the pod"));
    assert_eq!(all(&answer, "set-cookie"), ["pod=1", "a=1", "b=2"]);
    let got = pod.last();
    assert_eq!(got.uri, "/a%20b/c?q=1&r=%2F");
    assert_eq!(got.header("x-user"), "alice|bob");
    assert_eq!((got.header("x-role"), got.header("authorization")), (String::new(), String::new()));
    assert_eq!(
        (got.header("x-other"), got.header("x-mine"), got.header("cookie")),
        (String::new(), "1".into(), "c=1".into())
    );

    // What the service sees: the original request without its body, and the client's credentials.
    let asked = auth.last();
    assert_eq!((asked.method.as_str(), asked.uri.as_str()), ("GET", "/check?x=1"));
    for (name, value) in [
        ("host", "auth.default.svc:80"),
        ("x-original-url", "http://plain.test/a%20b/c?q=1&r=%2F"),
        ("x-original-uri", "/a%20b/c?q=1&r=%2F"),
        ("x-original-method", "GET"),
        ("x-auth-request-redirect", "/a%20b/c?q=1&r=%2F"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-host", "plain.test"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-real-ip", "127.0.0.1"),
        ("authorization", "Basic eDp5"),
        ("cookie", "c=1"),
        ("x-mine", "1"),
        ("x-outrigger-auth-backend", ""),
    ] {
        assert_eq!(asked.header(name), value, "{name}");
    }
    // What a client makes up about the request does not reach it.
    let lies = [
        "X-Original-URL: http://x/",
        "X-Original-Method: PUT",
        "X-Real-IP: 9.9.9.9",
        "X-Outrigger-Auth-Backend: default_app_80",
    ];
    assert_eq!(send(&bed, "DELETE /x", "plain.test", &lies).await.status, 200);
    let asked = auth.last();
    assert_eq!(asked.header("x-original-url"), "http://plain.test/x");
    assert_eq!(
        (asked.header("x-original-method"), asked.header("x-real-ip")),
        ("DELETE".into(), "127.0.0.1".into())
    );

    // Over TLS, too.
    let (answer, _) = bed.get_tls("plain.test", "/t?u").await;
    assert_eq!(answer.status, 200);
    assert_eq!(auth.last().header("x-original-url"), "https://plain.test/t?u");

    // The service sees what the client asked for, the pod what is made of it.
    assert_eq!(send(&bed, "GET /old/a?b=c", "moved.test", &[]).await.status, 200);
    let asked = auth.last();
    assert_eq!(asked.header("x-original-uri"), "/old/a?b=c");
    assert_eq!(asked.header("x-original-url"), "http://moved.test/old/a?b=c");
    assert_eq!(pod.last().uri, "/new/a?b=c");

    // Only named headers; the port by name; the Service of the own namespace; hosts that are no Services.
    assert_eq!(
        send(&bed, "GET /", "few.test", &["Authorization: Basic eDp5", "Cookie: c=1"]).await.status,
        200
    );
    let asked = auth.last();
    assert_eq!((asked.uri.as_str(), asked.header("host").as_str()), ("/few", "auth.default.svc"));
    assert_eq!((asked.header("authorization"), asked.header("cookie")), ("Basic eDp5".into(), String::new()));
    assert_eq!(asked.header("x-forwarded-host"), "few.test");
    for (host, uri, seen) in [
        ("here.test", "/", "auth:80".to_owned()),
        ("address.test", "/address", at.to_string()),
        ("name.test", "/name", format!("localhost:{}", at.port())),
    ] {
        assert_eq!(send(&bed, "GET /", host, &[]).await.status, 200, "{host}");
        let asked = auth.last();
        assert_eq!((asked.uri.as_str(), asked.header("host")), (uri, seen));
    }

    // A no: the client gets it as the service said it.
    for status in [401, 403] {
        let realm = ("WWW-Authenticate", "Basic realm=\"a, b\"");
        auth.answers(status, &[realm, ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")], "go away");
        let before = pod.count();
        let answer = send(&bed, "GET /", "plain.test", &[]).await;
        assert_eq!((answer.status, answer.body.as_str()), (status, "go away"));
        assert_eq!(answer.header("www-authenticate"), Some(realm.1));
        assert_eq!(all(&answer, "set-cookie"), ["a=1", "b=2"]);
        assert_eq!(pod.count(), before, "nothing reaches the pod");
    }
    // 403 is not mended by signing in; 401 is.
    assert_eq!(send(&bed, "GET /", "sign.test", &[]).await.status, 403);
    auth.answers(401, &[("Set-Cookie", "csrf=1")], "");
    let answer = send(&bed, "GET /p/q?a=b&c=\"d\"", "sign.test", &[]).await;
    assert_eq!(answer.status, 302);
    let location = "https://sso.test/start?rd=http%3A%2F%2Fsign.test%2Fp%2Fq%3Fa%3Db%26c%3D%2522d%2522";
    assert_eq!(answer.header("location"), Some(location));
    assert_eq!(all(&answer, "set-cookie"), ["csrf=1"]);
    assert_eq!(auth.last().method, "POST");
    let answer = send(&bed, "GET /p?a=b", "rd.test:8080", &[]).await;
    assert_eq!(answer.header("location"), Some("https://rd.test/in?rd=http://rd.test:8080%2Fp%3Fa%3Db"));

    // Anything else is no decision.
    for status in [301, 400, 404, 500] {
        auth.answers(status, &[("Location", "/login")], "");
        let answer = send(&bed, "GET /", "plain.test", &[]).await;
        assert_eq!(answer.status, 503, "{status}");
        assert!(answer.body.contains("external authentication"), "{}", answer.body);
    }
    assert_eq!(bed.get("free.test", "/").await.status, 200, "who has no auth-url is not asked");
    bed.proves(&["auth-url", "auth-method", "auth-signin", "auth-request-headers", "auth-response-headers"]);
});

on_every_branch!(nothing_passes_without_a_decision, ["--configmap=default/settings"], |bed| async move {
    let (pod, auth, late) = (Scripted::start().await, Scripted::start().await, Scripted::start().await);
    bed.put("services.yaml", &services(pod.address, auth.address));
    let ours = "auth-url: http://auth.default.svc/\nauth-timeout: 400ms\n";
    let (untrusted, handshakes) = untrusted().await;
    bed.put(
        "ingresses.yaml",
        &(guarded("timed.test", ours)
            + &guarded("missing.test", "auth-url: http://nobody.default.svc/")
            + &guarded("port.test", "auth-url: http://auth.default.svc:81/")
            + &guarded("tls.test", "auth-url: https://auth.default.svc/")
            + &guarded("bad.test", "auth-url: http://auth/ x")
            + &guarded("headers.test", &format!("{ours}auth-response-headers: 'X-*'"))
            + &guarded("metadata.test", "auth-url: http://169.254.169.254/")
            + &guarded("untrusted.test", &format!("auth-url: https://localhost:{untrusted}/"))
            + &guarded("free.test", "auth-url: off").replace(": off", ": \"off\"")),
    );
    bed.until_status("timed.test", "/", 200).await;
    bed.until_settled().await;
    assert_eq!(bed.get("free.test", "/").await.status, 200);
    let (worker, passed) = (bed.worker().await, pod.count());
    for host in ["missing", "port", "tls", "bad", "headers", "metadata", "untrusted"] {
        let answer = bed.get(&format!("{host}.test"), "/").await;
        assert_eq!(answer.status, 503, "{host}");
    }
    if bed.branch.has_dynamic_servers() {
        assert!(handshakes.load(Ordering::SeqCst) > 0, "it was refused by its certificate");
    }
    for (code, name) in [
        ("service-not-found", "nobody"),
        ("service-port-not-found", "port"),
        ("auth-unusable", "tls"),
        ("auth-unusable", "bad"),
        ("value-invalid", "bad"),
        ("auth-unusable", "headers"),
        ("auth-unusable", "metadata"),
    ] {
        bed.until_logged(&[code, name]).await;
    }

    // Slow: 503 when the time is over, not before, and no one else waits.
    auth.answers(0, &[], "");
    let start = std::time::Instant::now();
    let (timed, free) = tokio::join!(bed.get("timed.test", "/"), bed.get("free.test", "/"));
    assert_eq!((timed.status, free.status), (503, 200));
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(390) && took < Duration::from_secs(4), "{took:?}");

    // Down: 503; the next one: asked without a reload.
    let dead = SocketAddr::from(([127, 0, 0, 1], free_port()));
    auth.answers(200, &[], "");
    bed.until_status("timed.test", "/", 200).await;
    bed.put("services.yaml", &services(pod.address, dead));
    bed.until_status("timed.test", "/", 503).await;
    bed.put("services.yaml", &services(pod.address, late.address));
    bed.until_status("timed.test", "/", 200).await;
    assert!(late.count() > 0);
    let none = service("app") + &service("auth") + &endpoints("app", &[pod.address]);
    bed.put("services.yaml", &none);
    bed.until_status("timed.test", "/", 503).await;
    bed.put("services.yaml", &services(pod.address, auth.address));
    bed.until_status("timed.test", "/", 200).await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    assert!(pod.count() > passed);

    // A Service that goes and comes back.
    bed.put("services.yaml", &(service("app") + &endpoints("app", &[pod.address])));
    bed.until_logged(&["service-not-found", "default/auth"]).await;
    bed.until_status("timed.test", "/", 503).await;
    bed.put("services.yaml", &services(pod.address, auth.address));
    bed.until_status("timed.test", "/", 200).await;

    // Everything is guarded by the ConfigMap, but what says off; the service itself asks nobody.
    bed.put("plain.yaml", &ingress("plain", &[("plain.test", "Prefix", "/", "app")]));
    bed.put("own.yaml", &ingress("own", &[("own.test", "Prefix", "/", "auth")]));
    bed.until_status("plain.test", "/", 200).await;
    bed.put("settings.yaml", &config_map("auth-url: http://auth.default.svc/all"));
    auth.answers(401, &[], "no");
    bed.until_status("plain.test", "/", 401).await;
    bed.until_status("own.test", "/", 401).await;
    assert_eq!(auth.last().uri, "/all");
    bed.until_status("free.test", "/", 200).await;
    bed.put("settings.yaml", &config_map("auth-url: \"off\""));
    bed.until_status("plain.test", "/", 200).await;
    bed.proves(&["auth-timeout"]);
});

on_every_branch!(bodies_reach_the_pod_and_connections_to_the_service_are_kept, |bed| async move {
    let (pod, auth) = (Scripted::start().await, Scripted::start().await);
    bed.put("services.yaml", &services(pod.address, auth.address));
    bed.put("ingress.yaml", &guarded("app.test", "auth-url: http://auth.default.svc/"));
    bed.until_status("app.test", "/", 200).await;
    // More than any buffer holds.
    let body: String = (0..200_000).map(|i| char::from(b'a' + u8::try_from(i % 23).unwrap())).collect();
    let head = format!(
        "POST /upload HTTP/1.1\r\nHost: app.test\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let stream = TcpStream::connect(bed.http()).await.unwrap();
    let answer = exchange(stream, &(head + &body)).await.unwrap();
    assert_eq!(answer.status, 200);
    let got = pod.last();
    assert_eq!((got.method.as_str(), got.uri.as_str()), ("POST", "/upload"));
    assert!(got.body == body.as_bytes(), "{} bytes", got.body.len());
    let asked = auth.last();
    assert_eq!((asked.method.as_str(), asked.body.len()), ("GET", 0));
    assert_eq!(
        (asked.header("content-length"), asked.header("x-original-method")),
        (String::new(), "POST".into())
    );
    // In pieces, too.
    let head =
        "PUT /chunked HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    let stream = TcpStream::connect(bed.http()).await.unwrap();
    let answer = exchange(stream, &format!("{head}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")).await.unwrap();
    assert_eq!((answer.status, &pod.last().body[..]), (200, &b"abcde"[..]));

    let (asked, connections) = (auth.count(), auth.connections());
    for _ in 0..40 {
        assert_eq!(bed.get("app.test", "/").await.status, 200);
    }
    assert_eq!(auth.count() - asked, 40);
    assert!(
        auth.connections() - connections <= 30,
        "{} connections for 40 questions",
        auth.connections() - connections
    );
});

// Questions go on while the configuration is loaded anew.
on_every_branch!(a_reload_loses_no_decision, |bed| async move {
    let echo = Echo::start("app").await;
    let auth = Scripted::start().await;
    bed.put("services.yaml", &services(echo.address, auth.address));
    bed.put("ingress.yaml", &guarded("app.test", "auth-url: http://auth.default.svc/"));
    bed.until_name("app.test", "/", "app").await;
    let worker = bed.worker().await;
    let load = crate::support::load::Load::start(bed.http(), bed.https(), "app.test");
    load.more(50).await;
    bed.put("other.yaml", &guarded("other.test", "auth-url: http://auth.default.svc/other"));
    bed.until_name("other.test", "/", "app").await;
    until("a new worker", || async {
        if bed.worker().await == worker { Err("the old one".to_owned()) } else { Ok(()) }
    })
    .await;
    load.more(50).await;
    let (_, failures) = load.stop().await;
    assert_eq!(failures, Vec::<String>::new());
});
