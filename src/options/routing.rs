//! Which requests go where: canary, conditions, regular expressions, redirects to HTTPS.

mod canary;
mod class;
mod redirect;
mod route_acl;

use super::Family;
use super::value::{boolean, word};
use super::{Chapter, Effect, Entry, Key, Scope};

pub use canary::{
    CANARY, CANARY_BY_COOKIE, CANARY_BY_HEADER, CANARY_BY_HEADER_VALUE, CANARY_WEIGHT, CANARY_WEIGHT_TOTAL,
    DEFAULT_CANARY_WEIGHT_TOTAL,
};
pub use class::INGRESS_CLASS;
pub use redirect::{DEFAULT_SSL_REDIRECT_CODE, SSL_REDIRECT_CODE, SSL_REDIRECT_PORT};
pub use route_acl::ROUTE_ACL;

/// The keys of this family.
pub(super) static KEYS: Family = &[
    &CANARY,
    &CANARY_BY_COOKIE,
    &CANARY_BY_HEADER,
    &CANARY_BY_HEADER_VALUE,
    &CANARY_WEIGHT,
    &CANARY_WEIGHT_TOTAL,
    &INGRESS_CLASS,
    &PATH_TYPE,
    &ROUTE_ACL,
    &SSL_REDIRECT_CODE,
    &SSL_REDIRECT_PORT,
    &STANDALONE_BACKEND,
];

/// How paths of the type `ImplementationSpecific` match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PathKind {
    /// By path element, as `pathType: Prefix`.
    #[default]
    Prefix,
    /// The whole path, as `pathType: Exact`.
    Exact,
    /// As regular expressions.
    Regex,
}

/// How paths of the type `ImplementationSpecific` match.
pub static PATH_TYPE: Key<PathKind> = Key {
    entry: Entry {
        name: "path-type",
        aliases: &[],
        chapter: Chapter::Routing,
        scopes: &[Scope::Ingress],
        allowed: "`prefix`, `exact` or `regex`",
        default: "`prefix`",
        docs: "How the paths of this Ingress that have `pathType: ImplementationSpecific` match; the others are not touched. \
               With `regex` such a path is a regular expression (PCRE2), anchored at its start and case-sensitive, at most 512 \
               characters. Paths of a host are tried in this order: the whole path, the longest prefix by path element, \
               regular expressions (the longest first), and last the prefix `/`. Refused, with a Problem: what is not plain \
               enough to be sure that HAProxy takes it (back references, conditions, nested repetitions such as `(a+)+`, \
               which can take forever; a possessive inner one, `(a++)+`, is allowed). The first regular expression of all is \
               a reload; then they change while HAProxy runs (2.6 and newer; with 2.2 a new one is a reload each).",
        example: "regex",
        effect: Effect::Live,
    },
    parse: |text| {
        word(text, &[("prefix", PathKind::Prefix), ("exact", PathKind::Exact), ("regex", PathKind::Regex)])
    },
};

/// A backend for this Ingress alone.
pub static STANDALONE_BACKEND: Key<bool> = Key {
    entry: Entry {
        name: "standalone-backend",
        aliases: &[],
        chapter: Chapter::Routing,
        scopes: &[Scope::Service, Scope::Ingress],
        allowed: "`true` or `false`",
        default: "`false`: paths with the same Service port and the same keys share a backend",
        docs: "Gives the Ingress a backend of its own for each of its Service ports, with connections, queues and statistics \
               of its own. On a Service: every Ingress that leads to it gets one. It is not needed to keep keys of \
               Ingresses apart: those never mix.",
        example: "true",
        effect: Effect::Live,
    },
    parse: boolean,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_types() {
        for (text, kind) in
            [("regex", PathKind::Regex), ("Prefix", PathKind::Prefix), ("exact", PathKind::Exact)]
        {
            assert_eq!((PATH_TYPE.parse)(text), Ok(kind));
        }
        for text in ["", "begin", "regex\n", "re gex", "%[path]", "\0"] {
            assert!((PATH_TYPE.parse)(text).is_err(), "{text:?}");
        }
    }
}
