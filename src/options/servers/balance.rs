//! `load-balance` and `pod-maxconn`.

use super::{ALL, simple_name};
use crate::model::policy::servers::{Balance, Case, Fetch, HashKey, UriPart};
use crate::options::{Chapter, Effect, Entry, Key, Wrong, value};

/// How requests are spread over pods.
pub static LOAD_BALANCE: Key<Balance> = Key {
    entry: Entry {
        name: "load-balance",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "`roundrobin`, `static-rr`, `leastconn`, `first`, `random`, `random(<draws>)`, `source`, \
                  `uri [whole] [path-only] [len <n>] [depth <n>]`, `url_param <name> [check_post]`, \
                  `hdr(<name>) [use_domain_only]`, `rdp-cookie[(<name>)]` or `hash <expression>`",
        default: "`roundrobin`",
        docs: "How requests are spread over the pods, as HAProxy's `balance`. All that hash (`source`, `uri`, `url_param`, \
               `hdr`, `rdp-cookie`, `hash`) do it consistently: when pods come and go, only their own share moves, and all \
               replicas of the controller agree (before HAProxy 2.6 a replica may differ, since slots are hashed there). \
               `static-rr` is `roundrobin`: HAProxy cannot change its servers while it runs. An `<expression>` is one of \
               `src`, `path`, `pathq`, `query`, `url`, `base`, `req.hdr(<name>)`, `hdr(<name>)`, `req.cook(<name>)`, \
               `cook(<name>)`, `url_param(<name>)`, `urlp(<name>)`, and perhaps `,lower` or `,upper` behind it; HAProxy before \
               2.6 knows no expressions and takes the algorithm that does the same, or `roundrobin` where there is none. \
               `url_param(<name>)` is understood too. TCP services take `roundrobin` in place of what looks into requests.",
        example: "leastconn",
        effect: Effect::Reload,
    },
    parse: balance,
};

/// Most requests that a pod has at a time.
pub static POD_MAXCONN: Key<u32> = Key {
    entry: Entry {
        name: "pod-maxconn",
        aliases: &[],
        chapter: Chapter::Servers,
        scopes: ALL,
        allowed: "a number from 1 to 1000000",
        default: "no limit",
        docs: "Most requests that one pod works on at a time. Further ones wait in a queue of HAProxy, for `timeout-queue`, and \
               take the first pod that becomes free. The number is for all replicas of the controller together: each uses its \
               part of it, at least 1, when it knows how many there are (`--publish-service`), and follows live when that changes (HAProxy 2.2: by a \
               reload).",
        example: "100",
        effect: Effect::Live,
    },
    parse: |text| value::number(text, 1..=1_000_000),
};

fn balance(text: &str) -> Result<Balance, Wrong> {
    let mut words = text.split_ascii_whitespace();
    let Some(algorithm) = words.next() else { return Err(Wrong::PLAIN) };
    let rest: Vec<&str> = words.collect();
    let (name, argument) = match algorithm.split_once('(') {
        Some((name, argument)) => {
            (name, Some(argument.strip_suffix(')').ok_or_else(|| Wrong::because("a `)` is missing"))?))
        }
        None => (algorithm, None),
    };
    match (name, argument, rest.as_slice()) {
        ("roundrobin" | "static-rr", None, []) => Ok(Balance::RoundRobin),
        ("leastconn", None, []) => Ok(Balance::LeastConn),
        ("first", None, []) => Ok(Balance::First),
        ("source", None, []) => Ok(Balance::Source),
        ("random", None, []) => Ok(Balance::Random(None)),
        ("random", Some(draws), []) => {
            let draws = value::number(draws, 1..=100);
            draws.map(|draws| Balance::Random(Some(draws))).map_err(|_| Wrong::because("draws are 1 to 100"))
        }
        ("uri", None, options) => uri(options),
        ("url_param", Some(name), rest) => url_param(name, rest),
        ("url_param", None, [name, rest @ ..]) => url_param(name, rest),
        ("hdr", Some(name), rest) => {
            Ok(Balance::Header { name: simple_name(name)?, domain_only: flag(rest, "use_domain_only")? })
        }
        ("rdp-cookie", None, []) => Ok(Balance::RdpCookie(None)),
        ("rdp-cookie", Some(name), []) => Ok(Balance::RdpCookie(Some(simple_name(name)?))),
        ("hash", None, [expression]) => hash_key(expression).map(Balance::Hash),
        _ => Err(Wrong::PLAIN),
    }
}

fn url_param(name: &str, rest: &[&str]) -> Result<Balance, Wrong> {
    Ok(Balance::UrlParam { name: simple_name(name)?, check_post: flag(rest, "check_post")? })
}

/// Whether the only word is there; another is an error.
fn flag(words: &[&str], word: &str) -> Result<bool, Wrong> {
    match words {
        [] => Ok(false),
        [only] if *only == word => Ok(true),
        _ => Err(Wrong::PLAIN),
    }
}

fn uri(words: &[&str]) -> Result<Balance, Wrong> {
    let mut part = UriPart::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || {
            let word = words.next().copied().unwrap_or_default();
            value::number(word, 1..=10_000).map_err(|_| Wrong::because("`len` and `depth` are 1 to 10000"))
        };
        match *word {
            "whole" => part.whole = true,
            "path-only" => part.path_only = true,
            "len" => part.len = Some(number()?),
            "depth" => part.depth = Some(number()?),
            _ => return Err(Wrong::PLAIN),
        }
    }
    Ok(Balance::Uri(part))
}

fn hash_key(text: &str) -> Result<HashKey, Wrong> {
    let mut parts = text.split(',');
    let fetch = parts.next().unwrap_or_default();
    let fetch = match fetch.split_once('(') {
        None => match fetch {
            "src" => Fetch::Source,
            "path" => Fetch::Path,
            "pathq" => Fetch::PathAndQuery,
            "query" => Fetch::Query,
            "url" => Fetch::Url,
            "base" => Fetch::Base,
            _ => return Err(Wrong::because("the expression is none that is known here")),
        },
        Some((fetch, argument)) => {
            let name =
                simple_name(argument.strip_suffix(')').ok_or_else(|| Wrong::because("a `)` is missing"))?)?;
            match fetch {
                "req.hdr" | "hdr" => Fetch::Header(name),
                "req.cook" | "cook" => Fetch::Cookie(name),
                "url_param" | "urlp" => Fetch::UrlParam(name),
                _ => return Err(Wrong::because("the expression is none that is known here")),
            }
        }
    };
    let cases =
        parts.map(|converter| value::word(converter, &[("lower", Case::Lower), ("upper", Case::Upper)]));
    let cases: Vec<Case> = cases.collect::<Result<_, _>>()?;
    if cases.len() > 4 { Err(Wrong::PLAIN) } else { Ok(HashKey { fetch, cases }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms() {
        let hash = |fetch, cases: &[Case]| Balance::Hash(HashKey { fetch, cases: cases.to_vec() });
        let part = UriPart { whole: true, path_only: false, len: Some(3), depth: Some(2) };
        for (text, expected) in [
            ("roundrobin", Balance::RoundRobin),
            ("static-rr", Balance::RoundRobin),
            ("leastconn", Balance::LeastConn),
            ("first", Balance::First),
            ("random", Balance::Random(None)),
            ("random(3)", Balance::Random(Some(3))),
            ("source", Balance::Source),
            ("uri", Balance::Uri(UriPart::default())),
            ("uri whole  len 3 depth 2", Balance::Uri(part)),
            ("url_param(id)", Balance::UrlParam { name: "id".into(), check_post: false }),
            ("url_param id check_post", Balance::UrlParam { name: "id".into(), check_post: true }),
            ("hdr(X-User)", Balance::Header { name: "X-User".into(), domain_only: false }),
            ("hdr(host) use_domain_only", Balance::Header { name: "host".into(), domain_only: true }),
            ("rdp-cookie", Balance::RdpCookie(None)),
            ("rdp-cookie(msts)", Balance::RdpCookie(Some("msts".into()))),
            ("hash src", hash(Fetch::Source, &[])),
            ("hash req.hdr(X-User),lower", hash(Fetch::Header("X-User".into()), &[Case::Lower])),
            ("hash cook(id)", hash(Fetch::Cookie("id".into()), &[])),
        ] {
            assert_eq!(balance(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_algorithm() {
        for text in [
            "round-robin",
            "roundrobin 1",
            "random(0)",
            "random(101)",
            "random(",
            "uri len",
            "uri len 0",
            "uri depth x",
            "uri roundrobin",
            "url_param",
            "url_param a b",
            "url_param(a b)",
            "hdr",
            "hdr()",
            "hdr(a) b",
            "hdr(a))",
            "hash",
            "hash src,md5",
            "hash var(txn.x)",
            "hash str(a)",
            "hash req.hdr(a),lower,lower,lower,lower,lower",
            "hash src server",
            "first\nserver a 127.0.0.1:1",
        ] {
            assert!(balance(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits() {
        assert_eq!((POD_MAXCONN.parse)("1000000"), Ok(1_000_000));
        for text in ["0", "-1", "1000001", "1.5", "10k"] {
            assert!((POD_MAXCONN.parse)(text).is_err(), "{text}");
        }
    }
}
