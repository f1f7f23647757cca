//! `server-ssl`, `server-ca`, `server-crt`, `server-proto`, `send-proxy-protocol`.

use super::ALL;
use crate::model::policy::servers::{Protocol, ProxyProtocol};
use crate::options::value::ObjectRef;
use crate::options::{Chapter, Effect, Entry, Key, value};

/// TLS to the pods.
pub static SERVER_SSL: Key<bool> = Key {
    entry: Entry {
        name: "server-ssl",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "`true` or `false`",
        default: "`true` where `server-ca`, `server-crt` or the port's `appProtocol` (`https`, `grpcs`, `kubernetes.io/wss`) say \
                  so, else `false`",
        docs: "TLS to the pods. Their certificates are not verified unless `server-ca` is written. HTTP/2 is used with pods that \
               offer it (not with HAProxy 2.2, which could not send WebSockets then). No server name is sent, but for a Service \
               of type ExternalName its name. What is written on Service or Ingress counts before `appProtocol`, that before the \
               ConfigMap.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: value::boolean,
};

/// Who signs the certificates of the pods.
pub static SERVER_CA: Key<ObjectRef> = Key {
    entry: Entry {
        name: "server-ca",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "a Secret, as `namespace/name`, or `name` in the namespace of the object",
        default: "certificates of pods are not verified",
        docs: "TLS to the pods, whose certificates must be signed by one of the authorities in `ca.crt` of this Secret (`tls.crt` \
               when it has none). The names in the certificates are not compared, but for a Service of type ExternalName: there \
               it must be its name. A Secret of another namespace counts only when the ConfigMap names it. When the Secret is \
               missing or broken, requests are answered with 503.",
        example: "default/pod-ca",
        effect: Effect::Reload,
    },
    parse: value::object,
};

/// The certificate that is shown to the pods.
pub static SERVER_CRT: Key<ObjectRef> = Key {
    entry: Entry {
        name: "server-crt",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "a Secret, as `namespace/name`, or `name` in the namespace of the object",
        default: "none",
        docs: "TLS to the pods, with the certificate and key of this Secret (`tls.crt` and `tls.key`) shown to them. A Secret of \
               another namespace counts only when the ConfigMap names it. When the Secret is missing or broken, no certificate is \
               shown, and it is up to the pods what they do.",
        example: "default/client-certificate",
        effect: Effect::Reload,
    },
    parse: value::object,
};

/// HTTP version to the pods.
pub static SERVER_PROTO: Key<Protocol> = Key {
    entry: Entry {
        name: "server-proto",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "`h2` or `h1`",
        default: "`h2` where the port's `appProtocol` says so (`kubernetes.io/h2c`, `grpc`, `grpcs`), else HTTP/1.1, or over TLS \
                  what the pod prefers",
        docs: "The HTTP version to the pods: `h2` is HTTP/2 in every request, in clear text without upgrade, as gRPC needs it; \
               `h1` is HTTP/1.1, also over TLS. What is written on Service or Ingress counts before `appProtocol`, that before \
               the ConfigMap.",
        example: "h2",
        effect: Effect::Reload,
    },
    parse: |text| value::word(text, &[("h2", Protocol::Http2), ("h1", Protocol::Http1)]),
};

/// The PROXY protocol to the pods.
pub static SEND_PROXY_PROTOCOL: Key<ProxyProtocol> = Key {
    entry: Entry {
        name: "send-proxy-protocol",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "`proxy`, `proxy-v1`, `proxy-v2`, `proxy-v2-ssl` or `proxy-v2-ssl-cn`",
        default: "none",
        docs: "Every connection to a pod begins with a header of the PROXY protocol that tells the client's address: version 1 \
               in text (`proxy`, `proxy-v1`), version 2 in binary, with what is known of the client's TLS (`-ssl`) and the common \
               name of its certificate (`-cn`). The pods must expect it.",
        example: "proxy-v2",
        effect: Effect::Reload,
    },
    parse: |text| {
        let words = [
            ("proxy", ProxyProtocol::V1),
            ("proxy-v1", ProxyProtocol::V1),
            ("proxy-v2", ProxyProtocol::V2),
            ("proxy-v2-ssl", ProxyProtocol::V2Ssl),
            ("proxy-v2-ssl-cn", ProxyProtocol::V2SslCn),
        ];
        value::word(text, &words)
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!((SERVER_PROTO.parse)("H2"), Ok(Protocol::Http2));
        assert_eq!((SEND_PROXY_PROTOCOL.parse)("proxy"), (SEND_PROXY_PROTOCOL.parse)("proxy-v1"));
        assert_eq!((SEND_PROXY_PROTOCOL.parse)("proxy-v2-ssl-cn"), Ok(ProxyProtocol::V2SslCn));
        for text in ["h3", "h2c", "proxy-v3", "true"] {
            assert!(
                (SERVER_PROTO.parse)(text).is_err() && (SEND_PROXY_PROTOCOL.parse)(text).is_err(),
                "{text}"
            );
        }
        for text in ["a/b/c", "A/b", "a b", "/b"] {
            assert!((SERVER_CA.parse)(text).is_err() && (SERVER_CRT.parse)(text).is_err(), "{text}");
        }
    }
}
