//! `cors-enable` and what belongs to it.

use super::{app, call, secret, site, until_status};
use crate::support::client::{Answer, Call};
use crate::support::manifests::{ingress_with, service};
use crate::support::{Bed, Branch, Echo};

async fn from(bed: &Bed, method: &str, host: &str, origin: &str) -> Answer {
    let headers = format!("Origin: {origin}\r\nAccess-Control-Request-Method: PUT\r\n");
    call(bed, &Call { method, host, headers: &headers, ..Call::default() }).await
}

/// `Access-Control-Allow-Origin` of a simple request.
async fn allowed(bed: &Bed, host: &str, origin: &str) -> Option<String> {
    from(bed, "GET", host, origin).await.header("access-control-allow-origin").map(str::to_owned)
}

on_every_branch!(pages_of_other_origins_may_what_is_said, |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(app(echo.address) + &service("empty")));
    bed.put("users.yaml", &secret("users", &[("ann", "$1$saltsalt$9xy1btjgzLYfb7hivXtC//")]));
    bed.put("any.yaml", &site("any", "cors-enable: \"true\""));
    let list =
        "cors-enable: \"true\"\ncors-allow-origin: \"https://a.test, https://*.b.test, http://c.test:3000\"";
    let more = "cors-allow-methods: GET, PUT\ncors-allow-headers: X-One, X-Two\ncors-allow-credentials: \"true\"\ncors-max-age: 10m";
    bed.put("list.yaml", &site("list", &format!("{list}\n{more}\ncors-respond-to-options: \"true\"")));
    bed.put(
        "regex.yaml",
        &site("regex", "cors-enable: \"yes\"\ncors-allow-origin: 'https://(.+\\.)?(d|e)\\.test(:\\d{1,5})?'"),
    );
    bed.put("login.yaml", &site("login", &format!("{list}\nauth-type: basic-auth\nauth-secret: users")));
    bed.put("idle.yaml", &site("idle", "cors-enable: \"false\"\ncors-allow-origin: https://a.test"));
    bed.put("bad.yaml", &site("bad", "cors-enable: \"true\"\ncors-allow-origin: https://a b!"));
    let keys = "haproxy.org/cors-enable: \"true\"\nhaproxy.org/cors-allow-origin: https://a.test\nhaproxy.org/deny-list: 127.0.0.9";
    let rules = [("empty.test", "Prefix", "/", "empty")];
    bed.put("empty.yaml", &ingress_with("empty", "2024-01-01T00:00:00Z", keys, &rules, ""));
    for (name, wanted) in [
        ("any", 200),
        ("list", 200),
        ("regex", 200),
        ("login", 401),
        ("idle", 200),
        ("bad", 200),
        ("empty", 503),
    ] {
        until_status(&bed, &format!("{name}.test"), 1, wanted).await;
    }
    bed.until_settled().await;

    // All origins.
    let answer = from(&bed, "GET", "any.test", "https://x.test").await;
    assert_eq!((answer.status, answer.name()), (200, "echo"));
    for (name, value) in [
        ("access-control-allow-origin", Some("*")),
        ("access-control-allow-methods", Some("*")),
        ("access-control-allow-headers", Some("*")),
        ("access-control-max-age", Some("5")),
        ("access-control-allow-credentials", None),
        ("vary", None),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
    let answer = from(&bed, "OPTIONS", "any.test", "https://x.test").await;
    assert!(answer.body.starts_with("echo\nOPTIONS"), "the application answers: {}", answer.body);

    // Some of them.
    for origin in ["https://a.test", "https://x.y.b.test", "http://c.test:3000"] {
        assert_eq!(allowed(&bed, "list.test", origin).await.as_deref(), Some(origin));
    }
    for origin in [
        "https://a.test.evil.test",
        "http://a.test",
        "https://a.test:8443",
        "https://b.test",
        "https://evilb.test",
        "https://a,b.test",
        "null",
        "https://c.test:3000",
    ] {
        assert_eq!(allowed(&bed, "list.test", origin).await, None, "{origin}");
    }
    for origin in ["https://d.test", "https://x.e.test:8443"] {
        assert_eq!(allowed(&bed, "regex.test", origin).await.as_deref(), Some(origin));
    }
    for origin in ["https://d.test.evil.test", "http://d.test", "xhttps://d.test"] {
        assert_eq!(allowed(&bed, "regex.test", origin).await, None, "{origin}");
    }
    let answer = from(&bed, "GET", "list.test", "https://evil.test").await;
    assert_eq!(answer.header("vary"), Some("Origin"), "caches must know");
    assert_eq!(answer.header("access-control-allow-credentials"), None);

    // Preflight.
    let answer = from(&bed, "OPTIONS", "list.test", "https://a.test").await;
    assert_eq!((answer.status, answer.body.as_str()), (204, ""));
    for (name, value) in [
        ("access-control-allow-origin", "https://a.test"),
        ("access-control-allow-methods", "GET, PUT"),
        ("access-control-allow-headers", "X-One, X-Two"),
        ("access-control-allow-credentials", "true"),
        ("access-control-max-age", "600"),
        ("vary", "Origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    let answer = from(&bed, "OPTIONS", "list.test", "https://evil.test").await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, None));
    let plain = call(&bed, &Call { method: "OPTIONS", host: "list.test", ..Call::default() }).await;
    assert_eq!(plain.status, 200, "not from a page: the application answers");

    // What HAProxy answers itself has the headers, too, and preflight requests need no password.
    let answer = from(&bed, "GET", "login.test", "https://a.test").await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (401, Some("https://a.test")));
    let answer = from(&bed, "OPTIONS", "login.test", "https://a.test").await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, Some("https://a.test")));
    let answer = from(&bed, "GET", "empty.test", "https://a.test").await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (503, Some("https://a.test")));

    for host in ["idle.test", "bad.test"] {
        let answer = from(&bed, "GET", host, "https://a.test").await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, None), "{host}");
    }
    bed.until_logged(&["value-invalid", "default/bad", "cors-allow-origin"]).await;
    bed.proves(&[
        "cors-enable",
        "cors-allow-origin",
        "cors-allow-methods",
        "cors-allow-headers",
        "cors-allow-credentials",
        "cors-max-age",
        "cors-respond-to-options",
    ]);
});
