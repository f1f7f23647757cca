//! How the TLS listener speaks: `ssl-min-version`, `tls-alpn`, `client-strict-sni`.

use crate::options::value::{boolean, word};
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// The lowest version of TLS.
pub static SSL_MIN_VERSION: Key<&'static str> = Key {
    entry: Entry {
        name: "ssl-min-version",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::ConfigMap],
        allowed: "`TLSv1.0`, `TLSv1.1`, `TLSv1.2` or `TLSv1.3`",
        default: "`TLSv1.2`",
        docs: "The lowest version of TLS that clients may use. The two oldest are broken and work only where the TLS library \
               of HAProxy still has them; OpenSSL 3 also needs `ssl-ciphers` with `@SECLEVEL=0`.",
        example: "TLSv1.3",
        effect: Effect::Reload,
    },
    parse: version,
};

fn version(text: &str) -> Result<&'static str, Wrong> {
    let same = |version: &'static str| (version, version);
    word(text, &["TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"].map(same))
}

/// Application protocols.
pub static TLS_ALPN: Key<Vec<&'static str>> = Key {
    entry: Entry {
        name: "tls-alpn",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::ConfigMap],
        allowed: "`h2`, `http/1.1`, `http/1.0`, separated by commas, the preferred one first",
        default: "`h2,http/1.1`",
        docs: "The protocols that TLS clients are offered (ALPN). `http/1.1` alone switches HTTP/2 off.",
        example: "http/1.1",
        effect: Effect::Reload,
    },
    parse: protocols,
};

fn protocols(text: &str) -> Result<Vec<&'static str>, Wrong> {
    let mut found = Vec::new();
    for protocol in text.split([',', ' ']).filter(|protocol| !protocol.is_empty()) {
        let protocol = word(protocol, &["h2", "http/1.1", "http/1.0"].map(|known| (known, known)))?;
        if found.contains(&protocol) {
            return Err(Wrong::because(format!("`{protocol}` is there twice")));
        }
        found.push(protocol);
    }
    if found.is_empty() { Err(Wrong::PLAIN) } else { Ok(found) }
}

/// No certificate for unknown server names.
pub static CLIENT_STRICT_SNI: Key<bool> = Key {
    entry: Entry {
        name: "client-strict-sni",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::ConfigMap],
        allowed: "`true` or `false`",
        default: "`false`",
        docs: "Refuses TLS clients without server name, and those whose server name matches no certificate of an Ingress, \
               instead of showing them the default certificate. Hosts whose `spec.tls` names no Secret cannot be reached \
               over TLS then.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: boolean,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!((SSL_MIN_VERSION.parse)("tlsv1.3"), Ok("TLSv1.3"));
        for bad in
            ["", "TLSv1", "SSLv3", "1.2", "TLSv1.2 no-tls-tickets", "TLSv1.2\n", "TLSv1.4", "%[src]", "\0"]
        {
            assert!((SSL_MIN_VERSION.parse)(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn protocols_that_haproxy_speaks() {
        assert_eq!((TLS_ALPN.parse)("http/1.1, H2"), Ok(vec!["http/1.1", "h2"]));
        let long = "h2,".repeat(1000);
        for bad in [
            "",
            ",",
            "h3",
            "h2,h2",
            "h2;http/1.1",
            "h2\nbind :1",
            "h2,\"x\"",
            "h2 verify",
            "h2\0",
            "#h2",
            &long,
        ] {
            assert!((TLS_ALPN.parse)(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn strict_or_not() {
        assert_eq!((CLIENT_STRICT_SNI.parse)("yes"), Ok(true));
        assert!((CLIENT_STRICT_SNI.parse)("sni").is_err());
    }
}
