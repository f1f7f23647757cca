//! Services of type ExternalName.

use super::app;
use super::pods::{Authority, Kind, Pod};
use crate::support::manifests::ingress_with;
use crate::support::{Branch, Echo};

/// A Service of type ExternalName without ports, and the host `NAME.test` that leads to this port of it.
fn outside(name: &str, external: &str, port: u16, annotations: &str) -> String {
    let host = format!("{name}.test");
    let ingress =
        ingress_with(name, "2024-01-01T00:00:00Z", annotations, &[(&host, "Prefix", "/", name)], "");
    format!(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n  namespace: default\nspec:\n  type: ExternalName\n  externalName: {external}\n---\n"
    ) + &ingress.replace("number: 80", &format!("number: {port}"))
}

on_every_branch!(a_name_outside_is_resolved_by_haproxy, |bed| async move {
    let echo = Echo::start("echo").await;
    let port = echo.address.port();
    bed.put("app.yaml", &outside("app", "localhost", port, ""));
    let answer = bed.until_name("app.test", "/", "echo").await;
    assert!(answer.body.contains("host: app.test"), "{}", answer.body);
    // An address is a name, too; one that nobody knows costs only itself.
    bed.put("literal.yaml", &outside("literal", "127.0.0.1", port, ""));
    bed.put("nobody.yaml", &outside("nobody", "does-not-exist.invalid", port, ""));
    bed.until_name("literal.test", "/", "echo").await;
    bed.until_status("nobody.test", "/", 503).await;
    bed.put("bad.yaml", &outside("bad", "169.254.169.254", 80, ""));
    bed.until_logged(&["endpoint-refused", "169.254.169.254"]).await;
    bed.until_status("bad.test", "/", 503).await;
    assert_eq!(bed.get("app.test", "/").await.name(), "echo");

    // TLS: the name is said, and the certificate must have it.
    let authority = Authority::new("authority");
    let right =
        Pod::start("right", Kind::tls(&authority.sign("x", &["localhost"]), &["http/1.1"], None)).await;
    let wrong =
        Pod::start("wrong", Kind::tls(&authority.sign("x", &["other.test"]), &["http/1.1"], None)).await;
    let secret = crate::support::manifests::tls_secret("ca", &authority.certificate, "");
    bed.put("ca.yaml", &secret);
    bed.put("right.yaml", &outside("right", "localhost", right.address.port(), "haproxy.org/server-ca: ca"));
    bed.put("wrong.yaml", &outside("wrong", "localhost", wrong.address.port(), "haproxy.org/server-ca: ca"));
    let answer = bed.until_name("right.test", "/", "right").await;
    assert!(answer.body.contains("tls: localhost"), "{}", answer.body);
    bed.until_status("wrong.test", "/", 503).await;
    assert!(!bed.log().contains("mending"), "{}", bed.log_tail());
    // It becomes a Service with endpoints.
    bed.put("app.yaml", &app("app", "", &[echo.address]));
    bed.until_name("app.test", "/", "echo").await;
});

on_every_branch!(names_outside_can_be_switched_off, ["--disable-service-external-name"], |bed| async move {
    let echo = Echo::start("echo").await;
    bed.put("app.yaml", &outside("app", "localhost", echo.address.port(), ""));
    bed.until_status("app.test", "/", 503).await;
    bed.until_logged(&["backend-not-supported", "switched off"]).await;
});
