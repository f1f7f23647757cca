//! What objects say about keys: a [`Layer`] is one object, [`Layers`] are those that count for a path, in their order.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use super::{AnyKey, Key, PREFIXES, Scope, keys};
use crate::cluster::Strings;
use crate::problem::excerpt;

/// Every name and alias → its key.
static BY_NAME: LazyLock<BTreeMap<&'static str, &'static dyn AnyKey>> =
    LazyLock::new(|| keys().iter().flat_map(|key| key.entry().names().map(|name| (name, *key))).collect());

/// The key of this name or alias.
pub fn find(name: &str) -> Option<&'static dyn AnyKey> {
    BY_NAME.get(name).copied()
}

/// What one object says: the entries that are keys of ours, with the preferred spelling first; and the names of keys whose
/// value is none that they allow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    written: Vec<Written>,
    /// Entries whose values are not allowed: what guards a path closes it then.
    refused: Vec<Written>,
}

/// A key as an object writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Written {
    /// Name of the key.
    name: &'static str,
    /// As it is written, with prefix.
    key: Arc<str>,
    value: Arc<str>,
}

/// Something that is wrong with an entry of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The key as it is written in the object.
    pub key: Arc<str>,
    /// What is wrong.
    pub kind: FindingKind,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingKind {
    /// The key does not allow this value.
    Invalid(Invalid),
    /// There is no such key; perhaps this one is meant.
    Unknown(Option<&'static str>),
    /// The key has no effect in such an object.
    Misplaced(&'static [Scope]),
}

/// A value that its key does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The value as it is written, shortened and escaped.
    pub value: String,
    /// What would be allowed.
    pub allowed: &'static str,
    /// A value that makes sense.
    pub example: &'static str,
    /// More about it; may be empty.
    pub reason: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FindingKind::Invalid(Invalid { value, allowed, reason, .. }) => {
                write!(f, "`{value}` is not a value for `{}`, which takes {allowed}", self.key)?;
                if reason.is_empty() { Ok(()) } else { write!(f, ": {reason}") }
            }
            FindingKind::Unknown(_) => write!(f, "`{}` is no key of this controller", self.key),
            FindingKind::Misplaced(scopes) => {
                let scopes: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
                write!(f, "`{}` has no effect here: it belongs on {}", self.key, scopes.join(" or "))
            }
        }
    }
}

impl Layer {
    /// The annotations of an Ingress or a Service, and what is wrong with them for `scope`.
    pub fn of_annotations(scope: Scope, annotations: &Strings) -> (Self, Vec<Finding>) {
        let with_prefix = |prefix: &'static str| {
            annotations.iter().filter_map(move |(key, value)| Some((key.strip_prefix(prefix)?, key, value)))
        };
        Self::of(scope, PREFIXES.into_iter().flat_map(with_prefix))
    }

    /// The data of the ConfigMap, and what is wrong with it.
    pub fn of_config_map(data: &Strings) -> (Self, Vec<Finding>) {
        Self::of(Scope::ConfigMap, data.iter().map(|(key, value)| (key.as_ref(), key, value)))
    }

    fn of<'a>(
        scope: Scope,
        entries: impl Iterator<Item = (&'a str, &'a Arc<str>, &'a Arc<str>)>,
    ) -> (Self, Vec<Finding>) {
        let (mut layer, mut findings) = (Self::default(), Vec::new());
        for (name, key, value) in entries {
            let mut found = |kind| findings.push(Finding { key: key.clone(), kind });
            let Some(known) = find(name) else {
                found(FindingKind::Unknown(super::suggestion(name)));
                continue;
            };
            let entry = known.entry();
            if !entry.scopes.contains(&scope) {
                found(FindingKind::Misplaced(entry.scopes));
                continue;
            }
            let written = Written { name: entry.name, key: key.clone(), value: value.clone() };
            match known.check(value) {
                Ok(()) => layer.written.push(written),
                Err(wrong) => {
                    layer.refused.push(written);
                    found(FindingKind::Invalid(Invalid {
                        value: excerpt(value, 60),
                        allowed: entry.allowed,
                        example: entry.example,
                        reason: clipped(wrong.0.into_owned()),
                    }));
                }
            }
        }
        // Stable: of two spellings the one with the preferred prefix stays first.
        layer.written.sort_by_key(|written| written.name);
        (layer, findings)
    }

    /// Whether nothing is written, not even values that are not allowed.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.refused.is_empty()
    }

    /// The value of a key, if the object writes a valid one.
    pub fn get<T>(&self, key: &Key<T>) -> Option<T> {
        self.written(key).and_then(|written| (key.parse)(written.value.trim()).ok())
    }

    /// The key as the object writes it.
    pub fn written_as<T>(&self, key: &Key<T>) -> Option<&Arc<str>> {
        self.written(key).map(|written| &written.key)
    }

    /// Whether the object writes a key with no value that is allowed: what guards access must not fall open then.
    pub fn refuses<T>(&self, key: &Key<T>) -> bool {
        self.refused(key).is_some()
    }

    /// The key as the object writes it, when none of its values is allowed.
    fn refused<T>(&self, key: &Key<T>) -> Option<&Arc<str>> {
        if self.written(key).is_some() {
            return None;
        }
        self.refused.iter().find(|written| written.name == key.entry.name).map(|written| &written.key)
    }

    fn written<T>(&self, key: &Key<T>) -> Option<&Written> {
        let at = self.written.partition_point(|written| written.name < key.entry.name);
        self.written.get(at).filter(|written| written.name == key.entry.name)
    }
}

/// The objects that count for a path.
#[derive(Debug, Clone, Copy)]
pub struct Layers<'a> {
    /// The Service.
    pub service: &'a Layer,
    /// The Ingress.
    pub ingress: &'a Layer,
    /// The ConfigMap.
    pub config: &'a Layer,
}

impl<'a> Layers<'a> {
    /// Whether nothing is written on Service and Ingress: the path is like the ConfigMap says.
    pub fn are_plain(&self) -> bool {
        self.service.is_empty() && self.ingress.is_empty()
    }

    /// The value that counts, `None` for the default. Keys are only in layers where they are allowed.
    pub fn get<T>(&self, key: &Key<T>) -> Option<T> {
        self.find(key).map(|(value, ..)| value)
    }

    /// Whether the object that counts for a key writes it with no value that is allowed.
    pub fn refuses<T>(&self, key: &Key<T>) -> bool {
        self.refused(key).is_some()
    }

    /// The value that counts, the object that says so, and the key as it is written there.
    pub fn find<T>(&self, key: &Key<T>) -> Option<(T, Scope, &'a Arc<str>)> {
        self.in_order()
            .into_iter()
            .find_map(|(scope, layer)| Some((layer.get(key)?, scope, layer.written_as(key)?)))
    }

    /// The object that would count for a key if its value were one that the key allows, and the key as it is written there.
    /// What guards a path must not fall back to the value of a less specific object.
    pub fn refused<T>(&self, key: &Key<T>) -> Option<(Scope, &'a Arc<str>)> {
        for (scope, layer) in self.in_order() {
            if let Some(written) = layer.refused(key) {
                return Some((scope, written));
            }
            if layer.written(key).is_some() {
                return None;
            }
        }
        None
    }

    fn in_order(&self) -> [(Scope, &'a Layer); 3] {
        [(Scope::Service, self.service), (Scope::Ingress, self.ingress), (Scope::ConfigMap, self.config)]
    }
}

/// An explanation that fits an Event (1,024 bytes, `events.k8s.io/v1`): it may repeat a value of any length.
fn clipped(mut reason: String) -> String {
    const LONGEST: usize = 400;
    if let Some((end, _)) = reason.char_indices().nth(LONGEST) {
        reason.truncate(end);
        reason.push('…');
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::SSL_REDIRECT;

    fn strings(pairs: &[(&str, &str)]) -> Strings {
        pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect()
    }

    #[test]
    fn our_own_prefix_comes_first_and_a_bad_value_is_passed_over() {
        let (layer, findings) = Layer::of_annotations(
            Scope::Ingress,
            &strings(&[("outrigger.dev/ssl-redirect", "ma\nybe"), ("haproxy.org/ssl-redirect", "off")]),
        );
        assert_eq!(layer.get(&SSL_REDIRECT), Some(false));
        assert_eq!(layer.written_as(&SSL_REDIRECT).map(AsRef::as_ref), Some("haproxy.org/ssl-redirect"));
        assert_eq!(findings.len(), 1);
        assert_eq!(
            findings[0].to_string(),
            "`ma\\nybe` is not a value for `outrigger.dev/ssl-redirect`, which takes `true` or `false`"
        );
        let both = [("outrigger.dev/ssl-redirect", "on"), ("haproxy.org/ssl-redirect", "off")];
        let (layer, _) = Layer::of_annotations(Scope::Ingress, &strings(&both));
        assert_eq!(layer.get(&SSL_REDIRECT), Some(true));
    }

    #[test]
    fn a_refused_value_hides_those_of_less_specific_objects() {
        let layer = |pairs| Layer::of_config_map(&strings(pairs)).0;
        let (good, bad, none) =
            (layer(&[("ssl-redirect", "on")]), layer(&[("ssl-redirect", "?")]), layer(&[]));
        let refused = |service, ingress, config| {
            let found = Layers { service, ingress, config }.refused(&SSL_REDIRECT);
            found.map(|(scope, written)| (scope, written.as_ref()))
        };
        assert_eq!(refused(&none, &bad, &good), Some((Scope::Ingress, "ssl-redirect")));
        assert_eq!(refused(&none, &none, &bad), Some((Scope::ConfigMap, "ssl-redirect")));
        assert_eq!(refused(&none, &good, &bad), None);
        assert_eq!(refused(&none, &none, &none), None);
        assert!(!bad.is_empty() && none.is_empty());
    }

    #[test]
    fn a_config_map_key_has_no_prefix() {
        let get = |pairs| Layer::of_config_map(&strings(pairs)).0.get(&SSL_REDIRECT);
        assert_eq!(get(&[("ssl-redirect", " Yes ")]), Some(true));
        assert_eq!(get(&[("haproxy.org/ssl-redirect", "yes")]), None);
        let (layer, findings) =
            Layer::of_annotations(Scope::Ingress, &strings(&[("ssl-redirect", "yes"), ("a.b/c", "d")]));
        assert!(layer.is_empty() && findings.is_empty(), "annotations without our prefixes are not ours");
    }

    #[test]
    fn a_key_in_the_wrong_place_has_no_effect_and_says_so() {
        let (layer, findings) =
            Layer::of_annotations(Scope::Service, &strings(&[("haproxy.org/ssl-redirect", "yes")]));
        assert!(layer.is_empty());
        assert_eq!(
            findings[0].to_string(),
            "`haproxy.org/ssl-redirect` has no effect here: it belongs on Ingress or ConfigMap"
        );
    }

    #[test]
    fn long_values_are_shortened() {
        let long = "x".repeat(500);
        let (_, findings) = Layer::of_config_map(&strings(&[("ssl-redirect", long.as_str())]));
        assert!(findings[0].to_string().len() < 200);
    }
}
