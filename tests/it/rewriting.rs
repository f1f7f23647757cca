//! Headers, paths, redirects, captures.

mod clients;

use std::net::SocketAddr;

use tokio::net::TcpSocket;

use crate::support::client::{Answer, exchange};
use crate::support::manifests::{endpoints, ingress_with, service};
use crate::support::{Bed, Branch, Echo, until};

const CREATED: &str = "2024-01-01T00:00:00Z";

/// An Ingress `default/NAME` for the host `NAME.test` with these annotations (name without prefix, value of any lines).
fn app(name: &str, annotations: &[(&str, &str)]) -> String {
    let annotations: Vec<String> =
        annotations.iter().map(|(key, value)| format!("haproxy.org/{key}: {value:?}")).collect();
    let host = format!("{name}.test");
    ingress_with(name, CREATED, &annotations.join("\n"), &[(&host, "Prefix", "/", "app")], "")
}

fn config_map(data: &[(&str, &str)]) -> String {
    let lines: String = data.iter().map(|(key, value)| format!("  {key}: {value:?}\n")).collect();
    let data = if lines.is_empty() { "data: {}\n".to_owned() } else { format!("data:\n{lines}") };
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: default\n{data}---\n")
}

/// A server named `echo` behind the Service `app`.
async fn start(bed: &Bed) -> Echo {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
    echo
}

/// Sends bytes from a loopback address of the client's choice.
async fn send(bed: &Bed, from: &str, text: &str) -> Result<Answer, String> {
    bed.until_alone().await;
    let socket = TcpSocket::new_v4().map_err(|e| e.to_string())?;
    socket.bind(SocketAddr::new(from.parse().unwrap(), 0)).map_err(|e| e.to_string())?;
    let stream = socket.connect(bed.http()).await.map_err(|e| e.to_string())?;
    exchange(stream, text).await
}

/// `GET path` with further header lines.
fn request(host: &str, path: &str, headers: &[&str]) -> String {
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n")
}

async fn get(bed: &Bed, from: &str, host: &str, headers: &[&str]) -> Answer {
    let answer = send(bed, from, &request(host, "/", headers)).await;
    answer.unwrap_or_else(|e| panic!("{host}: {e}\n{}", bed.log_tail()))
}

/// What the server received under this name, line by line.
fn received<'a>(answer: &'a Answer, name: &str) -> Vec<&'a str> {
    let lines = answer.body.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(n, _)| *n == name).map(|(_, value)| value).collect()
}

/// The request line that the server received.
fn target(answer: &Answer) -> &str {
    answer.body.lines().nth(1).unwrap_or("")
}

/// Waits until the server receives this request line for a path of a host.
async fn until_target(bed: &Bed, host: &str, path: &str, expected: &str) {
    until(&format!("{host}{path} to become {expected}"), || async {
        let answer = crate::support::client::get(bed.http(), host, path).await?;
        if target(&answer) == expected { Ok(()) } else { Err(format!("{} {}", answer.status, answer.body)) }
    })
    .await;
}

on_every_branch!(paths_are_rewritten, ["--configmap=default/settings"], |bed| async move {
    let _echo = start(&bed).await;
    let patterns = [
        r"[\d\-x]zz",
        "a{2,5}?zz",
        "a*+zz",
        "(?i)^/ZZ",
        "(?:a|b)+zz",
        "(?!/api)zz",
        r"\.html?zz$",
        r"\bzz\b",
        "'zz\"",
        "$HOME",
        "%[zz]",
        "(a{10}){10}zz",
        "a|bzz|czz",
    ];
    let patterns: String = patterns.iter().map(|pattern| format!("{pattern} /wrong\n")).collect();
    bed.put(
        "a.yaml",
        &[
            app("one", &[("path-rewrite", "/")]),
            app("add", &[("path-rewrite", r"(.*) /foo\1")]),
            app("strip", &[("path-rewrite", "/foo/(.*) /\\1\n/bar/(.*) /baz/\\1")]),
            app("suffix", &[("path-rewrite", r"([^?]*)(\?(.*))? \1/foo\2")]),
            app("literal", &[("path-rewrite", "/a%20b/100%%/$HOME/'x'/%[req.hdr(x-part)]")]),
            app("patterns", &[("path-rewrite", &(patterns + "^/x(.*) /y\\1"))]),
            app("bad", &[("path-rewrite", "([ /x")]),
        ]
        .concat(),
    );
    for (host, path, expected) in [
        ("one.test", "/a/b?q=1", "GET /?q=1"),
        ("add.test", "/bar?q=1", "GET /foo/bar?q=1"),
        ("strip.test", "/foo/bar?q=1", "GET /bar?q=1"),
        ("strip.test", "/bar/x", "GET /baz/x"),
        ("strip.test", "/foo/bar/x", "GET /baz/x"),
        ("strip.test", "/other", "GET /other"),
        ("suffix.test", "/bar?q=1", "GET /bar/foo?q=1"),
        ("patterns.test", "/x/1", "GET /y/1"),
        ("bad.test", "/as/it/is", "GET /as/it/is"),
    ] {
        until_target(&bed, host, path, expected).await;
    }
    let answer = send(&bed, "127.0.0.1", &request("literal.test", "/x?q", &["X-Part: me"])).await.unwrap();
    assert_eq!(target(&answer), "GET /a%20b/100%/$HOME/'x'/me?q");
    bed.until_logged(&["value-invalid", "default/bad", "path-rewrite", "([ /x"]).await;
    // It changes, and the ConfigMap counts where an Ingress says nothing.
    bed.put("config.yaml", &config_map(&[("path-rewrite", "/everywhere")]));
    until_target(&bed, "bad.test", "/a", "GET /everywhere").await;
    bed.put("b.yaml", &app("change", &[("path-rewrite", "/first")]));
    until_target(&bed, "change.test", "/a", "GET /first").await;
    bed.put("b.yaml", &app("change", &[("path-rewrite", "/second")]));
    until_target(&bed, "change.test", "/a", "GET /second").await;
    bed.proves(&["path-rewrite"]);
});

on_every_branch!(headers_are_set, |bed| async move {
    let _echo = start(&bed).await;
    let nasty = r#"a   b "q" 'q' # \ \1 $HOME ${HOME} {x} a%20b %ci %% | if { src } unless, ;"#;
    let set = format!(
        "X-Nasty {nasty}\nX-Quoted \"no-store, \\\"x\\\"\"\nX-Client for=%[src];tls=%[ssl_fc]\nX-Host %[req.hdr(host),upper]\n\
         if unless\nx'y#z 1"
    );
    let back = format!("X-Nasty {nasty}\nServer none\nX-Status %[status]/%[res.hdr(content-length)]");
    bed.put(
        "a.yaml",
        &[
            app("headers", &[("request-set-header", &set), ("response-set-header", &back)]),
            app("host", &[("set-host", "inside.local:8080")]),
            app("plain", &[]),
            app("bad", &[("request-set-header", "X-A %[env(PATH)]"), ("set-host", "a b")]),
        ]
        .concat(),
    );
    bed.until_name("headers.test", "/", "echo").await;
    let own = ["X-Nasty: mine", "X-Client: mine"];
    let answer = get(&bed, "127.0.0.1", "headers.test", &own).await;
    let expected = nasty.replace("%%", "%");
    for (name, value) in [
        ("x-nasty", expected.as_str()),
        ("x-quoted", "no-store, \"x\""),
        ("x-client", "for=127.0.0.1;tls=0"),
        ("x-host", "HEADERS.TEST"),
        ("if", "unless"),
        ("x'y#z", "1"),
    ] {
        assert_eq!(received(&answer, name), [value], "{}", answer.body);
    }
    assert_eq!(answer.header("x-nasty"), Some(expected.as_str()));
    assert_eq!(answer.header("server"), Some("none"));
    assert_eq!(answer.header("x-status"), Some(format!("200/{}", answer.body.len()).as_str()));
    let answer = bed.until_name("host.test", "/", "echo").await;
    assert_eq!(received(&answer, "host"), ["inside.local:8080"]);
    assert_eq!(received(&answer, "x-forwarded-host"), ["host.test"]);
    // Other paths of the same Service have none of it.
    for host in ["plain.test", "bad.test"] {
        let answer = bed.until_name(host, "/", "echo").await;
        assert_eq!(received(&answer, "host"), [host]);
        assert!(
            received(&answer, "x-nasty").is_empty() && received(&answer, "x-a").is_empty(),
            "{}",
            answer.body
        );
        assert_eq!(answer.header("x-nasty"), None);
    }
    bed.until_logged(&["value-invalid", "default/bad", "request-set-header", "`env` is not one of"]).await;
    bed.until_logged(&["value-invalid", "default/bad", "set-host"]).await;
    bed.put(
        "a.yaml",
        &app("headers", &[("request-set-header", "X-Nasty nice"), ("response-set-header", "X-Nasty nice")]),
    );
    until("other headers", || async {
        let answer = crate::support::client::get(bed.http(), "headers.test", "/").await?;
        let both = received(&answer, "x-nasty") == ["nice"] && answer.header("x-nasty") == Some("nice");
        if both { Ok(()) } else { Err(answer.body) }
    })
    .await;
    bed.proves(&["request-set-header", "response-set-header", "set-host"]);
});

on_every_branch!(requests_are_redirected_to_another_host, |bed| async move {
    let _echo = start(&bed).await;
    let both = [("to.test", "Prefix", "/", "app"), ("from.test", "Prefix", "/", "app")];
    bed.put(
        "a.yaml",
        &[
            app(
                "plain",
                &[
                    ("request-redirect", "www.example.org:8888"),
                    ("request-set-header", "X-Forwarded-Proto https"),
                ],
            ),
            app("code", &[("request-redirect", "www.example.org"), ("request-redirect-code", "308")]),
            ingress_with("both", CREATED, "haproxy.org/request-redirect: to.test", &both, ""),
            app("bad", &[("request-redirect", "http://a/"), ("request-redirect-code", "200")]),
        ]
        .concat(),
    );
    let location = |answer: &Answer| answer.header("location").unwrap_or_default().to_owned();
    let answer = bed.until_status("plain.test", "/a/b?c=d", 302).await;
    assert_eq!(location(&answer), "http://www.example.org:8888/a/b?c=d");
    let (answer, _) = bed.get_tls("plain.test", "/a").await;
    assert_eq!((answer.status, location(&answer)), (302, "https://www.example.org:8888/a".to_owned()));
    let answer = bed.until_status("code.test", "/", 308).await;
    assert_eq!(location(&answer), "http://www.example.org/");
    assert_eq!(location(&bed.until_status("from.test", "/x", 302).await), "http://to.test/x");
    bed.until_name("to.test", "/x", "echo").await;
    bed.until_name("TO.test", "/x", "echo").await;
    bed.until_name("bad.test", "/", "echo").await;
    bed.until_logged(&["value-invalid", "default/bad", "request-redirect-code"]).await;
    bed.put("a.yaml", &app("plain", &[("request-redirect", "other.test"), ("request-redirect-code", "301")]));
    let answer = bed.until_status("plain.test", "/", 301).await;
    assert_eq!(location(&answer), "http://other.test/");
    bed.proves(&["request-redirect", "request-redirect-code"]);
});

on_every_branch!(captured_values_and_ids_are_logged, ["--configmap=default/settings"], |bed| async move {
    let _echo = start(&bed).await;
    bed.put("config.yaml", &config_map(&[("request-id", "true")]));
    let two = "req.fhdr(user-agent)\ncookie(session),lower";
    bed.put(
        "a.yaml",
        &[
            app("two", &[("request-capture", two), ("request-capture-len", "12"), ("path-rewrite", "/new")]),
            app("one", &[("request-capture", "path,length"), ("request-capture-len", "200")]),
            app("none", &[]),
            app("bad", &[("request-capture", "hdr(a) len 10")]),
        ]
        .concat(),
    );
    bed.until_name("two.test", "/", "echo").await;
    until("a request id", || async {
        let answer = crate::support::client::get(bed.http(), "none.test", "/").await?;
        if received(&answer, "x-request-id").is_empty() { Err(answer.body) } else { Ok(()) }
    })
    .await;
    bed.until_settled().await;
    let headers = ["User-Agent: Mozilla/5.0 (X, Y)", "Cookie: a=b; session=ABC", "X-Request-ID: mine"];
    let answer = get(&bed, "127.0.0.1", "two.test", &headers).await;
    let ids = received(&answer, "x-request-id");
    assert!(ids.len() == 1 && ids[0].len() == 36 && ids[0] != "mine", "{}", answer.body);
    assert_eq!(target(&answer), "GET /new");
    bed.until_logged(&[&format!("{{Mozilla/5.0 |abc|{}}}", ids[0])]).await;
    let answer = get(&bed, "127.0.0.1", "one.test", &headers).await;
    bed.until_logged(&[&format!("{{1||{}}}", received(&answer, "x-request-id")[0])]).await;
    let answer = get(&bed, "127.0.0.1", "none.test", &headers).await;
    let id = received(&answer, "x-request-id")[0].to_owned();
    bed.until_logged(&[&format!("{{||{id}}}")]).await;
    let answer = get(&bed, "127.0.0.1", "none.test", &headers).await;
    assert_ne!(received(&answer, "x-request-id"), [id], "every request has an id of its own");
    bed.until_name("bad.test", "/", "echo").await;
    bed.until_logged(&["value-invalid", "default/bad", "request-capture"]).await;
    // Ids of trusted proxies are kept.
    bed.put("config.yaml", &config_map(&[("request-id", "on"), ("trusted-proxies", "127.0.0.3")]));
    until("the id of a trusted proxy", || async {
        let answer = send(&bed, "127.0.0.3", &request("none.test", "/", &headers)).await?;
        if received(&answer, "x-request-id") == ["mine"] { Ok(()) } else { Err(answer.body) }
    })
    .await;
    bed.until_logged(&["{||mine}"]).await;
    assert_ne!(received(&get(&bed, "127.0.0.2", "none.test", &headers).await, "x-request-id"), ["mine"]);
    let long = format!("X-Request-ID: {}", "a".repeat(129));
    assert_eq!(received(&get(&bed, "127.0.0.3", "none.test", &[&long]).await, "x-request-id")[0].len(), 36);
    bed.proves(&["request-capture", "request-capture-len", "request-id"]);
});

/// Every fetch with every converter that may follow it, in a backend, as routes have them: no branch refuses one.
#[test]
fn every_expression_of_the_allow_list_loads() {
    use outrigger::options::expression::table::{CONVERTERS, FETCHES, Takes};
    use outrigger::options::expression::{Expression, Moment};

    let calls = |name: &str, takes: &Takes| -> Vec<String> {
        (takes.least..=takes.arguments.len()).map(|count| takes.call(name, count)).collect()
    };
    let mut config =
        "defaults\n  mode http\n  timeout connect 5s\n  timeout client 5s\n  timeout server 5s\n\
                      frontend f\n  bind 127.0.0.1:1\n  default_backend b\nbackend b\n"
            .to_owned();
    let mut count = 0;
    for fetch in FETCHES {
        let tails = CONVERTERS.iter().flat_map(|converter| calls(converter.name, &converter.takes));
        let tails: Vec<String> =
            std::iter::once(String::new()).chain(tails.map(|tail| format!(",{tail}"))).collect();
        for start in calls(fetch.name, &fetch.takes) {
            for text in tails.iter().map(|tail| format!("{start}{tail}")) {
                if let Ok(expression) = Expression::parse(&text, Moment::Request) {
                    config.push_str(&format!("  http-request capture {} id 0\n", expression.cut(9)));
                    config.push_str(&format!("  http-request set-header x %[{expression}]\n"));
                    count += 1;
                }
                if let Ok(expression) = Expression::parse(&text, Moment::Response) {
                    config.push_str(&format!("  http-response set-header x %[{expression}]\n"));
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("haproxy.cfg");
    std::fs::write(&file, config).unwrap();
    for branch in [Branch(2, 2), Branch(2, 6), Branch(3, 0), Branch(3, 2), Branch(3, 4)] {
        let output =
            std::process::Command::new(branch.program()).arg("-c").arg("-f").arg(&file).output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{branch:?}: {log}");
    }
}
