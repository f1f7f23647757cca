//! Tests of Services, and paths that are regular expressions.

use super::{SPECIFIC, echoes, name_with, service_with, until_name_with};
use crate::support::manifests::{endpoints, ingress, ingress_with, service};
use crate::support::{Branch, Echo};

on_every_branch!(services_get_the_requests_that_pass_their_test, |bed| async move {
    let mut text = String::new();
    let mut all = Vec::new();
    for (name, test) in [
        ("plain", ""),
        ("staging", "cookie(staging) -m found"),
        ("beta", "cookie(beta) yes"),
        ("long", "path_reg '^/path-(in|out){1}-bug$'"),
        ("post", "hdr_sub(x-method) -i -- PO 'b c'"),
        ("lone", "url_param(v),lower two"),
    ] {
        let echo = Echo::start(name).await;
        text += &match test {
            "" => service(name),
            _ => service_with(name, &format!("haproxy.org/route-acl: {test:?}")),
        };
        text += &endpoints(name, &[echo.address]);
        all.push(echo);
    }
    let root = |service| ("acl.test", "Prefix", "/", service);
    text += &ingress("tests", &["staging", "beta", "post"].map(root));
    text += &ingress("plain", &[root("plain"), ("else.test", "Prefix", "/", "plain")]);
    text += &ingress("lone", &[("lone.test", "Prefix", "/", "lone")]);
    bed.put("all.yaml", &text);
    bed.until_name("acl.test", "/", "plain").await;
    until_name_with(&bed, "acl.test", "/", "Cookie: staging=1\r\n", "staging").await;
    until_name_with(&bed, "lone.test", "/?v=TWO", "", "lone").await;
    bed.until_settled().await;
    for (host, path, headers, name) in [
        ("acl.test", "/x", "Cookie: other=1\r\n", "plain"),
        ("acl.test", "/x", "Cookie: a=1; staging=0\r\n", "staging"),
        ("acl.test", "/x", "Cookie: beta=yes\r\n", "beta"),
        ("acl.test", "/x", "Cookie: beta=no\r\n", "plain"),
        ("acl.test", "/x", "x-method: compost\r\n", "post"),
        ("acl.test", "/x", "x-method: a b c d\r\n", "post"),
        ("else.test", "/x", "Cookie: staging=1\r\n", "plain"),
        // What passes no test goes to the default backend.
        ("lone.test", "/?v=three", "", "404"),
        ("lone.test", "/", "", "404"),
    ] {
        assert_eq!(name_with(&bed, host, path, headers).await, name, "{host}{path} {headers}");
    }
    bed.until_logged(&["route-conditional-only", "default/lone"]).await;

    // The value of a cookie is not a reload; a test that is in use already is none for further paths.
    let worker = bed.worker().await;
    let text = text.replace("cookie(beta) yes", "cookie(beta) no")
        + &ingress("more", &["lone", "plain"].map(|service| ("more.test", "Prefix", "/", service)));
    bed.put("all.yaml", &text);
    until_name_with(&bed, "acl.test", "/", "Cookie: beta=no\r\n", "beta").await;
    until_name_with(&bed, "more.test", "/?v=two", "", "lone").await;
    bed.until_name("more.test", "/", "plain").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");

    // A new test, and one that is not valid: that Service gets nothing, although it comes first.
    let text = text.replace("cookie(staging) -m found", "path } or { always_true")
        + &ingress("long", &[root("long")]);
    bed.put("all.yaml", &text);
    bed.until_name("acl.test", "/path-in-bug", "long").await;
    assert_eq!(name_with(&bed, "acl.test", "/path-on-bug", "").await, "plain");
    until_name_with(&bed, "acl.test", "/", "Cookie: staging=1\r\n", "plain").await;
    bed.until_logged(&["value-invalid", "haproxy.org/route-acl", "default/staging"]).await;
    bed.proves(&["route-acl"]);
});

on_every_branch!(paths_can_be_regular_expressions, |bed| async move {
    let _echoes = echoes(&bed, &["exact", "prefix", "short", "long", "root", "wild", "any", "canary"]).await;
    let regex = |name: &str, rules: &[(&str, &str, &str, &str)]| {
        ingress_with(name, "2024-01-01T00:00:00Z", "haproxy.org/path-type: regex", rules, "")
    };
    let rules = [
        ("a.test", "Exact", "/user/1", "exact"),
        ("a.test", "Prefix", "/user/prefix", "prefix"),
        ("a.test", SPECIFIC, "/user/[0-9]+$", "long"),
        ("a.test", SPECIFIC, "'/user/.*'", "short"),
        ("a.test", "Prefix", "/", "root"),
        ("*.wild.test", SPECIFIC, "'/(x|y)\\.html?$'", "wild"),
        ("", SPECIFIC, "/any/[^/]+/z", "any"),
    ];
    bed.put("regex.yaml", &regex("regex", &rules));
    bed.until_name("a.test", "/user/12", "long").await;
    bed.until_settled().await;
    for (host, path, name) in [
        ("a.test", "/user/1", "exact"),
        ("a.test", "/user/1?q", "exact"),
        ("a.test", "/user/prefix/1", "prefix"),
        ("a.test", "/user/12", "long"),
        ("a.test", "/user/12?q=a", "long"),
        ("a.test", "/user/12a", "short"),
        ("a.test", "/user/", "short"),
        // Case matters, and the beginning.
        ("a.test", "/User/12", "root"),
        ("a.test", "/x/user/12", "root"),
        ("a.test", "/", "root"),
        ("b.wild.test", "/x.htm", "wild"),
        ("b.wild.test", "/y.html", "wild"),
        ("b.wild.test", "/yxhtml", "404"),
        ("b.c.wild.test", "/x.html", "404"),
        ("wildXtest", "/x.html", "404"),
        ("unknown.test", "/any/1/z/more", "any"),
        ("unknown.test", "/any/1/2/z", "404"),
        ("a.test", "/any/1/z", "root"),
    ] {
        assert_eq!(name_with(&bed, host, path, "").await, name, "{host}{path}");
    }
    let worker = bed.worker().await;
    // A new one goes where it belongs, before the shorter one.
    let more = [("a.test", SPECIFIC, "'/user/[a-z]+/(settings|mail)'", "any")];
    bed.put("more.yaml", &regex("more", &more));
    bed.until_name("a.test", "/user/joe/mail", "any").await;
    assert_eq!(name_with(&bed, "a.test", "/user/joe", "").await, "short");
    if bed.branch.has_dynamic_servers() {
        assert_eq!(bed.worker().await, worker, "no reload was needed");
    }
    let worker = bed.worker().await;
    // Changed and removed ones need no new place.
    bed.put("more.yaml", &regex("more", &[(more[0].0, more[0].1, more[0].2, "wild")]));
    bed.until_name("a.test", "/user/joe/mail", "wild").await;
    bed.remove("more.yaml");
    bed.until_name("a.test", "/user/joe/mail", "short").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    // One that HAProxy might refuse has no effect alone.
    bed.put(
        "bad.yaml",
        &regex("bad", &[("a.test", SPECIFIC, "'/((a+)+'", "any"), ("a.test", SPECIFIC, "/good", "any")]),
    );
    bed.until_name("a.test", "/goods", "any").await;
    bed.until_logged(&["path-invalid", "default/bad", "((a+)+"]).await;
    // A canary of a regular expression.
    let canary = ingress_with(
        "canary",
        "2024-01-01T00:00:00Z",
        "haproxy.org/path-type: regex\nhaproxy.org/canary: \"true\"\nhaproxy.org/canary-weight: \"100\"",
        &[("a.test", SPECIFIC, "/good", "canary")],
        "",
    );
    bed.put("canary.yaml", &canary);
    bed.until_name("a.test", "/good/x", "canary").await;
    bed.proves(&["path-type"]);
});
