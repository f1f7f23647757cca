//! Statistics page and exporter.

use super::entry;
use crate::options::Key;
use crate::options::value::{ObjectRef, object, word};

/// What HAProxy's exporter shows to a scraper that does not say what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExporterScope {
    /// Process and frontends.
    Frontends,
    /// And backends.
    Backends,
    /// And servers that are not in maintenance.
    Servers,
    /// Everything.
    All,
}

const SCOPES: [(&str, ExporterScope); 4] = [
    ("frontends", ExporterScope::Frontends),
    ("backends", ExporterScope::Backends),
    ("servers", ExporterScope::Servers),
    ("all", ExporterScope::All),
];

/// Users of the statistics port.
pub static STATS_AUTH: Key<ObjectRef> = Key {
    entry: entry(
        "stats-auth",
        "a Secret, as `namespace/name`, or `name` in the namespace of the ConfigMap",
        "no password",
        "Asks for user and password on the statistics port: on the page (`/`) and, unless `prometheus-endpoint-auth-secret` says \
         otherwise, on the exporter (`/metrics`). Each entry of the Secret is a user with a password, or with a hash of it as \
         crypt(3) makes it (`$1$`, `$5$`, `$6$`). A Secret that is missing or holds no usable user lets nobody in. HAProxy's health \
         endpoint is on another port and never asks.",
        "infra/stats-users",
    ),
    parse: object,
};

/// Users of the exporter.
pub static PROMETHEUS_ENDPOINT_AUTH_SECRET: Key<ObjectRef> = Key {
    entry: entry(
        "prometheus-endpoint-auth-secret",
        "a Secret, as `namespace/name`, or `name` in the namespace of the ConfigMap",
        "as `stats-auth` says",
        "Users and passwords for `/metrics` on HAProxy's statistics port, in the same form as for `stats-auth`. haproxytech's \
         controller guards its own `/metrics` with this key; here HAProxy's exporter is the one that shows names of backends.",
        "infra/prometheus",
    ),
    parse: object,
};

/// How much the exporter shows.
pub static EXPORTER_SCOPE: Key<ExporterScope> = Key {
    entry: entry(
        "exporter-scope",
        "`frontends`, `backends`, `servers` or `all`",
        "small: process, frontends and backends without the metrics that are large or rarely looked at (HAProxy 3.0 and newer); \
         before 3.0 all metrics of them up to 1,000 backends, above that process and frontends only",
        "What `/metrics` on HAProxy's statistics port shows to a scraper that does not say it itself: a query of the scraper \
         (`?scope=…&metrics=…`) always wins. At 1,000 backends with two servers each `backends` is about 5 MB a scrape, `servers` and \
         `all` 12 MB, and the default 1.5 MB (HAProxy 3.0 to 3.4).",
        "backends",
    ),
    parse: |text| word(text, &SCOPES),
};

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn values() {
        assert_eq!((EXPORTER_SCOPE.parse)("All"), Ok(ExporterScope::All));
        for bad in ["server", "*", "scope=all", "frontends,backends"].iter().chain(&HOSTILE) {
            assert!((EXPORTER_SCOPE.parse)(bad).is_err(), "{bad}");
        }
        for key in [&STATS_AUTH, &PROMETHEUS_ENDPOINT_AUTH_SECRET] {
            assert!((key.parse)("infra/users").is_ok());
            for bad in ["admin:secret", "a/b/c", "/"].iter().chain(&HOSTILE) {
                assert!((key.parse)(bad).is_err(), "{bad}");
            }
        }
    }
}
