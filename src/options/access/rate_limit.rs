//! `rate-limit-requests` and what belongs to it.

use super::lists::{ADDRESSES, Addresses, addresses};
use crate::options::value::{duration, number, size};
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Period when none is written, in milliseconds.
pub const DEFAULT_PERIOD: u32 = 1_000;
/// Entries of the table when none are written.
pub const DEFAULT_SIZE: u64 = 100 << 10;
/// Status when none is written.
pub const DEFAULT_STATUS: u16 = 403;

/// Statuses that HAProxy has an answer for (2.2 to 3.4) and that tell the client to go away or to come back later.
const STATUSES: [u16; 13] = [400, 403, 404, 405, 408, 410, 413, 425, 429, 500, 502, 503, 504];

/// How many.
pub static RATE_LIMIT_REQUESTS: Key<u32> = Key {
    entry: Entry {
        name: "rate-limit-requests",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a number from 1 to 1000000000",
        default: "no limit",
        docs: "So many requests of a source address are served in `rate-limit-period`; further ones get \
               `rate-limit-status-code`, and count as well. Requests count together under one limit: one that an Ingress \
               writes is for the paths of this Ingress, one of the ConfigMap for all paths that have no other. When \
               several controllers share the traffic (the ready endpoints of `--publish-service`), each allows its share: \
               the limit divided by their number, rounded up. A changed limit is applied while HAProxy runs, a new one is \
               a reload. Counts survive a reload; from HAProxy 2.6 on, not one within five seconds (ten on 2.6) of the first limit. Where TLS is passed through there are no requests to count, and no limit.",
        example: "100",
        effect: Effect::Live,
    },
    parse: |text| number(text, 1..=1_000_000_000),
};

/// In which time.
pub static RATE_LIMIT_PERIOD: Key<u32> = Key {
    entry: Entry {
        name: "rate-limit-period",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a duration such as `10s` or `1m`",
        default: "`1s`",
        docs: "The time over which `rate-limit-requests` counts, as a sliding window.",
        example: "1m",
        effect: Effect::Reload,
    },
    parse: duration,
};

/// How many addresses are remembered.
pub static RATE_LIMIT_SIZE: Key<u64> = Key {
    entry: Entry {
        name: "rate-limit-size",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a number from 1 to `100m`; `k` is 1024, `m` 1024 `k`",
        default: "`100k`",
        docs: "How many source addresses are remembered; beyond that the oldest are forgotten. Limits with the same period and \
               size share a table, each with entries of its own. An entry takes about 150 bytes, from when it is used.",
        example: "1m",
        effect: Effect::Reload,
    },
    parse: |text| match size(text)? {
        entries @ 1..=104_857_600 => Ok(entries),
        _ => Err(Wrong::PLAIN),
    },
};

/// What is answered.
pub static RATE_LIMIT_STATUS_CODE: Key<u16> = Key {
    entry: Entry {
        name: "rate-limit-status-code",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "400, 403, 404, 405, 408, 410, 413, 425, 429, 500, 502, 503 or 504",
        default: "`403`, as in haproxytech's controller; `429` says better what is meant",
        docs: "The status of answers to requests above `rate-limit-requests`.",
        example: "429",
        effect: Effect::Reload,
    },
    parse: |text| {
        let status: u16 = number(text, 400..=504)?;
        if STATUSES.contains(&status) { Ok(status) } else { Err(Wrong::PLAIN) }
    },
};

/// Who is exempt.
pub static RATE_LIMIT_WHITELIST: Key<Addresses> = Key {
    entry: Entry {
        name: "rate-limit-whitelist",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: ADDRESSES,
        default: "nobody",
        docs: "Source addresses that `rate-limit-requests` neither limits nor counts; `patterns/NAME` as in `allow-list`. Entries \
               that change are applied while HAProxy runs.",
        example: "10.0.0.0/8",
        effect: Effect::Live,
    },
    parse: addresses,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (text, value) in [("1", Some(1)), ("1000000000", Some(1_000_000_000)), ("0", None), ("-1", None)]
        {
            assert_eq!((RATE_LIMIT_REQUESTS.parse)(text).ok(), value, "{text}");
        }
        for (text, value) in [("10s", Some(10_000)), ("1", None), ("", None)] {
            assert_eq!((RATE_LIMIT_PERIOD.parse)(text).ok(), value, "{text}");
        }
        for (text, value) in
            [("100k", Some(DEFAULT_SIZE)), ("100m", Some(100 << 20)), ("101m", None), ("0", None)]
        {
            assert_eq!((RATE_LIMIT_SIZE.parse)(text).ok(), value, "{text}");
        }
        for (text, value) in
            [("403", Some(403)), ("429", Some(429)), ("200", None), ("401", None), ("418", None)]
        {
            assert_eq!((RATE_LIMIT_STATUS_CODE.parse)(text).ok(), value, "{text}");
        }
        for text in
            ["", "ten", "10\nacl", "10 # x", "%[rand]", "\"10\"", "1e3", "99999999999999999999", "10\0"]
        {
            assert!((RATE_LIMIT_REQUESTS.parse)(text).is_err(), "{text}");
            assert!((RATE_LIMIT_STATUS_CODE.parse)(text).is_err(), "{text}");
        }
    }
}
