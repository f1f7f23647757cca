//! What the frontends do with a route that is more than a backend: conditions, shares, regular expressions, a port in the
//! redirect. Only what some route needs stands there, and all of it is behind the flags of the route that was found.

use std::collections::BTreeSet;

use super::route::{KNOWN, expression_id};
use super::text::Text;
use super::{Paths, escape};
use crate::model::{Need, Table, Test};
use crate::plan::MapId;

/// The lines between the lookup of a route (`txn.route`, `txn.key`) and the choice of a backend (`txn.backend`).
pub(super) struct Routing<'a> {
    needs: &'a BTreeSet<Need>,
    paths: &'a Paths<'a>,
    table: Table,
}

impl<'a> Routing<'a> {
    /// The lines; `None` when every route is just a backend and perhaps a redirect.
    pub(super) fn of(needs: &'a BTreeSet<Need>, paths: &'a Paths<'a>, table: Table) -> Option<Self> {
        let ours =
            |need: &Need| matches!(need, Need::Split | Need::Test(_) | Need::RegexPaths | Need::RedirectPort);
        needs.iter().any(ours).then_some(Self { needs, paths, table })
    }

    /// Decides the backend.
    pub(super) fn write(&self, text: &mut Text) {
        let has = |need| self.needs.contains(&need);
        let tests: Vec<&Test> = (self.needs.iter())
            .filter_map(|need| if let Need::Test(test) = need { Some(test) } else { None })
            .collect();
        text.line(format_args!("http-request set-var(txn.route_flags) var(txn.route),field(4,|)"));
        if has(Need::RegexPaths) {
            let map = self.paths.map(MapId::Regex);
            let flag = "if { var(txn.route_flags) -m sub r }";
            text.line(format_args!("http-request set-var(txn.route) var(txn.key),map_reg({map}) {flag}"));
            text.line(format_args!("http-request set-var(txn.route_flags) var(txn.route),field(4,|) {flag}"));
        }
        if has(Need::Split) || !tests.is_empty() {
            text.line(format_args!(
                "http-request set-var(txn.route_id) var(txn.route),field(5,|) if {{ var(txn.route_flags) -m sub s m }}"
            ));
        }
        for test in tests {
            self.look_at(text, test);
        }
        if has(Need::Split) {
            let map = self.paths.map(MapId::Split);
            let guard = "if { var(txn.route_flags) -m sub s } !{ var(txn.route_pick) -m found }";
            text.line(format_args!(
                "http-request set-var(txn.route_shares) var(txn.route),field(6,|) {guard}"
            ));
            text.line(format_args!(
                "http-request set-var(txn.route_draw) rand(2147483647),mod(txn.route_shares) {guard}"
            ));
            text.line(format_args!(
                "http-request set-var(txn.route_pick) var(txn.route_id),concat(|,txn.route_draw),map_str({map}) {guard}"
            ));
        }
        text.line(format_args!("http-request set-var(txn.backend) var(txn.route),field(1,|)"));
        text.line(format_args!(
            "http-request set-var(txn.backend) var(txn.route_pick) if {{ var(txn.route_pick) -m found }}"
        ));
        // No condition held, or no regular expression matched: the default of the table, which has neither.
        let (prefix, table) = (self.paths.map(MapId::Prefix), self.table.as_str());
        let known = format!("if {{ var(txn.backend) -m str -- {KNOWN} }}");
        text.line(format_args!("http-request set-var(txn.route) str({table}|!/),map_beg({prefix}) {known}"));
        text.line(format_args!("http-request set-var(txn.backend) var(txn.route),field(1,|) {known}"));
    }

    /// One test: the backend that `match.map` has for the route and what was found.
    fn look_at(&self, text: &mut Text, what: &Test) {
        let map = self.paths.map(MapId::Match);
        let guard = "if { var(txn.route_flags) -m sub m } !{ var(txn.route_pick) -m found }";
        let (sample, key, found) = match what {
            Test::Expression(expression) => {
                let words: Vec<String> = expression.0.iter().map(|word| escape::word(word)).collect();
                (None, format!("|e:{}", expression_id(expression)), words.join(" "))
            }
            // `fhdr` with 1: the whole value of the first; `hdr` would cut at a comma.
            Test::Header(name) => {
                let name = escape::word(name);
                (
                    Some(format!("req.fhdr({name},1)")),
                    format!("|h:{name}|"),
                    format!("req.fhdr({name}) -m found"),
                )
            }
            Test::Cookie(name) => {
                let name = escape::word(name);
                (
                    Some(format!("req.cook({name})")),
                    format!("|c:{name}|"),
                    format!("req.cook({name}) -m found"),
                )
            }
        };
        let key = match sample {
            Some(sample) => {
                text.line(format_args!(
                    "http-request set-var(txn.route_value) {sample} {guard} {{ {found} }}"
                ));
                format!("concat({key},txn.route_value)")
            }
            None => format!("concat({key})"),
        };
        text.line(format_args!(
            "http-request set-var(txn.route_pick) var(txn.route_id),{key},map_str({map}) {guard} {{ {found} }}"
        ));
    }

    /// On clear text: the redirect, if the route has one.
    pub(super) fn clear_text(&self, text: &mut Text) {
        let guard = |field: u8| {
            format!(
                "if {{ var(txn.route),field({field},|) -m len gt 0 }} !{{ path_beg /.well-known/acme-challenge/ }}"
            )
        };
        if self.needs.contains(&Need::RedirectPort) {
            text.line(format_args!(
                "http-request set-var(txn.route_port) var(txn.route),field(3,|) {}",
                guard(3)
            ));
        }
        text.line(format_args!("http-request set-var(txn.backend) var(txn.route),field(2,|) {}", guard(2)));
    }
}
