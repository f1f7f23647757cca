//! Routes as map entries.
//!
//! Keys are `<table>|<host><path>`: the table holds no `|` and the host no `/`, so no two routes share a key. Entries of
//! `prefix.map` end with `/` and are looked up with the request's path and a further `/` by `map_beg`, whose longest entry
//! wins: `/a` matches `/a`, `/a/` and `/a/b`, and not `/ab`.

use std::sync::Arc;

use super::escape;
use super::fixed::redirect_backend;
use crate::model::{BackendName, Filter, HostMatch, PathMatch, Route, RouteKey};
use crate::plan::MapId;

/// The value of a host that is known while this path of it is not: the table's default answers.
pub(super) const KNOWN: &str = "-";

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

/// The value: `<backend>`, or `<backend>|<backend on clear text>` when the two differ; `None` for no entry at all.
///
/// Conditions and splits are not looked at yet: the first candidate without conditions and its first share with a weight
/// are taken.
pub(super) fn value(route: &Route) -> Option<Arc<str>> {
    let Some(candidate) = route.candidates.iter().find(|c| c.conditions.is_empty()) else {
        // A default that answers nothing is no default.
        return (route.key.host != HostMatch::Default).then(|| KNOWN.into());
    };
    let backend = candidate.split.iter().find(|s| s.weight > 0).map(|s| s.backend.clone());
    let backend = backend.unwrap_or_else(|| BackendName::fixed(500));
    let backend = escape::name(backend.as_str());
    let mut redirect = candidate.filters.iter().map(|filter| match filter {
        Filter::RedirectToHttps(status) => redirect_backend(*status),
    });
    Some(match redirect.next_back() {
        Some(clear_text) => format!("{backend}|{clear_text}").into(),
        None => backend.into(),
    })
}
