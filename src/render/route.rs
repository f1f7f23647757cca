//! Routes as map entries.
//!
//! Keys are `<table>|<host><path>`: the table holds no `|` and the host no `/`, so no two routes share a key. Entries of
//! `prefix.map` end with `/` and are looked up with the request's path and a further `/` by `map_beg`, whose longest entry
//! wins: `/a` matches `/a`, `/a/` and `/a/b`, and not `/ab`. Keys of `regex.map` are regular expressions for the same text.
//!
//! Values are fields between `|`; empty ones at the end are left out, so that most are just a backend:
//!
//! 1. the backend, or `-` for the default of the table,
//! 2. the backend on clear text, when it is another one (a redirect),
//! 3. the port in that redirect,
//! 4. flags: `s` there are shares, `m` there are conditions, `r` (on the root of a host) the host has regular expressions,
//! 5. with `s` or `m`, the id of the route in `split.map` (`<id>|<share>`) and `match.map` (`<id>|<test>`), and
//! 6. with `s`, the number of shares.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::escape;
use super::fixed::redirect_backend;
use super::shares::shares;
use crate::model::{
    BackendName, Candidate, Condition, Expression, Filter, HostMatch, PathMatch, Route, RouteKey, Weighted,
};
use crate::plan::MapId;

/// The value of a host that is known while this path of it is not: the table's default answers.
pub(super) const KNOWN: &str = "-";

/// The entries of a route.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    /// The value of its own entry; `None` for no entry at all.
    pub(super) value: Option<Arc<str>>,
    /// Entries of `split.map` and `match.map` → backend.
    pub(super) others: BTreeMap<(MapId, Arc<str>), Arc<str>>,
}

/// Which map a route is in, and its key there.
pub(super) fn key(route: &RouteKey) -> (MapId, Arc<str>) {
    let (dot, host) = match &route.host {
        HostMatch::Exact(host) => ("", host.as_ref()),
        HostMatch::Wildcard(domain) => (".", domain.as_ref()),
        HostMatch::Any => ("", "*"),
        HostMatch::Default => ("", "!"),
    };
    let table = route.table.as_str();
    let (map, text) = match &route.path {
        PathMatch::Exact(path) => (MapId::Exact, format!("{table}|{dot}{host}{path}")),
        PathMatch::Prefix(path) => (MapId::Prefix, format!("{table}|{dot}{host}{path}/")),
        PathMatch::Regex(path) => {
            let host = escape::literal_regex(&format!("{table}|{dot}{host}"));
            (MapId::Regex, format!("^{host}(?:{path})"))
        }
    };
    (map, escape::map_key(&text).into())
}

/// The key of a host in the map of TLS that is passed through: as HAProxy looks for it, first the whole server name, then from
/// its first dot on.
pub(super) fn server_name(host: &HostMatch) -> Arc<str> {
    match host {
        HostMatch::Exact(host) => escape::map_key(host).into(),
        HostMatch::Wildcard(domain) => format!(".{}", escape::map_key(domain)).into(),
        // No server name is like these.
        HostMatch::Any => "*".into(),
        HostMatch::Default => "!".into(),
    }
}

/// The id of a route: nobody can make two of them the same.
pub(super) fn id(key: &RouteKey) -> String {
    let (map, text) = self::key(key);
    short_digest(&format!("{} {text}", map.file()))
}

/// What stands for an expression in the keys of `match.map`.
pub(super) fn expression_id(Expression(words): &Expression) -> String {
    short_digest(&words.join("\0"))
}

/// 64 bits of SHA-256.
fn short_digest(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().take(8).fold(String::with_capacity(16), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether a value says that its route has entries in other maps.
pub(super) fn has_others(value: &str) -> bool {
    value.split('|').nth(3).is_some_and(|flags| flags.contains(['s', 'm']))
}

/// The entries. `regexes` says whether it is the root of a host that has regular expressions.
///
/// The last candidate is the one without conditions; those before it have one condition each.
pub(super) fn entries(route: &Route, regexes: bool) -> Entries {
    let mut entries = Entries::default();
    if let ([only], false) = (route.candidates.as_slice(), regexes)
        && let ([], [], [Weighted { weight: 1.., backend }]) =
            (only.conditions.as_slice(), only.filters.as_slice(), only.split.as_slice())
    {
        // Nearly all of them.
        entries.value = Some(escape::name(backend.as_str()).into());
        return entries;
    }
    let plain = route.candidates.iter().find(|candidate| candidate.conditions.is_empty());
    if plain.is_none() && route.key.host == HostMatch::Default {
        // A default that answers nothing is no default.
        return entries;
    }
    let split = plain.map(|candidate| shares(&candidate.split)).unwrap_or_default();
    let conditional = || route.candidates.iter().filter(|candidate| candidate.conditions.len() == 1);
    let (splits, matches) = (split.len() > 1, conditional().next().is_some());
    let mut flags = String::new();
    flags.extend(regexes.then_some('r'));
    flags.extend(splits.then_some('s'));
    flags.extend(matches.then_some('m'));

    let mut fields: [String; 6] = Default::default();
    fields[0] = match (plain, split.first()) {
        (None, _) => KNOWN.to_owned(),
        (Some(_), Some((backend, _))) => escape::name(backend.as_str()).into_owned(),
        (Some(_), None) => BackendName::fixed(500).to_string(),
    };
    (fields[1], fields[2]) = clear_text(plain.or_else(|| route.candidates.first()));
    fields[3] = flags;
    if splits || matches {
        let id = id(&route.key);
        let mut add = |map, key: String, backend: &BackendName| {
            let key = escape::map_key(&format!("{id}|{key}")).into();
            entries.others.entry((map, key)).or_insert_with(|| escape::name(backend.as_str()).into());
        };
        let total = split.iter().map(|(_, count)| count).sum::<u32>();
        if splits {
            let each = split.iter().flat_map(|(backend, count)| (0..*count).map(move |_| backend));
            for (number, backend) in each.enumerate() {
                add(MapId::Split, number.to_string(), backend);
            }
            fields[5] = total.to_string();
        }
        for candidate in conditional() {
            let test = match &candidate.conditions[0] {
                Condition::Header(name, value) => format!("h:{name}|{value}"),
                Condition::Cookie(name, value) => format!("c:{name}|{value}"),
                Condition::Expression(expression) => format!("e:{}", expression_id(expression)),
                Condition::Method(_) | Condition::Query(..) => continue,
            };
            let fallback = BackendName::fixed(500);
            let backend = candidate
                .split
                .iter()
                .find(|share| share.weight > 0)
                .map_or(&fallback, |share| &share.backend);
            add(MapId::Match, test, backend);
        }
        fields[4] = id;
    }
    let used = fields.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1);
    entries.value = Some(fields[..used].join("|").into());
    entries
}

/// The backend on clear text, and the port that it redirects to.
fn clear_text(candidate: Option<&Candidate>) -> (String, String) {
    let last = candidate.and_then(|candidate| candidate.filters.last());
    match last {
        Some(Filter::RedirectToHttps { status, port }) => {
            (redirect_backend(*status), port.map(|port| port.to_string()).unwrap_or_default())
        }
        None => Default::default(),
    }
}
