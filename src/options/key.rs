//! What a key is, and how its value is found in annotations and ConfigMap data.

use std::fmt;

use crate::cluster::Strings;

/// Prefixes of annotations. Our own comes first: who migrates can set it beside the one that another controller reads.
pub const PREFIXES: [&str; 4] = ["outrigger.dev/", "haproxy.org/", "haproxy.com/", "ingress.kubernetes.io/"];

/// Where a key may be written. Looked up in this order, then the default counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Annotation of a Service.
    Service,
    /// Annotation of an Ingress.
    Ingress,
    /// Data of the ConfigMap that `--configmap` names, without prefix.
    ConfigMap,
}

/// What it takes to bring a changed value to the running HAProxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Applied while HAProxy runs.
    Live,
    /// Needs a reload.
    Reload,
}

/// What the documentation says about a key.
#[derive(Debug)]
pub struct Entry {
    /// Name without prefix.
    pub name: &'static str,
    /// Other names for the same key.
    pub aliases: &'static [&'static str],
    /// Where it may be written.
    pub scopes: &'static [Scope],
    /// The values that it allows, in words.
    pub allowed: &'static str,
    /// What counts when it is not written anywhere, in words.
    pub default: &'static str,
    /// One paragraph.
    pub docs: &'static str,
    /// A value that makes sense.
    pub example: &'static str,
    /// Live or by reload.
    pub effect: Effect,
}

impl Entry {
    /// The name, then the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// A key with the type of its value.
#[derive(Debug)]
pub struct Key<T> {
    /// Documentation.
    pub entry: Entry,
    /// The parser; gets the value without surrounding white space.
    pub parse: fn(&str) -> Option<T>,
}

/// A value that its key does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The key as it is written in the object.
    pub key: String,
    /// The value as it is written, shortened and escaped.
    pub value: String,
    /// What would be allowed.
    pub allowed: &'static str,
    /// A value that makes sense.
    pub example: &'static str,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a value for `{}`, which takes {}", self.value, self.key, self.allowed)
    }
}

/// What one object says about a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<T> {
    /// The first valid value, if any.
    pub value: Option<T>,
    /// Invalid values that were passed over on the way to it.
    pub invalid: Vec<Invalid>,
}

impl<T> Key<T> {
    /// Reads the annotations of an Ingress or a Service.
    pub fn in_annotations(&self, annotations: &Strings) -> Reading<T> {
        let names = PREFIXES.iter().flat_map(|p| self.entry.names().map(move |n| format!("{p}{n}")));
        self.read(annotations, names)
    }

    /// Reads the data of the ConfigMap.
    pub fn in_config_map(&self, data: &Strings) -> Reading<T> {
        self.read(data, self.entry.names().map(str::to_owned))
    }

    fn read(&self, strings: &Strings, names: impl Iterator<Item = String>) -> Reading<T> {
        let mut invalid = Vec::new();
        if strings.is_empty() {
            return Reading { value: None, invalid };
        }
        for key in names {
            let Some(text) = strings.get(key.as_str()) else { continue };
            match (self.parse)(text.trim()) {
                Some(value) => return Reading { value: Some(value), invalid },
                None => invalid.push(Invalid {
                    key,
                    value: shown(text),
                    allowed: self.entry.allowed,
                    example: self.entry.example,
                }),
            }
        }
        Reading { value: None, invalid }
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
        let reading = SSL_REDIRECT.in_annotations(&strings(&[
            ("outrigger.dev/ssl-redirect", "ma\nybe"),
            ("haproxy.org/ssl-redirect", "off"),
        ]));
        assert_eq!(reading.value, Some(false));
        assert_eq!(reading.invalid.len(), 1);
        assert_eq!(
            reading.invalid[0].to_string(),
            "`ma\\nybe` is not a value for `outrigger.dev/ssl-redirect`, which takes `true` or `false`"
        );
    }

    #[test]
    fn a_config_map_key_has_no_prefix() {
        assert_eq!(SSL_REDIRECT.in_config_map(&strings(&[("ssl-redirect", " Yes ")])).value, Some(true));
        assert_eq!(SSL_REDIRECT.in_config_map(&strings(&[("haproxy.org/ssl-redirect", "yes")])).value, None);
        assert_eq!(SSL_REDIRECT.in_annotations(&strings(&[("ssl-redirect", "yes")])).value, None);
    }

    #[test]
    fn long_values_are_shortened() {
        let long = "x".repeat(500);
        let reading = SSL_REDIRECT.in_config_map(&strings(&[("ssl-redirect", long.as_str())]));
        assert!(reading.invalid[0].to_string().len() < 200);
    }
}
