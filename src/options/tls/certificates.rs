//! Certificates that come from the ConfigMap: `ssl-certificate`, `generate-certificates-signer`.

use crate::options::value::{ObjectRef, object};
use crate::options::{Chapter, Effect, Entry, Key, Scope};

/// The default certificate.
pub static SSL_CERTIFICATE: Key<ObjectRef> = Key {
    entry: Entry {
        name: "ssl-certificate",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::ConfigMap],
        allowed: "a Secret, as `namespace/name`, or `name` in the namespace of the ConfigMap",
        default: "the Secret of `--default-ssl-certificate`, else a self-signed certificate",
        docs: "The certificate for clients whose server name matches no Ingress with a certificate of its own, and for hosts \
               whose `spec.tls` names no Secret. The Secret has `tls.crt` and `tls.key`. The flag \
               `--default-ssl-certificate` comes before this key. Renewals are applied while HAProxy runs.",
        example: "ingress/default-certificate",
        effect: Effect::Live,
    },
    parse: object,
};

/// Certificates made on the fly.
pub static GENERATE_CERTIFICATES_SIGNER: Key<ObjectRef> = Key {
    entry: Entry {
        name: "generate-certificates-signer",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::ConfigMap],
        allowed: "a Secret, as `namespace/name`, or `name` in the namespace of the ConfigMap",
        default: "none: such clients get the default certificate",
        docs: "A certificate authority (`tls.crt`, `tls.key`) with which HAProxy signs a certificate for each server name that \
               matches no Ingress with a certificate of its own; for development, not for the internet. Certificates of \
               clients cannot be checked on such connections: where `client-ca` in the ConfigMap requires one, they are \
               refused. `ssl-min-version` and the ciphers do not count for them. If the Secret cannot be used, the default \
               certificate is shown instead.",
        example: "ingress/development-ca",
        effect: Effect::Reload,
    },
    parse: object,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ObjectName;

    #[test]
    fn values() {
        for key in [&SSL_CERTIFICATE, &GENERATE_CERTIFICATES_SIGNER] {
            let found = (key.parse)("a/b").map(|object| object.in_namespace("c"));
            assert_eq!(found, Ok(ObjectName::new("a", "b")));
            for bad in
                ["", "/", "a/b/c", "A/b", "a/b\nc", "a/b\0", "a b", "%[src]", "a/\"b\"", "a#b", "verify none"]
            {
                assert!((key.parse)(bad).is_err(), "{bad:?}");
            }
            assert!((key.parse)(&"x".repeat(1000)).is_err());
        }
    }
}
