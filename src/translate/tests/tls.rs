//! Certificates by host.

use super::build::{EC, EC2, RSA, ingress, name, secret, secret_with, service, settings};
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
