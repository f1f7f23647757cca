//! `auth-request-headers` and `auth-response-headers`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::options::value::header_name;
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};
use crate::problem::excerpt;

const SCOPES: &[Scope] = &[Scope::Service, Scope::Ingress, Scope::ConfigMap];

/// What the service gets; `None`: all headers.
pub static AUTH_REQUEST_HEADERS: Key<Option<Vec<Arc<str>>>> = Key {
    entry: Entry {
        name: "auth-request-headers",
        aliases: &["auth-headers-request"],
        chapter: Chapter::Access,
        scopes: SCOPES,
        allowed: "`*`, or names of headers separated by commas",
        default: "`*`",
        docs: "Headers of the request that the service of `auth-url` gets; `*` means all but those about the connection and \
               the body. `X-Original-URL`, `X-Original-Method`, `X-Original-URI`, `X-Auth-Request-Redirect`, `X-Real-IP`, \
               `X-Forwarded-For`, `-Proto`, `-Host` and `-Port` are always there and never what a client made up. With a \
               value that is not allowed the path answers 503.",
        example: "Authorization,Cookie",
        effect: Effect::Reload,
    },
    parse: request_headers,
};

/// What the pod gets.
pub static AUTH_RESPONSE_HEADERS: Key<Vec<Arc<str>>> = Key {
    entry: Entry {
        name: "auth-response-headers",
        aliases: &["auth-headers-succeed"],
        chapter: Chapter::Access,
        scopes: SCOPES,
        allowed: "names of headers separated by commas",
        default: "none",
        docs: "Headers of the answer of `auth-url` that are added to the request for the pod. What the client sent under these \
               names is removed first, also when the service does not set them, so the pod can trust them. `Set-Cookie` of \
               the answer always goes to the client and need not be named. With a value that is not allowed the path \
               answers 503.",
        example: "X-Auth-Request-User,X-Auth-Request-Email",
        effect: Effect::Reload,
    },
    parse: response_headers,
};

/// Headers of a connection or of the body; without them a request would be another one.
const NOT_COPIED: [&str; 12] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "set-cookie",
];

fn request_headers(text: &str) -> Result<Option<Vec<Arc<str>>>, Wrong> {
    if text == "*" { Ok(None) } else { names(text).map(Some) }
}

fn response_headers(text: &str) -> Result<Vec<Arc<str>>, Wrong> {
    let names = names(text)?;
    match names.iter().find(|name| NOT_COPIED.contains(&name.as_ref())) {
        Some(name) => Err(Wrong::because(format!("`{name}` cannot be copied to a request"))),
        None => Ok(names),
    }
}

/// Lower case, sorted, each once.
fn names(text: &str) -> Result<Vec<Arc<str>>, Wrong> {
    const MOST: usize = 64;
    let mut names = BTreeSet::new();
    for word in text.split([',', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()) {
        let name = header_name(&word.to_ascii_lowercase());
        let name = name.ok().filter(|name| !name.contains('*')).ok_or_else(|| {
            let shown = excerpt(word, 60);
            Wrong::because(format!("`{shown}` is no name of a header"))
        })?;
        names.insert(name);
    }
    match names.len() {
        0 => Err(Wrong::because("it names no header")),
        1..=MOST => Ok(names.into_iter().collect()),
        _ => Err(Wrong::because("it names more than 64 headers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_case_and_each_counts_once() {
        let parsed = (AUTH_RESPONSE_HEADERS.parse)("X-User, x-user\nAuthorization").unwrap();
        assert_eq!(parsed.iter().map(AsRef::as_ref).collect::<Vec<_>>(), ["authorization", "x-user"]);
        assert_eq!((AUTH_REQUEST_HEADERS.parse)("*"), Ok(None));
        assert!((AUTH_REQUEST_HEADERS.parse)("Cookie").unwrap().is_some());
    }

    #[test]
    fn wrong_values() {
        let many = (0..65).map(|i| format!("x-{i}")).collect::<Vec<_>>().join(",");
        let long = "x".repeat(300);
        for text in ["", ",", "*,x", "X-*", "a:b", "a\0b", "a\"b", "ä", "%[src]", "x;y", &many, &long] {
            assert!((AUTH_RESPONSE_HEADERS.parse)(text).is_err(), "{text}");
            assert!((AUTH_REQUEST_HEADERS.parse)(text).is_err(), "{text}");
        }
        // Words that HAProxy knows are names like any other.
        assert!((AUTH_RESPONSE_HEADERS.parse)("http-request deny #").is_ok());
        for text in ["*", "Host", "Content-Length", "transfer-encoding", "Set-Cookie", "X-User,Connection"] {
            assert!((AUTH_RESPONSE_HEADERS.parse)(text).is_err(), "{text}");
        }
    }
}
