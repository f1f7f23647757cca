//! Certificates of clients: `client-ca`, `client-crl`, `client-crt-optional`.

use crate::options::value::{ObjectRef, boolean, object};
use crate::options::{Chapter, Effect, Entry, Key, Scope};

/// Who signs certificates of clients.
pub static CLIENT_CA: Key<ObjectRef> = Key {
    entry: Entry {
        name: "client-ca",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a Secret, as `namespace/name`, or `name` in the namespace of the object",
        default: "none: clients are not asked for certificates",
        docs: "Asks TLS clients for a certificate that one of the authorities in this Secret has signed (`ca.crt`, else \
               `tls.crt`; PEM, one or many). On an Ingress it counts for all paths of its hosts, whatever Ingress they are \
               from, and the Secret must be in the namespace of the Ingress; in the ConfigMap it counts for TLS to all other \
               hosts, and not for clear text. For hosts of an Ingress, clear text is refused with 403 (save the redirect to \
               HTTPS and ACME challenges) as long as the certificate is required, and a request for another host than the \
               server name of its connection with 421. Of two Ingresses that differ about a host, the older one counts. \
               Pods get `X-SSL-Client-Verify` (0), `X-SSL-Client-CN`, `X-SSL-Client-DN` and `X-SSL-Client-SHA1` (hex) of \
               the certificate; headers of these names that clients send are removed. An authority that is missing or \
               broken refuses all requests with 503. The first such Ingress switches the cache of TLS sessions off: \
               HAProxy would resume a session that another host's authority has let in.",
        example: "partners-ca",
        effect: Effect::Reload,
    },
    parse: object,
};

/// Certificates that do not count any more.
pub static CLIENT_CRL: Key<ObjectRef> = Key {
    entry: Entry {
        name: "client-crl",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a Secret, as `namespace/name`, or `name` in the namespace of the object",
        default: "none",
        docs: "Revocation lists (`ca.crl`, PEM) for the authorities of `client-ca` in the same object. OpenSSL wants one for \
               every authority of a chain, and refuses all clients once a list is past its next update. A list that is \
               missing or broken refuses all requests with 503.",
        example: "partners-crl",
        effect: Effect::Reload,
    },
    parse: object,
};

/// Clients may do without.
pub static CLIENT_CRT_OPTIONAL: Key<bool> = Key {
    entry: Entry {
        name: "client-crt-optional",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`true` or `false`",
        default: "`false`",
        docs: "Lets clients without certificate in where `client-ca` asks for one; a certificate that is not valid is refused \
               still. Pods see by `X-SSL-Client-Verify` whether there was one.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for key in [&CLIENT_CA, &CLIENT_CRL] {
            assert_eq!((key.parse)("b"), Ok(ObjectRef::Here("b".into())));
            for bad in [
                "",
                "a/",
                "a b",
                "a\nverify none",
                "a]",
                "[a",
                "a\"",
                "a#b",
                "a\0",
                "../../etc/passwd",
                "%[src]",
            ] {
                assert!((key.parse)(bad).is_err(), "{bad:?}");
            }
        }
        assert_eq!((CLIENT_CRT_OPTIONAL.parse)("on"), Ok(true));
        assert!((CLIENT_CRT_OPTIONAL.parse)("optional").is_err());
    }
}
