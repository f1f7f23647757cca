//! Which Ingresses are ours, by class.

use std::sync::Arc;

use super::Settings;
use crate::cluster::{Ingress, IngressClass, Snapshot};
use crate::options::PREFIXES;
use crate::options::routing::INGRESS_CLASS;

/// The annotation that named the class before `spec.ingressClassName` existed (Kubernetes 1.18).
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

/// The class that an Ingress names; the field wins over the annotation, and Kubernetes' own annotation over `ingress.class`.
pub(super) fn class_of(ingress: &Ingress) -> Option<Arc<str>> {
    let ours = || PREFIXES.iter().map(|prefix| format!("{prefix}{}", INGRESS_CLASS.entry.name));
    let annotation = || {
        let annotations = Some(&ingress.annotations).filter(|annotations| !annotations.is_empty())?;
        let old = annotations.get(CLASS_ANNOTATION).filter(|class| !class.is_empty());
        old.or_else(|| ours().find_map(|name| annotations.get(name.as_str()))).cloned()
    };
    ingress
        .class
        .clone()
        .filter(|class| !class.is_empty())
        .or_else(annotation)
        .filter(|class| !class.is_empty())
}

/// Whether Ingresses that name this class are served.
pub(super) fn serves_named(name: &str, snapshot: &Snapshot, settings: &Settings) -> bool {
    match snapshot.classes.get(name) {
        Some(class) => is_ours(class, settings),
        // Old style, or a controller that may read only its namespaces: the class exists as a name only.
        None => settings.ingress_class.as_deref() == Some(name),
    }
}

/// Whether Ingresses without class are served.
pub(super) fn serves_unnamed(snapshot: &Snapshot, settings: &Settings) -> bool {
    // The admission plugin DefaultIngressClass does the same when there are several: the newest, then the first by name.
    let default = snapshot
        .classes
        .values()
        .filter(|class| class.is_default)
        .min_by(|a, b| b.created.cmp(&a.created).then_with(|| a.name.cmp(&b.name)));
    match default {
        Some(class) => is_ours(class, settings),
        None => settings.ingress_class.is_none() || settings.empty_ingress_class,
    }
}

fn is_ours(class: &IngressClass, settings: &Settings) -> bool {
    *class.controller == *settings.controller_class
        && settings.ingress_class.as_deref().is_none_or(|only| *class.name == *only)
}
