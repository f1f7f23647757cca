//! Raw configuration, and what happens when HAProxy refuses it.

use crate::support::manifests::{endpoints, ingress, ingress_with, service};
use crate::support::{Bed, Branch, Echo, until};

const OLD: &str = "2024-01-01T00:00:00Z";

/// The ConfigMap of the controller with these entries (`key: |` and lines).
fn config(entries: &[(&str, &[&str])]) -> String {
    let mut text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: default\n".to_owned();
    text.push_str(if entries.is_empty() { "data: {}\n" } else { "data:\n" });
    for (key, lines) in entries {
        text.push_str(&format!("  {key}: |\n"));
        for line in *lines {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text + "---\n"
}

/// An Ingress `NAME` for `NAME.test`, with a snippet.
fn with_snippet(name: &str, lines: &[&str]) -> String {
    let mut annotation = "haproxy.org/backend-config-snippet: |\n".to_owned();
    for line in lines {
        annotation.push_str(&format!("  {line}\n"));
    }
    ingress_with(name, OLD, &annotation, &[(&format!("{name}.test"), "Prefix", "/", "app")], "")
}

/// Reloads that were tried, refused ones included.
fn tries(bed: &Bed) -> usize {
    bed.log().matches("reloading haproxy because").count()
        + bed.log().matches("looking for the part that is wrong").count()
}

on_every_branch!(operators_write_into_every_section, ["--configmap=default/settings"], |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
    bed.put("a.yaml", &ingress("a", &[("a.test", "Prefix", "/", "app")]));
    bed.put(
        "settings.yaml",
        &config(&[
            ("global-config-snippet", &["# a comment of an operator", "node from-the-snippet"]),
            ("frontend-config-snippet", &["http-request deny deny_status 429 if { path_beg /limited }"]),
            ("stats-config-snippet", &["http-request deny deny_status 410 if { path /gone }"]),
            ("backend-config-snippet", &["http-request set-header X-Snippet \"of all\""]),
        ]),
    );
    bed.until_status("a.test", "/limited", 429).await;
    assert!(bed.get("a.test", "/").await.body.contains("x-snippet: of all"));
    let stats = bed.address(bed.ports.stats);
    until("410 from the statistics", || async {
        match crate::support::client::get(stats, "x", "/gone").await?.status {
            410 => Ok(()),
            other => Err(other.to_string()),
        }
    })
    .await;
    until("the name of the node", || async {
        let info = bed.master("@1 show info")?;
        if info.contains("node: from-the-snippet") { Ok(()) } else { Err(info) }
    })
    .await;
    // New Services find spare backends that have the snippet, too.
    bed.until_settled().await;
    let worker = bed.worker().await;
    bed.put("new.yaml", &(service("new") + &endpoints("new", &[echo.address])));
    bed.put("b.yaml", &ingress("b", &[("b.test", "Prefix", "/", "new")]));
    bed.until_name("b.test", "/", "echo").await;
    assert!(bed.get("b.test", "/").await.body.contains("x-snippet: of all"));
    if bed.branch.has_dynamic_servers() {
        assert_eq!(bed.worker().await, worker, "no reload was needed");
    }
    // A change, and nothing at all.
    bed.put(
        "settings.yaml",
        &config(&[("backend-config-snippet", &["http-request set-header X-Snippet other"])]),
    );
    until("the changed snippet", || async {
        let body = bed.get("a.test", "/").await.body;
        if body.contains("x-snippet: other") { Ok(()) } else { Err(body) }
    })
    .await;
    assert_eq!(bed.get("a.test", "/limited").await.status, 200);
    bed.put("settings.yaml", &config(&[]));
    until("no snippet", || async {
        let body = bed.get("a.test", "/").await.body;
        if body.contains("x-snippet") { Err(body) } else { Ok(()) }
    })
    .await;
    bed.proves(&[
        "global-config-snippet",
        "frontend-config-snippet",
        "stats-config-snippet",
        "backend-config-snippet",
    ]);
});

on_every_branch!(
    tenants_write_into_their_backends_where_they_may,
    ["--configmap=default/settings", "--enable-config-snippets"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        let snippet = "metadata:\n  annotations:\n    haproxy.org/backend-config-snippet: http-request set-header X-By service\n";
        bed.put(
            "app.yaml",
            &(service("app")
                + &endpoints("app", &[echo.address])
                + &service("own").replace("metadata:\n", snippet)
                + &endpoints("own", &[echo.address])),
        );
        bed.put(
            "settings.yaml",
            &config(&[("backend-config-snippet", &["http-request set-header X-By operator"])]),
        );
        bed.put(
            "a.yaml",
            &with_snippet("a", &["http-request set-header X-By ingress", "http-request set-header X-Two 2"]),
        );
        bed.put(
            "b.yaml",
            &ingress("b", &[("b.test", "Prefix", "/", "app"), ("own.test", "Prefix", "/", "own")]),
        );
        // A tenant's line that reaches beyond its backend takes the whole snippet with it.
        bed.put("c.yaml", &with_snippet("c", &["http-request set-header X-By c", "stats admin if TRUE"]));
        for (host, by) in [("a", "ingress"), ("b", "operator"), ("own", "service"), ("c", "operator")] {
            bed.until_name(&format!("{host}.test"), "/", "echo").await;
            let body = bed.get(&format!("{host}.test"), "/").await.body;
            assert!(body.contains(&format!("x-by: {by}")), "{host}: {body}");
            assert_eq!(body.contains("x-two: 2"), host == "a", "{host}: {body}");
        }
        bed.until_logged(&["snippet-refused", "Ingress default/c", "stats"]).await;
        bed.proves(&["backend-config-snippet"]);
    }
);

on_every_branch!(
    snippets_that_are_off_are_problems,
    ["--configmap=default/settings", "--disable-config-snippets=frontend,global"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
        bed.put(
            "settings.yaml",
            &config(&[
                ("global-config-snippet", &["node from-the-snippet"]),
                ("frontend-config-snippet", &["http-request deny"]),
                ("stats-config-snippet", &["http-request deny"]),
            ]),
        );
        bed.put("a.yaml", &with_snippet("a", &["http-request deny"]));
        bed.until_name("a.test", "/", "echo").await;
        bed.until_logged(&[
            "snippet-disabled",
            "Ingress default/a",
            "--enable-config-snippets",
            "controller.extraArgs",
        ])
        .await;
        for (key, kind) in [("global", "global"), ("frontend", "frontend"), ("stats", "frontend")] {
            let key = format!("{key}-config-snippet");
            bed.until_logged(&["snippet-disabled", &key, kind, "--disable-config-snippets"]).await;
        }
    }
);

on_every_branch!(
    a_refused_snippet_is_left_out_alone_and_comes_back_when_it_is_mended,
    ["--configmap=default/settings", "--enable-config-snippets", "--reload-interval=100ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
        bed.put("good.yaml", &with_snippet("good", &["http-request set-header X-By good"]));
        bed.until_name("good.test", "/", "echo").await;
        bed.until_settled().await;
        let before = tries(&bed);
        // The bad one, and at the same time changes of others: they wait for one reload more, and no longer.
        bed.put(
            "bad.yaml",
            &with_snippet("bad", &["http-request set-header X-By bad", "http-request no-such-action"]),
        );
        bed.put("other.yaml", &with_snippet("other", &["http-request set-header X-By other"]));
        bed.until_name("other.test", "/", "echo").await;
        bed.until_name("bad.test", "/", "echo").await;
        bed.until_logged(&["quarantined", "Ingress default/bad", "backend-config-snippet"]).await;
        until("the others' snippets", || async {
            for name in ["other", "good"] {
                let body = bed.get(&format!("{name}.test"), "/").await.body;
                if !body.contains(&format!("x-by: {name}")) {
                    return Err(body);
                }
            }
            Ok(())
        })
        .await;
        assert!(!bed.get("bad.test", "/").await.body.contains("x-by"), "the whole snippet is left out");
        if bed.branch >= Branch(2, 7) {
            let line = bed.until_logged(&["quarantined", "Ingress default/bad", "no-such-action"]).await;
            assert!(!line.contains(bed.path("etc").to_str().unwrap()), "no folders of ours: {line}");
            // Up to two reloads of good changes, and at most one refusal for each state of the bad one.
            assert!(tries(&bed) - before <= 4, "{} tries", tries(&bed) - before);
        }
        // While it is there, other changes go on without any refusal.
        bed.until_settled().await;
        let refusals = bed.log().matches("looking for the part").count();
        bed.put("later.yaml", &with_snippet("later", &["http-request set-header X-By later"]));
        bed.until_name("later.test", "/", "echo").await;
        assert_eq!(bed.log().matches("looking for the part").count(), refusals);
        // Mended.
        bed.put("bad.yaml", &with_snippet("bad", &["http-request set-header X-By mended"]));
        until("the mended snippet", || async {
            let body = bed.get("bad.test", "/").await.body;
            if body.contains("x-by: mended") { Ok(()) } else { Err(body) }
        })
        .await;
        bed.until_logged(&["mended:", "Ingress default/bad", "quarantined"]).await;
        bed.proves(&["backend-config-snippet"]);
    }
);

on_every_branch!(
    refused_snippets_of_operators_do_not_stop_anybody,
    ["--configmap=default/settings", "--reload-interval=100ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
        bed.put("a.yaml", &ingress("a", &[("a.test", "Prefix", "/", "app")]));
        bed.until_name("a.test", "/", "echo").await;
        bed.put(
            "settings.yaml",
            &config(&[
                ("global-config-snippet", &["no-such-setting"]),
                ("frontend-config-snippet", &["http-request deny deny_status 429 if { path_beg /limited }"]),
                ("stats-config-snippet", &["http-request deny if { no_such_fetch }"]),
                ("backend-config-snippet", &["http-request set-header X-By operator if no_such_acl"]),
            ]),
        );
        for key in ["global", "stats", "backend"] {
            bed.until_logged(&[
                "quarantined",
                "ConfigMap default/settings",
                &format!("{key}-config-snippet"),
            ])
            .await;
        }
        bed.until_status("a.test", "/limited", 429).await;
        bed.put("new.yaml", &(service("new") + &endpoints("new", &[echo.address])));
        bed.put("b.yaml", &ingress("b", &[("b.test", "Prefix", "/", "new")]));
        bed.until_name("b.test", "/", "echo").await;
        assert!(!bed.log().contains("configuration-refused"), "{}", bed.log_tail());
    }
);

on_every_branch!(
    a_restarted_controller_finds_the_bad_one_again,
    ["--enable-config-snippets", "--reload-interval=100ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
        bed.put("good.yaml", &with_snippet("good", &["http-request set-header X-By good"]));
        bed.put("bad.yaml", &with_snippet("bad", &["bogus"]));
        bed.until_logged(&["quarantined", "Ingress default/bad"]).await;
        bed.until_name("bad.test", "/", "echo").await;
        bed.until_settled().await;
        bed.stop_controller().await;
        bed.start_controller();
        bed.until_ready().await;
        for name in ["good", "bad"] {
            bed.until_name(&format!("{name}.test"), "/", "echo").await;
        }
        until("the good snippet", || async {
            let body = bed.get("good.test", "/").await.body;
            if body.contains("x-by: good") { Ok(()) } else { Err(body) }
        })
        .await;
        until("the second verdict", || async {
            let log = bed.log();
            let count = log
                .lines()
                .filter(|line| line.contains("[quarantined]") && !line.contains("mended:"))
                .count();
            if count >= 2 { Ok(()) } else { Err(format!("{count}")) }
        })
        .await;
    }
);

on_every_branch!(
    of_many_new_snippets_exactly_the_bad_ones_are_left_out,
    ["--enable-config-snippets", "--reload-interval=100ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
        bed.put("before.yaml", &ingress("before", &[("before.test", "Prefix", "/", "app")]));
        bed.until_name("before.test", "/", "echo").await;
        // A line that is wrong by itself, and one that is wrong only because of what it refers to.
        let all: String = (0..8)
            .map(|i| match i {
                2 => with_snippet("s2", &["http-request set-header X-By s2", "no-such-keyword"]),
                5 => with_snippet(
                    "s5",
                    &["http-request set-header X-By s5", "http-request track-sc0 src table no_such"],
                ),
                _ => with_snippet(&format!("s{i}"), &[&format!("http-request set-header X-By s{i}")]),
            })
            .collect();
        bed.put("all.yaml", &all);
        for i in 0..8 {
            bed.until_name(&format!("s{i}.test"), "/", "echo").await;
        }
        for name in ["s2", "s5"] {
            bed.until_logged(&["quarantined", &format!("Ingress default/{name},")]).await;
        }
        until("the good snippets", || async {
            for i in [0, 1, 3, 4, 6, 7] {
                let body = bed.get(&format!("s{i}.test"), "/").await.body;
                if !body.contains(&format!("x-by: s{i}")) {
                    return Err(format!("s{i}: {body}"));
                }
            }
            Ok(())
        })
        .await;
        for i in [0, 1, 3, 4, 6, 7] {
            let convicted = format!("Ingress default/s{i},");
            assert!(!bed.log().lines().any(|line| line.contains("quarantined") && line.contains(&convicted)));
        }
        for name in ["s2", "s5"] {
            assert!(!bed.get(&format!("{name}.test"), "/").await.body.contains("x-by"));
        }
        // Gone, they are no problem any more.
        bed.remove("all.yaml");
        bed.until_status("s2.test", "/", 404).await;
        bed.until_logged(&["mended:", "Ingress default/s2,", "quarantined"]).await;
    }
);

on_every_branch!(
    a_bad_certificate_and_a_bad_snippet_at_once_stop_nobody,
    ["--enable-config-snippets", "--reload-interval=100ms"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        // More new Services than there are spares, so that a reload is needed for the good ones, too.
        let good = crate::support::certificates::ecdsa("good", &["good.test"]);
        let mut weak = crate::support::certificates::ecdsa("weak", &["weak.test"]);
        // A key that does not belong to the certificate is found before HAProxy sees it.
        weak.key = crate::support::certificates::ecdsa("other", &["other.test"]).key;
        bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
        let secrets = crate::support::manifests::tls_secret("good", &good.certificate, &good.key)
            + &crate::support::manifests::tls_secret("weak", &weak.certificate, &weak.key);
        let spec = |host: &str| format!("  tls:\n  - hosts: [{host}.test]\n    secretName: {host}\n");
        let of = |host: &str| {
            ingress_with(host, OLD, "", &[(&format!("{host}.test"), "Prefix", "/", "app")], &spec(host))
        };
        let bad = with_snippet("bad", &["bogus"]);
        bed.put("all.yaml", &(secrets + &of("good") + &of("weak") + &bad));
        bed.until_name("bad.test", "/", "echo").await;
        bed.until_certificate("good.test", "good").await;
        bed.until_tls_name("good.test", "/", "echo").await;
        bed.until_logged(&["quarantined", "Ingress default/bad"]).await;
        bed.until_logged(&["certificate-invalid", "default/weak"]).await;
    }
);

on_every_branch!(
    snippets_look_into_pattern_files_that_change_live,
    ["--enable-config-snippets", "--configmap-patternfiles=default/patterns"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        let patterns = |lines: &str| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: patterns\n  namespace: default\ndata:\n  blocked: \"{lines}\"\n---\n"
            )
        };
        bed.put("patterns.yaml", &patterns("127.0.0.0/8\\n"));
        bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
        bed.put(
            "guarded.yaml",
            &with_snippet("guarded", &["http-request deny deny_status 403 if { src -f patterns/blocked }"]),
        );
        bed.put("open.yaml", &ingress("open", &[("open.test", "Prefix", "/", "app")]));
        bed.until_status("guarded.test", "/", 403).await;
        bed.until_name("open.test", "/", "echo").await;
        bed.until_settled().await;
        let worker = bed.worker().await;
        bed.put("patterns.yaml", &patterns("192.0.2.1\\n"));
        bed.until_name("guarded.test", "/", "echo").await;
        bed.put("patterns.yaml", &patterns("192.0.2.1\\n127.0.0.1\\n"));
        bed.until_status("guarded.test", "/", 403).await;
        assert_eq!(bed.worker().await, worker, "no reload was needed");
        bed.proves(&["backend-config-snippet"]);
    }
);

on_every_branch!(
    a_snippet_comes_back_with_the_pattern_file_that_it_missed,
    ["--enable-config-snippets", "--configmap-patternfiles=default/patterns"],
    |bed| async move {
        let echo = Echo::start("echo").await;
        bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
        bed.put(
            "guarded.yaml",
            &with_snippet("guarded", &["http-request deny deny_status 403 if { src -f patterns/blocked }"]),
        );
        bed.until_logged(&["quarantined", "Ingress default/guarded"]).await;
        bed.until_name("guarded.test", "/", "echo").await;
        bed.put(
            "patterns.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: patterns\n  namespace: default\ndata:\n  blocked: 127.0.0.0/8\n",
        );
        bed.until_status("guarded.test", "/", 403).await;
    }
);
