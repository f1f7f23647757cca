//! `ssl-passthrough`.

use crate::options::value::boolean;
use crate::options::{Chapter, Effect, Entry, Key, Scope};

/// TLS is not terminated.
pub static SSL_PASSTHROUGH: Key<bool> = Key {
    entry: Entry {
        name: "ssl-passthrough",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::Service, Scope::Ingress, Scope::ConfigMap],
        allowed: "`true` or `false`",
        default: "`false`",
        docs: "Passes TLS through to the pods of the root path, which show their own certificate; the server name (SNI) says to \
               which. Other hosts on the same port are served as before. It counts for exact and wildcard hosts, not for \
               rules without host, and for the root path (`/`, prefix) only. What needs a look into requests, \
               and TLS to the pods, has no effect for it; lists of addresses, load balancing, checks by connection, the PROXY \
               protocol to pods and limits of connections do. What would guard requests closes all connections to it: \
               `auth-url`, `auth-type`, and `client-ca` (in the ConfigMap unless `client-crt-optional` is on). Services with \
               `route-acl` and canaries get nothing. An Ingress that is older and does \
               not pass TLS of the host through wins. Clear text is redirected to HTTPS unless `ssl-redirect` is off; then \
               it is answered with 404, as for an unknown host. While the first such host comes or the last one goes, HAProxy \
               is reloaded; when the last one goes, a connection that is being opened at that moment may be closed.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

#[cfg(test)]
mod tests {
    use super::SSL_PASSTHROUGH;

    #[test]
    fn values() {
        for (text, value) in
            [("true", Some(true)), ("no", Some(false)), ("tcp", None), ("", None), ("true\n#", None)]
        {
            assert_eq!((SSL_PASSTHROUGH.parse)(text).ok(), value, "{text}");
        }
    }
}
