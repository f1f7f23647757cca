//! HAProxy's own endpoints: statistics page, exporter, health.

use super::escape;
use super::frontend::Frontends;
use super::text::Text;
use crate::model::global::stats::{MANY_BACKENDS, Proof, Scope, Stats, Users};
use crate::plan::MapId;

/// Requests for the exporter.
const EXPORTER: &str = "{ path /metrics }";

/// What the exporter leaves out of backends by default: what is large, always the same without health checks, or a maximum
/// since the start. Names that a version does not have do no harm.
const RARE: [&str; 32] = [
    "agg_check_status",
    "agg_server_check_status",
    "agg_server_status",
    "backup_servers",
    "check_last_change_seconds",
    "check_up_down_total",
    "connection_attempts_total",
    "connection_reuses_total",
    "downtime_seconds_total",
    "failed_header_rewriting_total",
    "http_cache_hits_total",
    "http_cache_lookups_total",
    "http_comp_bytes_bypassed_total",
    "http_comp_bytes_in_total",
    "http_comp_bytes_out_total",
    "http_comp_responses_total",
    "internal_errors_total",
    "last_session_seconds",
    "limit_sessions",
    "loadbalanced_total",
    "max_connect_time_seconds",
    "max_queue",
    "max_queue_time_seconds",
    "max_response_time_seconds",
    "max_session_rate",
    "max_sessions",
    "max_total_time_seconds",
    "responses_denied_total",
    "server_aborts_total",
    "status",
    "uweight",
    "weight",
];

/// The sections that hold users of the statistics port.
pub(super) fn write_users(text: &mut Text, stats: &Stats) {
    for (name, users) in [("page", &stats.page), ("exporter", &stats.exporter)] {
        let crypt = crypt_of(users.as_ref());
        if crypt.is_empty() {
            continue;
        }
        text.section(format_args!("userlist stats-{name}"));
        for (user, hash) in crypt {
            text.line(format_args!("user {} password {}", escape::word(user), escape::word(hash)));
        }
    }
}

fn crypt_of(users: Option<&Users>) -> Vec<(&str, &str)> {
    let users = users.into_iter().flat_map(|users| &users.0);
    users
        .filter_map(|(user, proof)| match proof {
            Proof::Crypt(hash) => Some((user.as_ref(), hash.as_ref())),
            Proof::Digest(_) => None,
        })
        .collect()
}

impl Frontends<'_> {
    /// The frontends of statistics and health.
    pub(super) fn write_endpoints(&self, text: &mut Text) {
        if self.open(text, "stats", self.global.listeners.stats, "") {
            let stats = &self.global.stats;
            if let Some(users) = &stats.page {
                guard(text, "page", users, &format!("!{EXPORTER}"));
            }
            if let Some(users) = &stats.exporter {
                guard(text, "exporter", users, EXPORTER);
            }
            self.write_scope(text, stats.scope);
            text.line(format_args!("http-request use-service prometheus-exporter if {EXPORTER}"));
            text.lines(&["stats enable", "stats uri /", "stats refresh 10s"]);
            text.snippet(self.global.snippets.stats.as_ref(), self.paths);
        }
        if self.open(text, "healthz", self.global.listeners.healthz, "") {
            text.lines(&[
                "no log",
                "http-request return status 200 content-type text/plain string ok if { path /healthz /readyz }",
                "http-request return status 404 content-type text/plain string \"not found\"",
            ]);
        }
    }

    /// The query of a scraper that has none.
    fn write_scope(&self, text: &mut Text, scope: Scope) {
        const FRONTENDS: &str = "scope=global&scope=frontend";
        const BACKENDS: &str = "scope=global&scope=frontend&scope=backend";
        let mut query = |query: &str, condition: &str| {
            text.line(format_args!(
                "http-request set-query {query} if {EXPORTER} !{{ query -m found }}{condition}"
            ));
        };
        match scope {
            Scope::Small if self.paths.capabilities.chooses_metrics() => {
                let rare: Vec<String> = RARE.iter().map(|name| format!("-haproxy_backend_{name}")).collect();
                query(&format!("{BACKENDS}&metrics={}", rare.join(",")), "");
            }
            Scope::Small => {
                let (key, few) = MANY_BACKENDS;
                let values = self.paths.map(MapId::Values);
                query(FRONTENDS, &format!(" {{ str({key}),map_str({values}) -m str {few} }}"));
                query(BACKENDS, "");
            }
            Scope::Frontends => query(FRONTENDS, ""),
            Scope::Backends => query(BACKENDS, ""),
            Scope::Servers => query(&format!("{BACKENDS}&scope=server&no-maint"), ""),
            Scope::All => {}
        }
    }
}

/// Lets only users in.
fn guard(text: &mut Text, name: &str, users: &Users, condition: &str) {
    if users.0.is_empty() {
        text.line(format_args!("http-request deny deny_status 403 if {condition}"));
        return;
    }
    let digests: Vec<&str> = (users.0.values())
        .filter_map(|proof| match proof {
            Proof::Digest(digest) => Some(digest.as_ref()),
            Proof::Crypt(_) => None,
        })
        .collect();
    if !digests.is_empty() {
        text.line(format_args!(
            "http-request set-var(txn.proof) 'req.fhdr(authorization),word(2, ),b64dec,sha2(256),hex'"
        ));
    }
    // One name for all of them: any will do.
    for digest in digests {
        text.line(format_args!("acl {name}-user var(txn.proof) -m str -- {digest}"));
    }
    if !crypt_of(Some(users)).is_empty() {
        text.line(format_args!("acl {name}-user http_auth(stats-{name})"));
    }
    text.line(format_args!("http-request auth realm Statistics if {condition} !{name}-user"));
}
