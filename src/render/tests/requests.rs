//! Requests through real HAProxys of every branch.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

use super::haproxy::{HaProxy, pem, pod, request};
use super::models::*;
use crate::haproxy::testing::AnyCertificate;
use crate::model::*;

macro_rules! on_every_branch {
    ($($check:ident),+ $(,)?) => {
        $(mod $check {
            #[test] fn on_2_2() { super::$check("2.2"); }
            #[test] fn on_2_6() { super::$check("2.6"); }
            #[test] fn on_3_0() { super::$check("3.0"); }
            #[test] fn on_3_2() { super::$check("3.2"); }
            #[test] fn on_3_4() { super::$check("3.4"); }
        })+
    };
}
pub(super) use on_every_branch;

on_every_branch!(routes, redirects, certificates, without_routes, odd_folders);

/// A backend `ns/<name>` with one pod of that name.
pub(super) fn service(model: &mut Model, name: &'static str) -> BackendName {
    let address = pod(name);
    let servers = [server(&address.ip().to_string(), address.port(), ServerState::Active)];
    add_backend(model, backend(&format!("ns/{name}"), 80, &servers))
}

/// What a GET says: the first line of a pod's answer, or the status and body of HAProxy's own.
fn get(haproxy: &HaProxy, host: &str, path: &str) -> String {
    let response = haproxy.http(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n"));
    match (response.status, response.header("location")) {
        (200, _) => response.text().lines().next().unwrap().to_owned(),
        (status, Some(location)) => format!("{status} {location}"),
        (status, None) => status.to_string(),
    }
}

fn routes(branch: &str) {
    let mut model = empty();
    model.default_certificate = pem(&["default.test"]).0;
    let [root, exactly, element, deeper, wild, any, default] =
        ["root", "exactly", "element", "deeper", "wild", "any", "default"]
            .map(|name| service(&mut model, name));
    for (host, path, backend) in [
        (exact_host("foo.bar"), prefix(""), Some(&root)),
        (exact_host("foo.bar"), exact("/exact"), Some(&exactly)),
        (exact_host("foo.bar"), prefix("/a"), Some(&element)),
        (exact_host("foo.bar"), prefix("/a/b"), Some(&deeper)),
        (exact_host("empty.bar"), prefix(""), Some(&BackendName::fixed(503))),
        (exact_host("known.bar"), prefix(""), None),
        (exact_host("known.bar"), exact("/exact"), Some(&exactly)),
        (exact_host("[2001:db8::1]"), prefix(""), Some(&element)),
        (HostMatch::Wildcard("wild.bar".into()), prefix(""), Some(&wild)),
        (exact_host("own.wild.bar"), prefix(""), Some(&root)),
        (HostMatch::Any, prefix("/any"), Some(&any)),
        (HostMatch::Any, prefix(""), None),
        (HostMatch::Default, prefix(""), Some(&default)),
    ] {
        add_route(&mut model, route(key(host, path), backend, &[]));
    }
    let haproxy = HaProxy::start(branch, &mut model);
    for (host, path, expected) in [
        ("foo.bar", "/", "root"),
        ("foo.bar", "/exact", "exactly"),
        ("foo.bar", "/exact/", "root"),
        ("foo.bar", "/exact?q=1", "exactly"),
        ("foo.bar", "/a", "element"),
        ("foo.bar", "/a/", "element"),
        ("foo.bar", "/a/x", "element"),
        ("foo.bar", "/a?x=/b", "element"),
        ("foo.bar", "/ab", "root"),
        ("foo.bar", "/a/b", "deeper"),
        ("foo.bar", "/a/b/c", "deeper"),
        ("foo.bar", "/a/bc", "element"),
        ("FOO.bar", "/a", "element"),
        ("foo.bar:8080", "/a", "element"),
        ("foo.bar.", "/a", "element"),
        ("Foo.Bar.:8080", "/exact", "exactly"),
        ("[2001:DB8::1]", "/", "element"),
        ("[2001:db8::1]:8080", "/", "element"),
        ("empty.bar", "/", "503"),
        ("known.bar", "/exact", "exactly"),
        ("known.bar", "/", "default"),
        // A known host does not fall through to rules without host.
        ("known.bar", "/any", "default"),
        ("x.wild.bar", "/any", "wild"),
        ("own.wild.bar", "/any", "root"),
        // One label only; and neither the domain itself nor the key's spelling.
        ("x.y.wild.bar", "/any", "any"),
        ("wild.bar", "/", "default"),
        (".wild.bar", "/", "400"),
        ("unknown", "/any/x", "any"),
        ("unknown", "/anyx", "default"),
        ("unknown", "/", "default"),
        ("foo.bar|", "/", "400"),
        ("foo.bar/a", "/", "400"),
        ("*", "/any", "400"),
        ("!", "/", "400"),
    ] {
        assert_eq!(get(&haproxy, host, path), expected, "HAProxy {branch}, {host} {path}");
    }
    let without_host = haproxy.http("GET /any HTTP/1.0\r\n");
    assert_eq!(without_host.text().lines().next(), Some("any"), "HAProxy {branch}");
    let star = haproxy.http("OPTIONS * HTTP/1.1\r\nHost: foo.bar\r\n");
    assert_eq!(star.text().lines().next(), Some("root"), "HAProxy {branch}");

    let got = haproxy
        .http("GET / HTTP/1.1\r\nHost: foo.bar:81\r\nX-Forwarded-Proto: forged\r\n")
        .text()
        .to_lowercase();
    let forwarded = ["for: 127.0.0.1", "proto: http", "host: foo.bar:81", "port: 81"];
    for header in forwarded.map(|h| format!("\r\nx-forwarded-{h}\r\n")) {
        assert!(got.contains(&header), "HAProxy {branch}: {header} in {got}");
    }
    assert!(!got.contains("forged"), "HAProxy {branch}: {got}");
}

fn redirects(branch: &str) {
    let mut model = empty();
    model.default_certificate = pem(&["default.test"]).0;
    let web = service(&mut model, "web");
    for status in [301, 302, 303, 307, 308] {
        let host = exact_host(&format!("r{status}.test"));
        add_route(
            &mut model,
            route(key(host, prefix("")), Some(&web), &[Filter::RedirectToHttps { status, port: None }]),
        );
    }
    let redirect = [Filter::RedirectToHttps { status: 302, port: None }];
    add_route(&mut model, route(key(HostMatch::Any, prefix("/any")), Some(&web), &redirect));
    let haproxy = HaProxy::start(branch, &mut model);
    for status in [301, 302, 303, 307, 308] {
        let answer = get(&haproxy, &format!("R{status}.test:8080"), "/a/b?c=d");
        assert_eq!(answer, format!("{status} https://r{status}.test/a/b?c=d"), "HAProxy {branch}");
    }
    assert_eq!(get(&haproxy, "r302.test", "/.well-known/acme-challenge/token"), "web", "HAProxy {branch}");
    assert_eq!(get(&haproxy, "r302.test", "/.well-known/acme"), "302 https://r302.test/.well-known/acme");
    assert_eq!(haproxy.http("GET /any HTTP/1.0\r\n").status, 400, "HAProxy {branch}: nowhere to redirect to");
    let (_, response) = tls(&haproxy, Some("r302.test"), "GET /a HTTP/1.1\r\nHost: r302.test\r\n");
    let response = response.to_lowercase();
    assert!(response.contains("\r\n\r\nweb\n"), "HAProxy {branch}: {response}");
    for header in ["proto: https", "port: 443"] {
        assert!(response.contains(&format!("x-forwarded-{header}\r\n")), "HAProxy {branch}: {response}");
    }
}

fn certificates(branch: &str) {
    let mut model = empty();
    let (default, default_der) = pem(&["default.test", "a.test", "*.shadow.test"]);
    model.default_certificate = default;
    let (a, a_der) = pem(&["a.test", "b.test"]);
    let (wild, wild_der) = pem(&["*.w.test", "*.shadow.test"]);
    add_certificate(&mut model, certificate("ns/a", a, &["a.test"]));
    add_certificate(&mut model, certificate("ns/w", wild, &["*.w.test", "*.shadow.test"]));
    let haproxy = HaProxy::start(branch, &mut model);
    for (name, expected) in [
        (Some("a.test"), &a_der),
        // In the certificate, but not a host of its Ingress.
        (Some("b.test"), &default_der),
        (Some("x.w.test"), &wild_der),
        (Some("x.y.w.test"), &default_der),
        // The default certificate's own names shadow nobody's.
        (Some("x.shadow.test"), &wild_der),
        (Some("default.test"), &default_der),
        (Some("unknown.test"), &default_der),
        (None, &default_der),
    ] {
        let (der, _) = tls(&haproxy, name, "GET / HTTP/1.1\r\nHost: x\r\n");
        assert!(der == *expected, "HAProxy {branch}: wrong certificate for {name:?}");
    }
}

fn without_routes(branch: &str) {
    let mut model = empty();
    model.default_certificate = pem(&["default.test"]).0;
    let haproxy = HaProxy::start(branch, &mut model);
    let response = haproxy.http("GET / HTTP/1.1\r\nHost: foo.bar\r\n");
    assert_eq!(
        (response.status, response.body.as_slice()),
        (404, &b"default backend - 404"[..]),
        "HAProxy {branch}"
    );
    assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"), "HAProxy {branch}");
    let local = |port| SocketAddr::new(IpAddr::from([127, 0, 0, 1]), port);
    let healthz = |path: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\n");
        request(local(haproxy.listeners.healthz), &head).unwrap().status
    };
    assert_eq!(["/healthz", "/readyz", "/"].map(healthz), [200, 200, 404], "HAProxy {branch}");
    let stats = |path: &str| {
        request(local(haproxy.listeners.stats), &format!("GET {path} HTTP/1.1\r\nHost: x\r\n"))
            .unwrap()
            .text()
    };
    assert!(stats("/metrics").contains("haproxy_process_nbthread"), "HAProxy {branch}");
    assert!(stats("/").contains("Statistics Report"), "HAProxy {branch}");
    let v6 = SocketAddr::new("::1".parse().unwrap(), haproxy.listeners.http.unwrap());
    assert_eq!(request(v6, "GET / HTTP/1.1\r\nHost: x\r\n").unwrap().status, 404, "HAProxy {branch}");
}

/// Folders whose names mean something to HAProxy's parser.
fn odd_folders(branch: &str) {
    let mut model = empty();
    model.default_certificate = pem(&["default.test"]).0;
    let web = service(&mut model, "web");
    add_route(&mut model, route(key(exact_host("foo.bar"), exact("/x")), Some(&web), &[]));
    let haproxy = HaProxy::start_in(branch, &mut model, "a#b'd(e)\\f\"g");
    assert_eq!(get(&haproxy, "foo.bar", "/x"), "web", "HAProxy {branch}");
}

/// A request over TLS with this server name: the certificate shown, and the answer.
pub(super) fn tls(haproxy: &HaProxy, name: Option<&str>, head: &str) -> (Vec<u8>, String) {
    use std::io::{Read as _, Write as _};
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config =
        config.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate)).with_no_client_auth();
    config.enable_sni = name.is_some();
    let name = ServerName::try_from(name.unwrap_or("none.test").to_owned()).unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(("127.0.0.1", haproxy.listeners.https.unwrap())).unwrap();
    let mut stream = rustls::Stream::new(&mut connection, &mut socket);
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let certificate = connection.peer_certificates().unwrap()[0].to_vec();
    (certificate, String::from_utf8_lossy(&answer).into_owned())
}
