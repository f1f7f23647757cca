//! Which path of which host goes where.

use crate::support::manifests::{endpoints, ingress, ingress_with, service};
use crate::support::{Branch, Echo};

on_every_branch!(unmatched_requests_get_404_from_haproxy_itself, |bed| async move {
    let answer = bed.get("nobody.test", "/").await;
    assert_eq!((answer.status, answer.body.as_str()), (404, "default backend - 404"));
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.header("content-length"), Some("21"));
});

on_every_branch!(paths_match_exactly_or_by_element_and_hosts_by_precedence, |bed| async move {
    let (exact, prefix, root, wild, any) = (
        Echo::start("exact").await,
        Echo::start("prefix").await,
        Echo::start("root").await,
        Echo::start("wild").await,
        Echo::start("any").await,
    );
    let mut text = String::new();
    for (name, echo) in
        [("exact", &exact), ("prefix", &prefix), ("root", &root), ("wild", &wild), ("any", &any)]
    {
        text.push_str(&service(name));
        text.push_str(&endpoints(name, &[echo.address]));
    }
    text.push_str(&ingress(
        "a",
        &[
            ("foo.bar", "Exact", "/a", "exact"),
            ("foo.bar", "Prefix", "/a", "prefix"),
            ("foo.bar", "Prefix", "/a/b/", "root"),
            ("foo.bar", "ImplementationSpecific", "/impl", "prefix"),
            ("*.wild.test", "Prefix", "/", "wild"),
            ("known.wild.test", "Prefix", "/only", "exact"),
            ("", "Prefix", "/any", "any"),
        ],
    ));
    bed.put("all.yaml", &text);
    bed.until_name("foo.bar", "/a", "exact").await;
    // Live, one entry comes after the other.
    bed.until_settled().await;

    for (host, path, name) in [
        ("foo.bar", "/a/", "prefix"),
        ("foo.bar", "/a/x", "prefix"),
        ("foo.bar", "/a?q=/x", "exact"),
        ("foo.bar", "/a/b", "root"),
        ("foo.bar", "/a/b/c", "root"),
        ("foo.bar", "/a/bc", "prefix"),
        ("foo.bar", "/impl/x", "prefix"),
        ("FOO.Bar", "/a", "exact"),
        ("foo.bar.", "/a", "exact"),
        ("foo.bar:8080", "/a", "exact"),
        ("x.wild.test", "/deep/path", "wild"),
        ("known.wild.test", "/only", "exact"),
        ("unknown.test", "/any", "any"),
        ("[::1]", "/any", "any"),
        ("[::1]:8080", "/any/x", "any"),
        ("127.0.0.1", "/any", "any"),
    ] {
        let answer = bed.get(host, path).await;
        assert_eq!((answer.status, answer.name()), (200, name), "{host}{path}");
    }
    for (host, path) in [
        ("foo.bar", "/ab"),
        ("foo.bar", "/A"),
        ("foo.bar", "/"),
        // A known host without a matching path goes to the default backend, not to a wildcard or a rule without host.
        ("foo.bar", "/any"),
        ("known.wild.test", "/"),
        // The star of a wildcard is exactly one label.
        ("x.y.wild.test", "/"),
        ("wild.test", "/"),
        ("unknown.test", "/anything"),
    ] {
        let answer = bed.get(host, path).await;
        assert_eq!((answer.status, answer.body.as_str()), (404, "default backend - 404"), "{host}{path}");
    }
});

on_every_branch!(a_new_route_on_an_existing_service_is_live_without_a_reload, |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
    bed.put("a.yaml", &ingress("a", &[("a.test", "Prefix", "/", "app")]));
    bed.until_name("a.test", "/", "echo").await;
    let worker = bed.worker().await;

    bed.put("b.yaml", &ingress("b", &[("b.test", "Prefix", "/x", "app"), ("b.test", "Exact", "/y", "app")]));
    bed.until_name("b.test", "/x/1", "echo").await;
    bed.until_name("b.test", "/y", "echo").await;
    bed.put("b.yaml", &ingress("b", &[("c.test", "Prefix", "/x", "app")]));
    bed.until_name("c.test", "/x", "echo").await;
    bed.until_status("b.test", "/x", 404).await;
    bed.remove("b.yaml");
    bed.until_status("c.test", "/x", 404).await;
    assert_eq!(bed.get("a.test", "/").await.name(), "echo");
    assert_eq!(bed.worker().await, worker, "no reload was needed");
});

on_every_branch!(the_oldest_default_backend_answers_what_nothing_else_matches, |bed| async move {
    let (old, young) = (Echo::start("old").await, Echo::start("young").await);
    for (name, echo) in [("old", &old), ("young", &young)] {
        bed.put(&format!("{name}-service.yaml"), &(service(name) + &endpoints(name, &[echo.address])));
    }
    let default = |name: &str| {
        format!("  defaultBackend:\n    service:\n      name: {name}\n      port:\n        number: 80\n")
    };
    let rules = [("known.test", "Prefix", "/app", "young")];
    bed.put("young.yaml", &ingress_with("young", "2024-06-01T00:00:00Z", "", &rules, &default("young")));
    bed.until_name("nobody.test", "/", "young").await;
    bed.put("old.yaml", &ingress_with("old", "2023-06-01T00:00:00Z", "", &[], &default("old")));
    bed.until_name("nobody.test", "/", "old").await;
    bed.until_name("known.test", "/other", "old").await;
    assert_eq!(bed.get("known.test", "/app").await.name(), "young");
    bed.until_logged(&["default-backend-conflict", "default/young"]).await;
    bed.remove("old.yaml");
    bed.until_name("nobody.test", "/", "young").await;
});

on_every_branch!(
    a_default_backend_service_replaces_the_404,
    ["--default-backend-service=default/fallback"],
    |bed| async move {
        assert_eq!(bed.get("nobody.test", "/").await.status, 404);
        let echo = Echo::start("fallback").await;
        bed.put("fallback.yaml", &(service("fallback") + &endpoints("fallback", &[echo.address])));
        bed.until_name("nobody.test", "/x", "fallback").await;
        bed.remove("fallback.yaml");
        bed.until_status("nobody.test", "/x", 404).await;
    }
);

on_every_branch!(the_older_of_two_ingresses_keeps_a_path, |bed| async move {
    let (one, two) = (Echo::start("one").await, Echo::start("two").await);
    for (name, echo) in [("one", &one), ("two", &two)] {
        bed.put(&format!("{name}-service.yaml"), &(service(name) + &endpoints(name, &[echo.address])));
    }
    let claim = |name: &str, created: &str, service: &str| {
        ingress_with(name, created, "", &[("foo.bar", "Prefix", "/", service)], "")
    };
    bed.put("a.yaml", &claim("a", "2024-02-01T00:00:00Z", "one"));
    bed.until_name("foo.bar", "/", "one").await;
    bed.put("b.yaml", &claim("b", "2024-01-01T00:00:00Z", "two"));
    bed.until_name("foo.bar", "/", "two").await;
    bed.until_logged(&["route-conflict", "default/a"]).await;
    bed.remove("b.yaml");
    bed.until_name("foo.bar", "/", "one").await;
});

on_every_branch!(a_missing_service_or_port_answers_503_on_that_path_only, |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address]) + &service("empty")));
    bed.put(
        "a.yaml",
        &ingress(
            "a",
            &[
                ("foo.bar", "Prefix", "/", "app"),
                ("foo.bar", "Prefix", "/missing", "missing"),
                ("foo.bar", "Prefix", "/empty", "empty"),
            ],
        ),
    );
    bed.until_name("foo.bar", "/", "echo").await;
    bed.until_status("foo.bar", "/missing", 503).await;
    bed.until_status("foo.bar", "/empty", 503).await;
    bed.until_logged(&["service-not-found", "default/missing"]).await;
    // The Service appears later: its path comes to life.
    bed.put("later.yaml", &(service("missing") + &endpoints("missing", &[echo.address])));
    bed.until_name("foo.bar", "/missing", "echo").await;
});
