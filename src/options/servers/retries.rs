//! `retries`, `retry-on`, `redispatch`, `abortonclose`.

use super::ALL;
use crate::model::policy::servers::RetryOn;
use crate::options::{Chapter, Effect, Entry, Key, Wrong, value};
use crate::problem::excerpt;

/// How often a request is tried again.
pub static RETRIES: Key<u16> = Key {
    entry: Entry {
        name: "retries",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "a number from 0 to 100",
        default: "`3`",
        docs: "How often a request is tried again when a pod cannot be reached, or after what `retry-on` says. With \
               `redispatch` the tries may go to other pods.",
        example: "5",
        effect: Effect::Reload,
    },
    parse: |text| value::number(text, 0..=100),
};

/// After what a request is tried again.
pub static RETRY_ON: Key<Vec<RetryOn>> = Key {
    entry: Entry {
        name: "retry-on",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "`none`, or a list of `conn-failure`, `empty-response`, `junk-response`, `response-timeout`, `0rtt-rejected`, \
                  `all-retryable-errors`, `401`, `403`, `404`, `408`, `425`, `500`, `501`, `502`, `503` and `504`, separated by \
                  commas or spaces",
        default: "`conn-failure,empty-response`",
        docs: "After what a request is tried again. After anything but `conn-failure` the pod may have done its work already, so \
               it counts for the methods only that may be repeated (GET, HEAD, OPTIONS, PUT, DELETE, TRACE); a POST or PATCH is \
               tried again when no pod could be reached, and never otherwise. Where more than `conn-failure` counts, HAProxy keeps \
               a copy of each such request (a buffer, 16 kB) until its pod answers. HAProxy 2.2 cannot do it after `401` and \
               `403` and leaves them out.",
        example: "conn-failure,empty-response,503",
        effect: Effect::Reload,
    },
    parse: retry_on,
};

/// Whether a try may go to another pod.
pub static REDISPATCH: Key<bool> = Key {
    entry: Entry {
        name: "redispatch",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "`true` or `false`",
        default: "`true`",
        docs: "Whether the last try of a request goes to another pod, even when a cookie or a hash says which one it is. With \
               `false` the client of a pod that is gone gets 503.",
        example: "false",
        effect: Effect::Reload,
    },
    parse: value::boolean,
};

/// Whether requests whose client has gone are given up.
pub static ABORT_ON_CLOSE: Key<bool> = Key {
    entry: Entry {
        name: "abortonclose",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "`true` or `false`",
        default: "HAProxy's: `true` from 3.3 on, `false` before",
        docs: "Whether a request that waits for a pod (`pod-maxconn`) or is on its way is given up when its client closes the \
               connection. Clients that close their half of it after the request are cut off then.",
        example: "true",
        effect: Effect::Reload,
    },
    parse: value::boolean,
};

fn retry_on(text: &str) -> Result<Vec<RetryOn>, Wrong> {
    let words = text.split([',', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
    let mut found = Vec::new();
    for word in words {
        let wrong = |_| Wrong::because(format!("`{}` is none of these", excerpt(word, 60)));
        found.push(value::word(word, &RetryOn::WORDS).map_err(wrong)?);
    }
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [] => Err(Wrong::PLAIN),
        [_] => Ok(found),
        _ if found.contains(&RetryOn::None) => Err(Wrong::because("`none` stands alone")),
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_conditions() {
        assert_eq!(retry_on("none"), Ok(vec![RetryOn::None]));
        assert_eq!(
            retry_on("503, conn-failure 503\nempty-response"),
            Ok(vec![RetryOn::ConnectionFailure, RetryOn::EmptyResponse, RetryOn::Status(503)])
        );
        for text in [",", "none,503", "502,200", "conn_failure", "418"] {
            assert!(retry_on(text).is_err(), "{text}");
        }
        assert!(RetryOn::WORDS.iter().all(|(word, on)| on.as_str() == *word));
    }

    #[test]
    fn numbers_of_tries() {
        assert_eq!((RETRIES.parse)("0"), Ok(0));
        for text in ["-1", "101", "x"] {
            assert!((RETRIES.parse)(text).is_err(), "{text}");
        }
    }
}
