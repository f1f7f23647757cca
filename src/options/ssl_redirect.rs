//! `ssl-redirect`.

use super::value::boolean;
use super::{Chapter, Effect, Entry, Key, Scope};

/// Redirect clear-text requests to HTTPS.
pub static SSL_REDIRECT: Key<bool> = Key {
    entry: Entry {
        name: "ssl-redirect",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`true` or `false`",
        default: "`true` for hosts that `spec.tls` of the same Ingress covers, else `false`",
        docs: "Answers requests on the HTTP listener with a redirect (`ssl-redirect-code`) to the same address with `https://`, except \
               those under `/.well-known/acme-challenge/`. Without HTTPS listener it has no effect.",
        example: "false",
        effect: Effect::Live,
    },
    parse: boolean,
};

#[cfg(test)]
mod tests {
    use super::SSL_REDIRECT;

    #[test]
    fn values() {
        for (text, value) in [("true", Some(true)), ("off", Some(false)), ("302", None)] {
            assert_eq!((SSL_REDIRECT.parse)(text).ok(), value, "{text}");
        }
    }
}
