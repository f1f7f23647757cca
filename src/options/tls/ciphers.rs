//! `ssl-ciphers`, `ssl-cipher-suites`.
//!
//! A list that selects no cipher would be refused by HAProxy, with everything else in the configuration. So a list must name
//! something that every TLS library has, and may take away only what leaves that.

use std::fmt;

use crate::options::value::word;
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// A list of ciphers in OpenSSL's language that selects at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CipherList(String);

impl fmt::Display for CipherList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Ciphers up to TLS 1.2.
pub static SSL_CIPHERS: Key<CipherList> = Key {
    entry: Entry {
        name: "ssl-ciphers",
        aliases: &[],
        chapter: Chapter::Tls,
        scopes: &[Scope::ConfigMap],
        allowed: "ciphers in OpenSSL's language, separated by `:`, with at least one of `ECDHE-RSA-AES128-GCM-SHA256` and its \
                  kin (`ECDSA`, `AES256`, `SHA384`), `ECDHE`, `AESGCM`, `HIGH`, `ALL`, `DEFAULT`",
        default: "those of HAProxy's TLS library",
        docs: "The ciphers for clients that use TLS 1.2 or older; TLS 1.3 has `ssl-cipher-suites`. A list that would leave \
               nothing is refused.",
        example: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:!aNULL",
        effect: Effect::Reload,
    },
    parse: ciphers,
};

/// What every TLS library has.
const KNOWN: [&str; 11] = [
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE",
    "EECDH",
    "AESGCM",
    "ECDHE+AESGCM",
    "HIGH",
    "ALL",
    "DEFAULT",
];

/// What can be taken away without touching any of those that are known.
const REMOVABLE: &str = "aNULL eNULL NULL EXPORT EXP LOW MEDIUM MD5 RC4 RC2 DES 3DES IDEA SEED CAMELLIA ARIA PSK SRP DSS aDSS \
                         kRSA RSA kDHE kEDH DHE EDH DH ADH AECDH SHA SHA1 AESCCM AESCCM8 CHACHA20 aPSK kPSK SSLv3 TLSv1";

fn ciphers(text: &str) -> Result<CipherList, Wrong> {
    if text.len() > 4096 {
        return Err(Wrong::because("it is longer than 4096 characters"));
    }
    let mut known = false;
    for item in text.split(':') {
        let shown = || item.escape_debug().to_string();
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-+_.".contains(&b);
        let name = item.trim_start_matches(['!', '-', '+']);
        let prefix = &item[..item.len() - name.len()];
        if prefix.is_empty() && (item == "@STRENGTH" || is_level(item)) {
            continue;
        }
        if name.is_empty() || prefix.len() > 1 || !name.bytes().all(allowed) {
            return Err(Wrong::because(format!("`{}` is no cipher", shown())));
        }
        match prefix {
            "" => known |= KNOWN.contains(&name),
            // Only moved to the end.
            "+" => {}
            _ if REMOVABLE.split_ascii_whitespace().any(|removable| removable == name) => {}
            _ if name.contains('-') && !KNOWN.contains(&name) => {}
            _ => return Err(Wrong::because(format!("`{}` may leave no cipher", shown()))),
        }
    }
    if known { Ok(CipherList(text.to_owned())) } else { Err(Wrong::PLAIN) }
}

fn is_level(item: &str) -> bool {
    let level = item.strip_prefix("@SECLEVEL=");
    level.is_some_and(|level| matches!(level, "0" | "1" | "2"))
}

/// Cipher suites of TLS 1.3.
pub static SSL_CIPHER_SUITES: Key<Vec<&'static str>> = Key {
    entry: Entry {
        name: "ssl-cipher-suites",
        aliases: &["ssl-ciphersuites"],
        chapter: Chapter::Tls,
        scopes: &[Scope::ConfigMap],
        allowed: "`TLS_AES_128_GCM_SHA256`, `TLS_AES_256_GCM_SHA384`, `TLS_CHACHA20_POLY1305_SHA256`, \
                  `TLS_AES_128_CCM_SHA256`, `TLS_AES_128_CCM_8_SHA256`, separated by `:`",
        default: "those of HAProxy's TLS library",
        docs: "The cipher suites for clients that use TLS 1.3, the preferred one first.",
        example: "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256",
        effect: Effect::Reload,
    },
    parse: suites,
};

fn suites(text: &str) -> Result<Vec<&'static str>, Wrong> {
    const SUITES: [&str; 5] = [
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
        "TLS_AES_128_CCM_SHA256",
        "TLS_AES_128_CCM_8_SHA256",
    ];
    let mut found = Vec::new();
    for suite in text.split([':', ',']) {
        let suite = word(suite.trim(), &SUITES.map(|suite| (suite, suite)))?;
        if !found.contains(&suite) {
            found.push(suite);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_select_something() {
        for good in [
            "HIGH",
            "ECDHE-RSA-AES128-GCM-SHA256",
            "ECDHE+AESGCM:ECDHE-RSA-CHACHA20-POLY1305:!aNULL:!MD5:-DHE:+SHA:@STRENGTH",
            "ALL:@SECLEVEL=0",
            "ECDHE-ECDSA-AES128-GCM-SHA256:AES128-SHA:!ECDHE-RSA-AES128-SHA",
        ] {
            assert_eq!((SSL_CIPHERS.parse)(good).map(|list| list.to_string()), Ok(good.to_owned()));
        }
        let long = "HIGH:".repeat(1000) + "HIGH";
        for bad in [
            "",
            ":",
            "nonsense",
            "!HIGH",
            "HIGH:!HIGH",
            "HIGH:!ALL",
            "HIGH:-ECDHE",
            "AES128-SHA",
            "HIGH:",
            "HIGH !aNULL",
            "HIGH\n",
            "HIGH:\"x\"",
            "HIGH:#",
            "HIGH:%[src]",
            "HIGH\0",
            "HIGH:!!aNULL",
            "HIGH:@SECLEVEL=9",
            "HIGH:$HOME",
            &long,
        ] {
            assert!((SSL_CIPHERS.parse)(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn suites_have_names() {
        assert_eq!(
            (SSL_CIPHER_SUITES.parse)("TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"),
            Ok(vec!["TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"])
        );
        for bad in [
            "",
            "HIGH",
            "TLS_AES_256_GCM_SHA384 x",
            "TLS_AES_256_GCM_SHA384\nx",
            "TLS_AES_256_GCM_SHA384:",
            "\0",
        ] {
            assert!((SSL_CIPHER_SUITES.parse)(bad).is_err(), "{bad:?}");
        }
    }
}
