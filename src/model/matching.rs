//! What a request gets: the reference semantics of the model. HAProxy does the same with maps; tests hold one against the other.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{
    BackendName, Candidate, Condition, Expression, Filter, HostMatch, Model, PathMatch, RouteKey, Table,
    Weighted,
};

/// Clear-text requests below this path are never redirected: an ACME server asks there before there is a certificate.
const ACME_CHALLENGE: &str = "/.well-known/acme-challenge/";

/// A request, as far as routing looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// The routing table of the listener it came in by.
    pub table: Table,
    /// The `Host` header as it came, or the authority.
    pub host: &'a str,
    /// The path, without query.
    pub path: &'a str,
    /// The query without `?`.
    pub query: &'a str,
    /// The method.
    pub method: &'a str,
    /// Headers; names in any case.
    pub headers: &'a [(&'a str, &'a str)],
    /// Whether it came in by TLS.
    pub tls: bool,
    /// The regular expressions of routes that match the path from its start on, and the ACL expressions (words, joined by
    /// spaces) that hold: HAProxy and PCRE2 are their judges, so whoever asks says.
    pub judged: &'a [&'a str],
    /// A random number, which decides between the shares of a split.
    pub draw: u32,
}

/// What happens to a request in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is redirected to `https://` with this status and port.
    RedirectToHttps(u16, Option<u16>),
    /// It goes to this backend (which may be a fixed answer).
    Backend(BackendName),
}

/// What a request gets, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The key that matched host and path; `None` when nothing did.
    pub matched: Option<RouteKey>,
    /// The key of the route that answers: the matched one, or the default of the table.
    pub key: Option<RouteKey>,
    /// Which candidate of it.
    pub candidate: Option<usize>,
    /// What happens.
    pub outcome: Outcome,
}

/// Decides.
///
/// The most specific host that the table knows decides alone: exact, then the wildcard of its parent domain (one label), then
/// any host. Within it the whole path, then the longest prefix by path element,
/// then the regular expressions, the longest first, and last the root. Of the route's candidates the first whose
/// conditions hold answers; if there is none, the default of the table does; if there is none either, a fixed 404.
pub fn resolve(model: &Model, request: &Request<'_>) -> Decision {
    let matched = match_key(model, request);
    let default = RouteKey::default_of(request.table.clone());
    for key in matched.iter().chain([&default]) {
        let candidates = model.routes.get(key).map(|route| route.candidates.as_slice()).unwrap_or_default();
        let found =
            candidates.iter().enumerate().find(|(_, c)| c.conditions.iter().all(|c| holds(c, request)));
        if let Some((i, candidate)) = found {
            let outcome = outcome_of(candidate, request);
            return Decision {
                matched: matched.clone(),
                key: Some(key.clone()),
                candidate: Some(i),
                outcome,
            };
        }
    }
    Decision { matched, key: None, candidate: None, outcome: Outcome::Backend(BackendName::fixed(404)) }
}

/// The host of a `Host` header: lower case, no port, no trailing dot; IPv6 literals keep their brackets.
pub fn normalise_host(raw: &str) -> String {
    let end = match raw.rfind(']') {
        Some(bracket) if raw.starts_with('[') => bracket + 1,
        _ => raw.find(':').unwrap_or(raw.len()),
    };
    let host = &raw[..end];
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn match_key(model: &Model, request: &Request<'_>) -> Option<RouteKey> {
    let host = normalise_host(request.host);
    let mut hosts = vec![HostMatch::Exact(host.as_str().into())];
    match host.split_once('.') {
        Some((label, parent)) if !label.is_empty() && !label.starts_with('[') => {
            hosts.push(HostMatch::Wildcard(parent.into()));
        }
        _ => {}
    }
    hosts.push(HostMatch::Any);
    hosts.into_iter().find_map(|host| match_path(model, request, &host))
}

/// The best key of this host. A known host always has a root, so it never falls through to a less specific one.
fn match_path(model: &Model, request: &Request<'_>, host: &HostMatch) -> Option<RouteKey> {
    let path: Arc<str> = request.path.into();
    let prefixes = std::iter::successors(Some(request.path), |p| p.rfind('/').map(|i| &p[..i]))
        .filter(|prefix| !prefix.is_empty())
        .map(|p| PathMatch::Prefix(p.into()));
    let of_host = |key: &&RouteKey| key.table == request.table && key.host == *host;
    let mut regexes: Vec<&Arc<str>> = (model.routes.keys().filter(of_host))
        .filter_map(|key| match &key.path {
            PathMatch::Regex(regex) if request.judged.contains(&&**regex) => Some(regex),
            _ => None,
        })
        .collect();
    regexes.sort_by_key(|regex| (Reverse(regex.len()), *regex));
    std::iter::once(PathMatch::Exact(path))
        .chain(prefixes)
        .chain(regexes.into_iter().map(|regex| PathMatch::Regex(regex.clone())))
        .chain([PathMatch::Prefix("".into())])
        .map(|path| RouteKey { table: request.table.clone(), host: host.clone(), path })
        .find(|key| model.routes.contains_key(key))
}

fn holds(condition: &Condition, request: &Request<'_>) -> bool {
    match condition {
        Condition::Header(name, value) => {
            let mut headers = request.headers.iter();
            headers.find(|(n, _)| n.eq_ignore_ascii_case(name)).is_some_and(|(_, v)| *v == &**value)
        }
        Condition::Cookie(name, value) => {
            let cookies = request.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case("cookie"));
            let mut pairs =
                cookies.flat_map(|(_, v)| v.split(';')).filter_map(|pair| pair.trim().split_once('='));
            pairs.find(|(n, _)| *n == &**name).is_some_and(|(_, v)| v == &**value)
        }
        Condition::Expression(Expression(words)) => request.judged.contains(&words.join(" ").as_str()),
        Condition::Method(method) => request.method == &**method,
        Condition::Query(name, value) => {
            request.query.split('&').any(|pair| pair.split_once('=').unwrap_or((pair, "")) == (name, value))
        }
    }
}

fn outcome_of(candidate: &Candidate, request: &Request<'_>) -> Outcome {
    for filter in &candidate.filters {
        match filter {
            Filter::RedirectToHttps { status, port } => {
                if !request.tls && !request.path.starts_with(ACME_CHALLENGE) {
                    return Outcome::RedirectToHttps(*status, *port);
                }
            }
        }
    }
    Outcome::Backend(share_of(&candidate.split, request.draw))
}

/// The share of a split that a draw falls into. A split in which nothing has a weight cannot be served: 500.
fn share_of(split: &[Weighted], draw: u32) -> BackendName {
    let total: u64 = split.iter().map(|share| u64::from(share.weight)).sum();
    let mut left = u64::from(draw).checked_rem(total).unwrap_or_default();
    for share in split {
        let weight = u64::from(share.weight);
        if left < weight {
            return share.backend.clone();
        }
        left -= weight;
    }
    BackendName::fixed(500)
}

#[cfg(test)]
mod tests;
