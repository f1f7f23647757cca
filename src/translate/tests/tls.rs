//! Certificates by host.

use super::build::{EC, EC2, RSA, config_map, ingress, name, secret, secret_with, service, settings};
use super::{check, translated};
use crate::cluster::Object;
use crate::translate::Settings;

#[test]
fn a_certificate_is_limited_to_the_hosts_of_its_ingress() {
    let objects = [
        secret("a/named", &EC),
        secret("a/rules", &RSA),
        ingress("a/x").tls(&["Foo.Bar", "*.foo.bar"], "named").into(),
        ingress("a/y").rule("one.bar", &[]).rule("", &[]).rule("bad_host", &[]).tls(&[], "rules").into(),
    ];
    check(
        settings(),
        objects,
        &[
            "one.bar/ -> nothing",
            "a/named Ecdsa for *.foo.bar foo.bar",
            "a/rules Rsa for one.bar",
            "! Ingress a/y, spec.rules[2].host: host-invalid",
        ],
    );
}

#[test]
fn one_certificate_of_each_key_type() {
    let objects = [
        secret("a/ec", &EC),
        secret("a/rsa", &RSA),
        secret("b/ec", &EC2),
        ingress("a/x").created(1).tls(&["foo.bar"], "rsa").tls(&["foo.bar"], "ec").into(),
        ingress("a/y").created(2).tls(&["foo.bar", "own.bar"], "ec").into(),
        ingress("b/z").created(3).tls(&["foo.bar", "z.bar"], "ec").into(),
    ];
    check(
        settings(),
        objects.clone(),
        &[
            "a/ec Ecdsa for foo.bar own.bar",
            "a/rsa Rsa for foo.bar",
            "b/ec Ecdsa for z.bar",
            "! Ingress b/z, spec.tls[0].secretName: certificate-conflict",
        ],
    );
    let message = translated(settings(), objects).problems().next().map(|p| p.message.clone());
    assert_eq!(
        message.as_deref(),
        Some(
            "Secret `b/ec` is not used for `foo.bar`: Ingress `a/x` already brings a certificate with ECDSA key in Secret `a/ec`"
        )
    );
}

#[test]
fn an_unusable_secret_leaves_its_hosts_to_the_default_certificate() {
    let objects = [
        Object::Secret(secret_with("a/broken", &[("tls.crt", "x"), ("tls.key", "y")])),
        ingress("a/x").tls(&["foo.bar"], "broken").tls(&["bar.foo"], "gone").into(),
    ];
    check(
        settings(),
        objects,
        &[
            "! Ingress a/x, spec.tls[0].secretName: certificate-invalid",
            "! Ingress a/x, spec.tls[1].secretName: secret-not-found",
        ],
    );
}

#[test]
fn the_default_certificate() {
    let flagged = || Settings { default_certificate: Some(name("a/ec")), ..settings() };
    let missing = translated(flagged(), []);
    assert_eq!(&missing.model().default_certificate[..], b"fallback");
    let problem = missing.problems().next().map(|p| (p.origin.to_string(), p.code.as_str()));
    assert_eq!(problem, Some(("flag --default-ssl-certificate".to_owned(), "secret-not-found")));

    let there = translated(flagged(), [secret("a/ec", &EC), ingress("a/x").tls(&["foo.bar"], "ec").into()]);
    assert!(there.model().default_certificate.starts_with(b"-----BEGIN CERTIFICATE-----\n"));
    assert_eq!(there.model().certificates.size(), 1, "it may be the certificate of hosts as well");
    assert_eq!(there.problems().count(), 0);
}

#[test]
fn tls_of_an_ingress_that_is_not_ours_does_not_count() {
    let objects = [
        secret("a/ec", &EC),
        service("a/web", &["80"]),
        ingress("a/x").class("other").tls(&["foo.bar"], "ec").into(),
    ];
    check(settings(), objects, &[]);
}

#[test]
fn the_default_certificate_of_the_config_map_counts_without_the_flag() {
    let objects =
        || [secret("a/ec", &EC), secret("b/ec2", &EC2), config_map(&[("ssl-certificate", "b/ec2")])];
    let found = translated(settings(), objects());
    let own = translated(Settings { default_certificate: Some(name("b/ec2")), ..settings() }, objects());
    assert_eq!(found.model().default_certificate, own.model().default_certificate);
    let flagged = translated(Settings { default_certificate: Some(name("a/ec")), ..settings() }, objects());
    assert_ne!(flagged.model().default_certificate, own.model().default_certificate);
}

#[test]
fn one_secret_serves_hosts_that_ask_clients_and_hosts_that_do_not() {
    let ingress = |name, host| ingress(name).rule(host, &["/ Prefix web:80"]).tls(&[host], "ec");
    let objects = [
        secret("a/ec", &EC),
        secret("a/ca", &EC2),
        service("a/web", &["80"]),
        ingress("a/open", "open.test").into(),
        ingress("a/asks", "asks.test").annotation("haproxy.org/client-ca", "ca").into(),
        // One that is shown a wildcard's certificate.
        super::build::ingress("a/wild").tls(&["*.wild.test"], "wild").into(),
        secret("a/wild", &RSA),
        super::build::ingress("a/guest")
            .rule("x.wild.test", &["/ Prefix web:80"])
            .annotation("haproxy.org/client-ca", "ca")
            .into(),
        // Another path of the same host, and a host with the default certificate.
        super::build::ingress("a/more").rule("asks.test", &["/more Prefix web:80"]).into(),
        super::build::ingress("a/bare")
            .rule("bare.test", &["/ Prefix web:80"])
            .annotation("haproxy.org/client-ca", "ca")
            .annotation("haproxy.org/client-crt-optional", "yes")
            .into(),
    ];
    let there = translated(settings(), objects);
    let shown = super::show(&there);
    let certificates: Vec<&str> = shown.lines().filter(|line| line.contains(" for ")).collect();
    assert_eq!(
        certificates,
        [
            "default for bare.test, clients optional",
            "a/ec Ecdsa for open.test",
            "a/ec Ecdsa for asks.test, clients required",
            "a/wild Rsa for *.wild.test",
            "a/wild Rsa for x.wild.test, clients required",
        ]
    );
    let backend_of = |path: &str| shown.lines().find_map(|line| line.strip_prefix(path)).unwrap_or_default();
    assert!(backend_of("asks.test/ -> ").starts_with("302 a_web_80_"), "{shown}");
    assert_eq!(backend_of("asks.test/ -> 302 "), backend_of("asks.test/more -> "), "{shown}");
    assert_eq!(backend_of("open.test/ -> "), "302 a_web_80", "{shown}");
    assert!(there.model().global.needs.contains(&crate::model::Need::ClientChecks));
}

#[test]
fn secrets_of_other_namespaces_are_for_the_config_map() {
    let objects = |data: &[(&str, &str)]| {
        [
            secret("b/ca", &EC),
            service("a/web", &["80"]),
            config_map(data),
            ingress("a/x")
                .rule("foo.bar", &["/ Prefix web:80"])
                .annotation("haproxy.org/client-ca", "b/ca")
                .into(),
        ]
    };
    let refused = translated(settings(), objects(&[]));
    let messages: Vec<String> = refused.problems().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "Ingress a/x, haproxy.org/client-ca: Secret `b/ca` is of another namespace; all requests of the hosts are refused \
             [secret-forbidden]; hint: put the Secret into the namespace of the Ingress"
        ]
    );
    let allowed = translated(settings(), objects(&[("client-ca", "b/ca")]));
    assert!(allowed.model().global.tls.check.as_ref().is_some_and(|check| check.required));
}

#[test]
fn tls_is_passed_through_for_the_root_of_a_host() {
    let objects = [
        service("a/web", &["80"]),
        ingress("a/pass")
            .rule("foo.bar", &["/ Prefix web:80", "/sub Prefix web:80"])
            .rule("*.bar", &["/ Prefix web:80"])
            .rule("", &["/ Prefix web:80"])
            .annotation("haproxy.org/ssl-passthrough", "true")
            .into(),
        ingress("a/old").created(-1).rule("old.test", &["/a Exact web:80"]).into(),
        ingress("a/late")
            .rule("old.test", &["/ Prefix web:80"])
            .annotation("haproxy.org/ssl-passthrough", "true")
            .annotation("haproxy.org/ssl-redirect", "false")
            .into(),
    ];
    let there = translated(settings(), objects);
    let shown = super::show(&there);
    let lines: Vec<&str> = shown
        .lines()
        .filter(|line| line.contains("=>") || line.starts_with('!') || line.contains("302"))
        .collect();
    let backend = there.model().passthroughs.values().next().map(ToString::to_string).unwrap_or_default();
    assert_eq!(
        lines,
        [
            "foo.bar/ -> 302 fixed_404",
            "*.bar/ -> 302 fixed_404",
            &format!("Exact(\"foo.bar\") => {backend}"),
            &format!("Wildcard(\"bar\") => {backend}"),
            "! Ingress a/late, haproxy.org/ssl-passthrough: passthrough-conflict",
            "! Ingress a/pass, haproxy.org/ssl-passthrough: key-ineffective",
            "! Ingress a/pass, haproxy.org/ssl-passthrough: key-ineffective",
            "! Ingress a/pass, spec.rules[0].http.paths[1]: passthrough-conflict",
        ],
        "{shown}"
    );
    let policy =
        |name: &str| there.model().backends.values().find(|b| b.name.as_str() == name).map(|b| b.policy.mode);
    assert_eq!(policy(&backend), Some(crate::model::Mode::Tcp));
}
