//! Keys of haproxytech's controller that have no effect here: each says what to use instead, in one Problem.

use super::entry;
use crate::options::value::boolean;
use crate::options::{Entry, Key, Scope, Wrong};

/// Custom resource for `global`.
pub(super) static CR_GLOBAL: Key<()> = Key {
    entry: unsupported(
        "cr-global",
        "Custom resources are not read. Use the keys of this chapter, and `global-config-snippet` for what has no key.",
    ),
    parse: |_| {
        Err(Wrong::because(
            "custom resources are not read; use the keys of the ConfigMap, such as `maxconn`, and `global-config-snippet`",
        ))
    },
};

/// Custom resource for `defaults`.
pub(super) static CR_DEFAULTS: Key<()> = Key {
    entry: unsupported(
        "cr-defaults",
        "Custom resources are not read. Use the keys of this chapter, such as `timeout-client`, `http-connection-mode` and `log-format`.",
    ),
    parse: |_| {
        Err(Wrong::because(
            "custom resources are not read; use the keys of the ConfigMap, such as `timeout-client` and `log-format`",
        ))
    },
};

/// Custom resource for backends.
pub(super) static CR_BACKEND: Key<()> = Key {
    entry: Entry {
        scopes: &[Scope::Service, Scope::Ingress, Scope::ConfigMap],
        ..unsupported(
            "cr-backend",
            "Custom resources are not read. Use the keys of the chapters Servers, and Access and limits, and `backend-config-snippet` for what has no key.",
        )
    },
    parse: |_| {
        Err(Wrong::because(
            "custom resources are not read; use keys such as `load-balance` and `timeout-server`, and `backend-config-snippet`",
        ))
    },
};

/// Custom resource for the HTTP frontend.
pub(super) static CR_FRONTEND_HTTP: Key<()> = Key { entry: frontend("cr-frontend-http"), parse: no_frontend };

/// Custom resource for the HTTPS frontend.
pub(super) static CR_FRONTEND_HTTPS: Key<()> =
    Key { entry: frontend("cr-frontend-https"), parse: no_frontend };

/// Custom resource for the statistics frontend.
pub(super) static CR_FRONTEND_STATS: Key<()> = Key {
    entry: unsupported(
        "cr-frontend-stats",
        "Custom resources are not read. Use `stats-auth` and `exporter-scope`, and `stats-config-snippet` for what has no key.",
    ),
    parse: |_| {
        Err(Wrong::because(
            "custom resources are not read; use `stats-auth`, `exporter-scope` and `stats-config-snippet`",
        ))
    },
};

/// HTTP/3.
pub(super) static QUIC_ALT_SVC_MAX_AGE: Key<()> = Key {
    entry: unsupported("quic-alt-svc-max-age", "There is no HTTP/3 listener, so nothing is announced."),
    parse: |_| Err(Wrong::because("there is no HTTP/3 listener to announce; remove it")),
};

/// Certificates that nobody needs.
pub(super) static CLEAN_CERTS: Key<()> = Key {
    entry: entry(
        "clean-certs",
        "`true`",
        "`true`",
        "Certificates that nothing refers to any more are always removed. The key is known so that a ConfigMap that says `true` need \
         not be changed.",
        "true",
    ),
    parse: |text| {
        if boolean(text)? {
            Ok(())
        } else {
            Err(Wrong::because("certificates that nothing refers to are always removed"))
        }
    },
};

/// What `allowed` of a key says that allows nothing.
const NOTHING: &str = "no value: it is not supported";

const fn unsupported(name: &'static str, docs: &'static str) -> Entry {
    entry(name, NOTHING, "not supported", docs, "")
}

const fn frontend(name: &'static str) -> Entry {
    unsupported(
        name,
        "Custom resources are not read. Use the keys of the chapters TLS, and Headers, paths and redirects, and `frontend-config-snippet` for what has no key.",
    )
}

fn no_frontend(_: &str) -> Result<(), Wrong> {
    Err(Wrong::because(
        "custom resources are not read; use the keys of the ConfigMap and `frontend-config-snippet`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for key in [
            &CR_GLOBAL,
            &CR_DEFAULTS,
            &CR_BACKEND,
            &CR_FRONTEND_HTTP,
            &CR_FRONTEND_HTTPS,
            &CR_FRONTEND_STATS,
            &QUIC_ALT_SVC_MAX_AGE,
        ] {
            assert!((key.parse)("ns/name").is_err_and(|wrong| !wrong.0.is_empty()), "{}", key.entry.name);
        }
        assert_eq!((CLEAN_CERTS.parse)("yes"), Ok(()));
        assert!((CLEAN_CERTS.parse)("false").is_err() && (CLEAN_CERTS.parse)("").is_err());
    }
}
