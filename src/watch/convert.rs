//! API objects → the slim types of [`crate::cluster`]. Nothing else passes: what the controller never reads is dropped
//! here, and a value that the type does not allow becomes an absent one.

mod endpoints;
mod ingress;
mod names;
mod secret;
mod service;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::cluster::{Object, ObjectName, Strings};
use names::shared;

pub(super) use endpoints::SERVICE_LABEL;

/// Prefixes of annotations that Outrigger may read.
const PREFIXES: [&str; 4] = ["haproxy.org/", "haproxy.com/", "ingress.kubernetes.io/", "outrigger.dev/"];
/// The class annotation that came before `spec.ingressClassName`.
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

/// An API type that has a slim one.
pub(super) trait Convert {
    /// The slim object; `None` when it is of no use (a slice that belongs to no Service).
    fn convert(self) -> Option<Object>;
}

/// Namespace and name of any object.
pub(super) fn name_of(meta: &ObjectMeta) -> ObjectName {
    ObjectName {
        namespace: shared(meta.namespace.as_deref().unwrap_or_default()),
        name: shared(meta.name.as_deref().unwrap_or_default()),
    }
}

/// Creation time in seconds since the epoch, 0 when absent.
fn created(meta: &ObjectMeta) -> i64 {
    meta.creation_timestamp.as_ref().map_or(0, |time| time.0.as_second())
}

/// The annotations that Outrigger may read.
fn annotations(annotations: Option<BTreeMap<String, String>>) -> Strings {
    let known = |key: &str| key == CLASS_ANNOTATION || PREFIXES.iter().any(|prefix| key.starts_with(prefix));
    annotations
        .into_iter()
        .flatten()
        .filter(|(key, _)| known(key))
        .map(|(key, value)| (shared(&key), shared(&value)))
        .collect()
}

/// A text that says something, kept once however often it occurs.
fn text(value: Option<String>) -> Option<Arc<str>> {
    value.filter(|text| !text.is_empty()).map(|text| shared(&text))
}

/// A port that can exist.
fn port(number: i32) -> Option<u16> {
    u16::try_from(number).ok().filter(|port| *port != 0)
}

/// TCP, which is also what an absent protocol means.
fn is_tcp(protocol: Option<&str>) -> bool {
    matches!(protocol, None | Some("" | "TCP"))
}
