//! What objects say about keys: a [`Layer`] is one object, [`Layers`] are those that count for a path, in their order.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use super::{AnyKey, Key, PREFIXES, Scope, keys};
use crate::cluster::Strings;

/// Every name and alias → its key.
static BY_NAME: LazyLock<BTreeMap<&'static str, &'static dyn AnyKey>> =
    LazyLock::new(|| keys().iter().flat_map(|key| key.entry().names().map(|name| (name, *key))).collect());

/// The key of this name or alias.
pub fn find(name: &str) -> Option<&'static dyn AnyKey> {
    BY_NAME.get(name).copied()
}

/// What one object says: the entries that are keys of ours, with the preferred spelling first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    written: Vec<Written>,
    /// Names of keys of which no spelling has a value that is allowed.
    refused: Vec<&'static str>,
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
            match known.check(value) {
                Ok(()) => {
                    layer.written.push(Written { name: entry.name, key: key.clone(), value: value.clone() });
                }
                Err(wrong) => {
                    layer.refused.push(entry.name);
                    found(FindingKind::Invalid(Invalid {
                        value: shown(value),
                        allowed: entry.allowed,
                        example: entry.example,
                        reason: wrong.0.into_owned(),
                    }));
                }
            }
        }
        // Stable: of two spellings the one with the preferred prefix stays first.
        layer.written.sort_by_key(|written| written.name);
        let written = &layer.written;
        layer.refused.retain(|name| written.iter().all(|written| written.name != *name));
        (layer, findings)
    }

    /// Whether nothing is written.
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

    /// Whether the object writes a key with no value that is allowed: what guards access must not be open then.
    pub fn refuses<T>(&self, key: &Key<T>) -> bool {
        self.refused.contains(&key.entry.name)
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
        let layers = [self.service, self.ingress, self.config];
        let first = layers.into_iter().find(|layer| layer.refuses(key) || layer.written(key).is_some());
        first.is_some_and(|layer| layer.refuses(key))
    }

    /// The value that counts, the object that says so, and the key as it is written there.
    pub fn find<T>(&self, key: &Key<T>) -> Option<(T, Scope, &'a Arc<str>)> {
        let layers =
            [(Scope::Service, self.service), (Scope::Ingress, self.ingress), (Scope::ConfigMap, self.config)];
        layers.into_iter().find_map(|(scope, layer)| Some((layer.get(key)?, scope, layer.written_as(key)?)))
    }
}

/// A value fit for a one-line message.
fn shown(value: &str) -> String {
    const LONGEST: usize = 60;
    let mut text: String = value.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if value.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    text
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
