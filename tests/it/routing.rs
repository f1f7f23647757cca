//! Canaries, conditions, regular expressions, redirects, backends of one's own: what decides where a request goes beyond host
//! and path.

use std::collections::BTreeMap;

use crate::support::client::{self, Answer};
use crate::support::manifests::{endpoints, ingress, ingress_with, service};
use crate::support::{Bed, Branch, Echo, until};

const SPECIFIC: &str = "ImplementationSpecific";

/// Services of these names with an echo server each.
async fn echoes(bed: &Bed, names: &[&str]) -> Vec<Echo> {
    let mut echoes = Vec::new();
    let mut text = String::new();
    for name in names {
        let echo = Echo::start(name).await;
        text += &(service(name) + &endpoints(name, &[echo.address]));
        echoes.push(echo);
    }
    bed.put("services.yaml", &text);
    echoes
}

/// A Service with an annotation.
fn service_with(name: &str, annotation: &str) -> String {
    service(name).replace(
        "  namespace: default\n",
        &format!("  namespace: default\n  annotations:\n    {annotation}\n"),
    )
}

/// `GET` with further header lines.
async fn get_with(bed: &Bed, host: &str, path: &str, headers: &str) -> Result<Answer, String> {
    let stream = tokio::net::TcpStream::connect(bed.http()).await.map_err(|e| e.to_string())?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n");
    client::exchange(stream, &request).await
}

/// Who answers a request with these headers.
async fn name_with(bed: &Bed, host: &str, path: &str, headers: &str) -> String {
    let answer = get_with(bed, host, path, headers).await.unwrap_or_else(|e| panic!("{host}{path}: {e}"));
    if answer.status == 200 { answer.name().to_owned() } else { answer.status.to_string() }
}

/// Waits until this one answers a request with these headers.
async fn until_name_with(bed: &Bed, host: &str, path: &str, headers: &str, name: &str) {
    until(&format!("{name} to answer {host}{path} with {headers:?}"), || async {
        match name_with(bed, host, path, headers).await {
            found if found == name => Ok(()),
            found => Err(found),
        }
    })
    .await;
}

/// How many of so many requests each answered.
async fn shares(bed: &Bed, host: &str, requests: usize) -> BTreeMap<String, usize> {
    let mut shares = BTreeMap::new();
    for _ in 0..requests {
        *shares.entry(name_with(bed, host, "/", "").await).or_default() += 1;
    }
    shares
}

/// Waits until about this part (per cent) of 400 requests goes to the canary.
async fn until_share(bed: &Bed, host: &str, percent: usize) {
    until(&format!("{percent} % of {host} to reach the canary"), || async {
        let found = shares(bed, host, 400).await;
        let canary = found.get("canary").copied().unwrap_or(0);
        let others = found.get("main").copied().unwrap_or(0);
        // Of 400 draws the standard deviation is at most 10.
        let bounds = match percent {
            0 => 0..=0,
            100 => 400..=400,
            _ => (percent * 4).saturating_sub(60)..=percent * 4 + 60,
        };
        if bounds.contains(&canary) && canary + others == 400 { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .await;
}

fn canary(annotations: &str, host: &str) -> String {
    let annotations = format!("haproxy.org/canary: \"true\"\n{annotations}");
    ingress_with("canary", "2020-01-01T00:00:00Z", &annotations, &[(host, "Prefix", "/", "canary")], "")
}

fn weight(weight: u32) -> String {
    format!("haproxy.org/canary-weight: \"{weight}\"")
}

on_every_branch!(a_canary_takes_its_part_live, |bed| async move {
    let _echoes = echoes(&bed, &["main", "canary"]).await;
    bed.put("canary.yaml", &canary(&weight(50), "shop.test"));
    bed.put("main.yaml", &ingress("main", &[("shop.test", "Prefix", "/", "main")]));
    until_share(&bed, "shop.test", 50).await;
    let worker = bed.worker().await;
    for percent in [0, 100, 50, 10, 0] {
        bed.put("canary.yaml", &canary(&weight(percent), "shop.test"));
        until_share(&bed, "shop.test", percent as usize).await;
    }
    // The same part of another total.
    let of_total = weight(300) + "\nhaproxy.org/canary-weight-total: \"1000\"";
    bed.put("canary.yaml", &canary(&of_total, "shop.test"));
    until_share(&bed, "shop.test", 30).await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    assert!(!bed.log().contains("route-conflict"), "{}", bed.log_tail());

    // Without a main Ingress it gets nothing, and says so; the host is not known any more.
    bed.put("canary.yaml", &canary(&weight(100), "shop.test"));
    until_share(&bed, "shop.test", 100).await;
    bed.remove("main.yaml");
    bed.until_status("shop.test", "/", 404).await;
    bed.until_logged(&["canary-without-main", "default/canary", "shop.test/"]).await;
    bed.put("main.yaml", &ingress("main", &[("shop.test", "Prefix", "/", "main")]));
    until_share(&bed, "shop.test", 100).await;
    bed.remove("canary.yaml");
    until_share(&bed, "shop.test", 0).await;
    // A canary that is not a clear one takes nothing, although it is older.
    bed.put("canary.yaml", &canary(&weight(100), "shop.test").replace("\"true\"", "\"perhaps\""));
    bed.until_logged(&["value-invalid", "haproxy.org/canary", "perhaps"]).await;
    until_share(&bed, "shop.test", 0).await;
    bed.proves(&["canary", "canary-weight", "canary-weight-total"]);
});

on_every_branch!(headers_and_cookies_lead_to_a_canary_live, |bed| async move {
    let _echoes = echoes(&bed, &["main", "canary"]).await;
    bed.put("main.yaml", &ingress("main", &[("shop.test", "Prefix", "/", "main")]));
    let by = "haproxy.org/canary-by-header: X-Canary\nhaproxy.org/canary-by-cookie: canary\n";
    bed.put("canary.yaml", &canary(&format!("{by}{}", weight(0)), "shop.test"));
    until_name_with(&bed, "shop.test", "/a", "x-canary: always\r\n", "canary").await;
    bed.until_settled().await;
    let worker = bed.worker().await;
    let check = async |cases: &[(&str, &str)]| {
        for (headers, name) in cases {
            assert_eq!(name_with(&bed, "shop.test", "/a", headers).await, *name, "{headers}");
        }
    };
    check(&[
        ("", "main"),
        ("x-canary: never\r\n", "main"),
        ("x-canary: perhaps\r\n", "main"),
        ("x-canary: always\r\nx-canary: never\r\n", "canary"),
        ("Cookie: canary=always\r\n", "canary"),
        ("Cookie: a=b; canary=always; c=d\r\n", "canary"),
        ("Cookie: canary=never\r\n", "main"),
        ("Cookie: Canary=always\r\n", "main"),
        // The header comes first.
        ("x-canary: never\r\nCookie: canary=always\r\n", "main"),
        ("x-canary: always\r\nCookie: canary=never\r\n", "canary"),
        ("x-canary: other\r\nCookie: canary=always\r\n", "canary"),
        ("x-canary: always|x\r\n", "main"),
    ])
    .await;
    // They also keep a request away from it.
    bed.put("canary.yaml", &canary(&format!("{by}{}", weight(100)), "shop.test"));
    until_name_with(&bed, "shop.test", "/a", "", "canary").await;
    bed.until_settled().await;
    check(&[
        ("x-canary: perhaps\r\n", "canary"),
        ("x-canary: never\r\n", "main"),
        ("Cookie: canary=never\r\n", "main"),
    ])
    .await;
    // A value of one's own instead of the two words.
    let value = format!("{by}haproxy.org/canary-by-header-value: \"be,ta\"\n{}", weight(0));
    bed.put("canary.yaml", &canary(&value, "shop.test"));
    until_name_with(&bed, "shop.test", "/a", "", "main").await;
    until_name_with(&bed, "shop.test", "/a", "x-canary: be,ta\r\n", "canary").await;
    bed.until_settled().await;
    check(&[
        ("", "main"),
        ("x-canary: always\r\n", "main"),
        ("x-canary: never\r\nCookie: canary=always\r\n", "canary"),
    ])
    .await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    // Others than this route never notice.
    bed.put("other.yaml", &ingress("other", &[("other.test", "Prefix", "/", "main")]));
    until_name_with(&bed, "other.test", "/", "x-canary: be,ta\r\n", "main").await;
    assert_eq!(bed.worker().await, worker, "no reload was needed");
    bed.proves(&["canary-by-header", "canary-by-header-value", "canary-by-cookie"]);
});

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
