//! Backends of Services.

use super::build::{ingress, service, service_with, settings, slice};
use super::{check, show, translated};
use crate::cluster::{Object, Service};
use crate::translate::Settings;

fn expose(service: &str) -> Object {
    ingress("a/x").default_backend(service).into()
}

fn servers(settings: Settings, objects: impl IntoIterator<Item = Object>) -> String {
    let translator = translated(settings, objects);
    let shown = show(&translator);
    shown.lines().find_map(|line| line.strip_prefix("a_web_80:")).unwrap_or("no backend").trim().to_owned()
}

#[test]
fn slices_are_joined_by_the_name_of_the_port() {
    let objects = [
        expose("web:http"),
        service("a/web", &["http=80", "admin=81"]),
        slice("a/web-1", "web", &["http=8080", "admin=9090"], &["10.0.0.1", "10.0.0.2"]),
        slice("a/web-2", "web", &["http=8081"], &["10.0.0.2", "10.0.0.3"]),
        slice("a/web-3", "web", &["http=8080"], &["fd00::1", "10.0.0.1"]),
        slice("a/other", "other", &["http=8080"], &["10.0.0.9"]),
        slice("b/web", "web", &["http=8080"], &["10.0.0.8"]),
        slice("a/web-4", "web", &["8080"], &["10.0.0.7"]),
    ];
    let expected = "10.0.0.1:8080 10.0.0.2:8080 10.0.0.2:8081 10.0.0.3:8081 fd00::1:8080";
    assert_eq!(servers(settings(), objects), expected);
}

#[test]
fn conditions_of_endpoints() {
    let check = |publish, endpoints: &[&str], expected: &str| {
        let service =
            Object::Service(Service { publish_not_ready: publish, ..service_with("a/web", &["80"]) });
        let objects = [expose("web:80"), service, slice("a/s", "web", &["1"], endpoints)];
        assert_eq!(servers(settings(), objects), expected, "{endpoints:?}");
    };
    check(false, &["10.0.0.1", "10.0.0.2!", "10.0.0.3-", "10.0.0.4x"], "10.0.0.1:1 10.0.0.3:1 draining");
    check(false, &["10.0.0.2!", "10.0.0.3-", "10.0.0.4x"], "10.0.0.3:1");
    check(false, &["10.0.0.2!", "10.0.0.4x"], "");
    check(
        true,
        &["10.0.0.1", "10.0.0.2!", "10.0.0.3-", "10.0.0.4x"],
        "10.0.0.1:1 10.0.0.2:1 10.0.0.3:1 draining",
    );
    check(false, &["10.0.0.1-", "10.0.0.1", "10.0.0.1-", "10.0.0.1x"], "10.0.0.1:1");
}

#[test]
fn addresses_that_are_not_pods_are_refused() {
    let objects = || {
        let bad = [
            "127.0.0.1",
            "::1",
            "0.0.0.0",
            "169.254.169.254",
            "fe80::1",
            "224.0.0.1",
            "::ffff:127.0.0.2",
            "::",
        ];
        let good = ["10.0.0.1", "::ffff:10.0.0.1"];
        let slice = slice("a/s", "web", &["1"], &[&bad[..], &good[..]].concat());
        [expose("web:80"), service("a/web", &["80"]), slice]
    };
    assert_eq!(servers(settings(), objects()), "10.0.0.1:1");
    assert_eq!(translated(settings(), objects()).problems().count(), 8);
    let local = Settings { loopback_endpoints: true, ..settings() };
    assert_eq!(servers(local, objects()), "10.0.0.1:1 127.0.0.1:1 127.0.0.2:1 ::1:1");
}

#[test]
fn routes_share_a_backend_and_the_last_one_takes_it_along() {
    let objects = [
        service("a/web", &["http=80"]),
        service("a/unused", &["80"]),
        ingress("a/x").rule("foo.bar", &["/ Prefix web:80"]).into(),
        ingress("a/y").rule("bar.foo", &["/ Prefix web:http"]).into(),
    ];
    check(settings(), objects, &["bar.foo/ -> a_web_80", "foo.bar/ -> a_web_80", "a_web_80:"]);
}
