//! `ssl-redirect-code` and `ssl-redirect-port`.

use crate::options::value::{number, word};
use crate::options::{Chapter, Effect, Entry, Key, Scope};

/// Status of the redirect to HTTPS when the key is not written.
pub const DEFAULT_SSL_REDIRECT_CODE: u16 = 302;

/// Status of the redirect to HTTPS.
pub static SSL_REDIRECT_CODE: Key<u16> = Key {
    entry: Entry {
        name: "ssl-redirect-code",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`301`, `302`, `303`, `307` or `308`",
        default: "`302`",
        docs: "Status of the redirect that `ssl-redirect` makes. It does not switch the redirect on. 307 and 308 keep the \
               method of the request.",
        example: "308",
        effect: Effect::Live,
    },
    parse: |text| word(text, &[("301", 301), ("302", 302), ("303", 303), ("307", 307), ("308", 308)]),
};

/// Port in the redirect to HTTPS.
pub static SSL_REDIRECT_PORT: Key<u16> = Key {
    entry: Entry {
        name: "ssl-redirect-port",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a port from 1 to 65535",
        default: "none: the `Location` has no port, which means 443 (haproxytech's controller writes 8443)",
        docs: "Port in the `Location` of the redirect that `ssl-redirect` makes, for clients that reach the HTTPS listener by \
               another port than 443. 443 is left out. The first use of the key is a reload.",
        example: "8443",
        effect: Effect::Live,
    },
    parse: |text| number(text, 1..=u16::MAX),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_ports() {
        assert_eq!((SSL_REDIRECT_CODE.parse)("308"), Ok(308));
        for text in ["", "300", "304", "200", "302 ", "3O2", "302\n", "\0", "%[x]"] {
            assert!((SSL_REDIRECT_CODE.parse)(text).is_err(), "{text:?}");
        }
        assert_eq!((SSL_REDIRECT_PORT.parse)("8443"), Ok(8443));
        for text in ["", "0", "65536", "-1", "https", "84 43", "99999999999999999999", "\0"] {
            assert!((SSL_REDIRECT_PORT.parse)(text).is_err(), "{text:?}");
        }
    }
}
