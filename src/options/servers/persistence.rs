//! `cookie-persistence` and `cookie-persistence-no-dynamic`.

use std::sync::Arc;

use super::{ALL, simple_name};
use crate::options::{Chapter, Effect, Entry, Key};

/// A client stays with its pod by a cookie.
pub static COOKIE_PERSISTENCE: Key<Arc<str>> = Key {
    entry: Entry {
        name: "cookie-persistence",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "the name of a cookie: letters, digits, `-`, `_` and `.`",
        default: "no cookie",
        docs: "HAProxy sets a cookie of this name that leads the client to the same pod again, and hides it from the pod. The \
               value is a hash of the pod's address and port: the same on every replica of the controller and after every \
               restart. A pod that is about to end still serves the clients that it has. Unlike in haproxytech's controller it \
               may stand on an Ingress, too: there it counts for the paths of that Ingress.",
        example: "session-pod",
        effect: Effect::Reload,
    },
    parse: simple_name,
};

/// The same with the name of the server as value.
pub static COOKIE_PERSISTENCE_NO_DYNAMIC: Key<Arc<str>> = Key {
    entry: Entry {
        name: "cookie-persistence-no-dynamic",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "the name of a cookie: letters, digits, `-`, `_` and `.`",
        default: "no cookie",
        docs: "Like `cookie-persistence`, with the name of the server as value: address and port of the pod, which clients can \
               read then. With HAProxy before 3.0 every new pod of such a Service needs a reload, and before 2.6 every one that \
               goes, too. Of both keys the one on the more specific object counts, and `cookie-persistence` when both are on \
               the same one.",
        example: "session-pod",
        effect: Effect::Reload,
    },
    parse: simple_name,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cookies() {
        for key in [&COOKIE_PERSISTENCE, &COOKIE_PERSISTENCE_NO_DYNAMIC] {
            assert_eq!((key.parse)("JSESSIONID").as_deref(), Ok("JSESSIONID"));
            for text in ["a b", "a;b", "a=b", "a,b", "a insert", "$Path"] {
                assert!((key.parse)(text).is_err(), "{text}");
            }
        }
    }
}
