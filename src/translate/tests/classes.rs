//! Which Ingresses are served.

use super::build::{CONTROLLER, class, ingress, settings};
use super::translated;
use crate::cluster::Object;
use crate::translate::Settings;

const OTHER: &str = "example.org/other";

fn served(
    settings: Settings,
    classes: impl IntoIterator<Item = Object>,
    spec: Option<&str>,
    annotation: Option<&str>,
) -> bool {
    let mut ingress = ingress("a/x").rule("foo.bar", &[]);
    if let Some(spec) = spec {
        ingress = ingress.class(spec);
    }
    if let Some(annotation) = annotation {
        ingress = ingress.annotation("kubernetes.io/ingress.class", annotation);
    }
    let objects = classes.into_iter().chain([ingress.into()]);
    !translated(settings, objects).model().routes.is_empty()
}

fn only(name: &str) -> Settings {
    Settings { ingress_class: Some(name.to_owned()), ..settings() }
}

#[test]
fn a_named_class_is_ours_by_its_controller() {
    let classes = || [class("mine", CONTROLLER, None), class("other", OTHER, None)];
    assert!(served(settings(), classes(), Some("mine"), None));
    assert!(!served(settings(), classes(), Some("other"), None));
    assert!(!served(settings(), classes(), Some("gone"), None));
    assert!(served(settings(), classes(), None, Some("mine")), "old annotation");
    assert!(!served(settings(), classes(), Some("other"), Some("mine")), "the field wins");
    for (key, class, is_served) in [
        ("haproxy.org/ingress.class", "mine", true),
        ("haproxy.org/ingress.class", "other", false),
        ("outrigger.dev/ingress.class", "mine", true),
        ("outrigger.dev/ingress.class", "other", false),
    ] {
        let ingress = ingress("a/x").rule("foo.bar", &[]).annotation(key, class);
        let translator = translated(settings(), classes().into_iter().chain([ingress.into()]));
        assert_eq!(!translator.model().routes.is_empty(), is_served, "{key}: {class}");
        assert_eq!(translator.problems().count(), 0, "{key}: {class}");
    }
    assert!(served(settings(), classes(), Some("mine"), Some("other")), "the field wins");
}

#[test]
fn ingress_class_narrows_and_stands_for_a_class_that_does_not_exist() {
    let classes =
        || [class("mine", CONTROLLER, None), class("second", CONTROLLER, None), class("other", OTHER, None)];
    assert!(served(only("mine"), classes(), Some("mine"), None));
    assert!(!served(only("mine"), classes(), Some("second"), None));
    assert!(!served(only("other"), classes(), Some("other"), None), "the object says that it is not ours");
    assert!(served(only("haproxy"), classes(), None, Some("haproxy")), "no such object");
    assert!(served(only("haproxy"), [], Some("haproxy"), None));
}

#[test]
fn without_class() {
    assert!(served(settings(), [], None, None));
    assert!(served(settings(), [], None, Some("")), "an empty annotation names none");
    assert!(!served(only("mine"), [class("mine", CONTROLLER, None)], None, None));
    let empty_too = || Settings { empty_ingress_class: true, ..only("mine") };
    assert!(served(empty_too(), [class("mine", CONTROLLER, None)], None, None));

    let ours = |since| class("mine", CONTROLLER, Some(since));
    let other = |since| class("other", OTHER, Some(since));
    assert!(served(only("mine"), [ours(1)], None, None), "the default class is ours");
    assert!(!served(settings(), [other(1)], None, None));
    assert!(!served(empty_too(), [other(1)], None, None), "the default class decides");
    assert!(served(settings(), [ours(2), other(1)], None, None), "the newest of several");
    assert!(!served(settings(), [ours(1), other(2)], None, None));
    assert!(served(settings(), [ours(1), other(1)], None, None), "then the first by name");
}
