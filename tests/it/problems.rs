//! Mistakes of users: named exactly, and harmless to everybody else.

use crate::support::manifests::{endpoints, ingress, ingress_with, service};
use crate::support::{Branch, Echo};

on_every_branch!(a_broken_file_keeps_its_last_good_objects, |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
    bed.put("a.yaml", &ingress("a", &[("a.test", "Prefix", "/", "app")]));
    bed.until_name("a.test", "/", "echo").await;
    bed.put("a.yaml", "kind: Ingress\n  metadata: [broken\n");
    bed.until_logged(&["manifest-invalid", "a.yaml"]).await;
    bed.put("b.yaml", &ingress("b", &[("b.test", "Prefix", "/", "app")]));
    bed.until_name("b.test", "/", "echo").await;
    assert_eq!(bed.get("a.test", "/").await.name(), "echo");
    bed.put("a.yaml", &ingress("a", &[("c.test", "Prefix", "/", "app")]));
    bed.until_name("c.test", "/", "echo").await;
    bed.until_status("a.test", "/", 404).await;
});

on_every_branch!(a_removed_api_version_says_what_to_write, |bed| async move {
    bed.put(
        "old.yaml",
        &ingress("old", &[("a.test", "Prefix", "/", "app")])
            .replace("networking.k8s.io/v1", "extensions/v1beta1"),
    );
    bed.until_logged(&["api-version-removed", "networking.k8s.io/v1"]).await;
});

on_every_branch!(invalid_parts_of_an_ingress_cost_only_themselves, |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
    bed.put(
        "a.yaml",
        &ingress_with(
            "a",
            "2024-01-01T00:00:00Z",
            "haproxy.org/ssl-redirect: perhaps",
            &[
                ("good.test", "Prefix", "/", "app"),
                ("bad host", "Prefix", "/", "app"),
                ("good.test", "Prefix", "no-slash", "app"),
                ("good.test", "Prefix", "\"/with space\"", "app"),
            ],
            "",
        ),
    );
    bed.until_name("good.test", "/", "echo").await;
    bed.until_logged(&["host-invalid", "bad host"]).await;
    bed.until_logged(&["path-invalid", "no-slash"]).await;
    bed.until_logged(&["value-invalid", "ssl-redirect", "perhaps"]).await;
});

on_every_branch!(a_resource_backend_answers_503, |bed| async move {
    bed.put("a.yaml", &ingress("a", &[("a.test", "Prefix", "/", "app")]).replace(
        "          service:\n            name: app\n            port:\n              number: 80\n",
        "          resource:\n            apiGroup: k8s.example.com\n            kind: StorageBucket\n            name: static\n",
    ));
    bed.until_status("a.test", "/", 503).await;
    bed.until_logged(&["backend-not-supported", "StorageBucket"]).await;
});

on_every_branch!(classes_decide_which_ingresses_are_served, ["--ingress-class=ours"], |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &(service("app") + &endpoints("app", &[echo.address])));
    bed.put("class.yaml", "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata:\n  name: theirs\nspec:\n  controller: example.com/other\n");
    let rules = |host: &'static str| [(host, "Prefix", "/", "app")];
    bed.put(
        "spec.yaml",
        &ingress_with("spec", "2024-01-01T00:00:00Z", "", &rules("spec.test"), "  ingressClassName: ours\n"),
    );
    bed.put(
        "annotation.yaml",
        &ingress_with(
            "annotation",
            "2024-01-01T00:00:00Z",
            "kubernetes.io/ingress.class: ours",
            &rules("annotation.test"),
            "",
        ),
    );
    bed.put(
        "theirs.yaml",
        &ingress_with(
            "theirs",
            "2024-01-01T00:00:00Z",
            "",
            &rules("theirs.test"),
            "  ingressClassName: theirs\n",
        ),
    );
    bed.put("none.yaml", &ingress_with("none", "2024-01-01T00:00:00Z", "", &rules("none.test"), ""));
    bed.until_name("spec.test", "/", "echo").await;
    bed.until_name("annotation.test", "/", "echo").await;
    assert_eq!(bed.get("theirs.test", "/").await.status, 404);
    assert_eq!(bed.get("none.test", "/").await.status, 404);
    // Our class becomes the default one: Ingresses without class are served.
    bed.put("ours.yaml", "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata:\n  name: ours\n  annotations:\n    ingressclass.kubernetes.io/is-default-class: \"true\"\nspec:\n  controller: outrigger.dev/ingress-controller\n");
    bed.until_name("none.test", "/", "echo").await;
    bed.remove("ours.yaml");
    bed.until_status("none.test", "/", 404).await;
});
