//! `ingress.class`.

use std::sync::Arc;

use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// The class of an Ingress without `ingressClassName`.
pub static INGRESS_CLASS: Key<Arc<str>> = Key {
    entry: Entry {
        name: "ingress.class",
        aliases: &[],
        chapter: Chapter::Routing,
        scopes: &[Scope::Ingress],
        allowed: "the name of an IngressClass",
        default: "none",
        docs: "The class of an Ingress that has no `spec.ingressClassName`, which comes first; so does the annotation \
               `kubernetes.io/ingress.class`. An Ingress of another class is not served, and nothing is said about it.",
        example: "haproxy",
        effect: Effect::Live,
    },
    parse,
};

fn parse(text: &str) -> Result<Arc<str>, Wrong> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'/');
    let valid = !text.is_empty() && text.len() <= 253 && text.bytes().all(allowed);
    if valid { Ok(text.into()) } else { Err(Wrong::PLAIN) }
}

#[cfg(test)]
mod tests {
    use super::INGRESS_CLASS;

    #[test]
    fn values() {
        assert_eq!((INGRESS_CLASS.parse)("haproxy-2.x").as_deref(), Ok("haproxy-2.x"));
        for text in ["", "a b", "a\nb", "a#b", "%[x]", "\0", &"x".repeat(300)] {
            assert!((INGRESS_CLASS.parse)(text).is_err(), "{text:?}");
        }
    }
}
