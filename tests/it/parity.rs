//! Every annotation and ConfigMap key of haproxytech's controller is registered (peers.md 1.2), so that nobody who moves over
//! loses one without a word.

use outrigger::options::{Scope, find};

/// Name, and where that controller reads it: C ConfigMap, I Ingress, S Service.
const KEYS: &[(&str, &str)] = &[
    // Routing, rewriting, headers
    ("route-acl", "S"),
    ("path-rewrite", "CI"),
    ("set-host", "CI"),
    ("request-set-header", "CI"),
    ("response-set-header", "CI"),
    ("request-redirect", "CI"),
    ("request-redirect-code", "CI"),
    ("request-capture", "CI"),
    ("request-capture-len", "CI"),
    ("forwarded-for", "CIS"),
    ("src-ip-header", "CI"),
    ("standalone-backend", "IS"),
    ("ingress.class", "I"),
    // TLS, redirect to TLS, client certificates
    ("ssl-certificate", "C"),
    ("ssl-redirect", "CI"),
    ("ssl-redirect-code", "CI"),
    ("ssl-redirect-port", "CI"),
    ("ssl-passthrough", "CIS"),
    ("tls-alpn", "C"),
    ("client-ca", "C"),
    ("client-crt-optional", "C"),
    ("client-strict-sni", "C"),
    ("generate-certificates-signer", "C"),
    ("clean-certs", "C"),
    ("quic-alt-svc-max-age", "C"),
    // Backend servers
    ("load-balance", "CIS"),
    ("scale-server-slots", "CIS"),
    ("servers-increment", "CIS"),
    ("server-slots", "CIS"),
    ("pod-maxconn", "CIS"),
    ("check", "CIS"),
    ("check-http", "CIS"),
    ("check-interval", "CIS"),
    ("timeout-check", "CIS"),
    ("cookie-persistence", "CS"),
    ("cookie-persistence-no-dynamic", "CS"),
    ("server-ssl", "CIS"),
    ("server-ca", "CIS"),
    ("server-crt", "CIS"),
    ("server-proto", "CIS"),
    ("send-proxy-protocol", "CIS"),
    ("timeout-server", "CIS"),
    ("timeout-server-fin", "C"),
    ("abortonclose", "CIS"),
    // Access control, auth, limits, CORS
    ("allow-list", "CI"),
    ("whitelist", "CI"),
    ("deny-list", "CI"),
    ("blacklist", "CI"),
    ("auth-type", "CI"),
    ("auth-secret", "CI"),
    ("auth-realm", "CI"),
    ("rate-limit-requests", "CI"),
    ("rate-limit-period", "CI"),
    ("rate-limit-size", "CI"),
    ("rate-limit-status-code", "CI"),
    ("rate-limit-whitelist", "CI"),
    ("cors-enable", "CI"),
    ("cors-allow-origin", "CI"),
    ("cors-allow-methods", "CI"),
    ("cors-allow-headers", "CI"),
    ("cors-allow-credentials", "CI"),
    ("cors-max-age", "CI"),
    ("cors-respond-to-options", "CI"),
    // Global, defaults, logging
    ("maxconn", "C"),
    ("nbthread", "C"),
    ("hard-stop-after", "C"),
    ("http-connection-mode", "C"),
    ("http-keep-alive", "C"),
    ("http-server-close", "C"),
    ("proxy-protocol", "C"),
    ("syslog-server", "C"),
    ("log-format", "C"),
    ("log-format-tcp", "C"),
    ("dontlognull", "C"),
    ("logasap", "C"),
    ("timeout-client", "C"),
    ("timeout-client-fin", "C"),
    ("timeout-connect", "C"),
    ("timeout-http-request", "C"),
    ("timeout-http-keep-alive", "C"),
    ("timeout-queue", "C"),
    ("timeout-tunnel", "C"),
    ("prometheus-endpoint-auth-secret", "C"),
    // Raw configuration and custom resources
    ("global-config-snippet", "C"),
    ("frontend-config-snippet", "C"),
    ("stats-config-snippet", "C"),
    ("backend-config-snippet", "CIS"),
    ("cr-global", "C"),
    ("cr-defaults", "C"),
    ("cr-backend", "CIS"),
    ("cr-frontend-http", "C"),
    ("cr-frontend-https", "C"),
    ("cr-frontend-stats", "C"),
];

#[test]
fn every_key_of_the_other_controller_is_known() {
    let missing: Vec<&str> = KEYS.iter().map(|(name, _)| *name).filter(|name| find(name).is_none()).collect();
    assert!(missing.is_empty(), "{} keys are not registered: {missing:#?}", missing.len());
}

#[test]
fn every_key_may_be_written_where_the_other_controller_reads_it() {
    let mut narrower = Vec::new();
    for (name, scopes) in KEYS {
        let Some(key) = find(name) else { continue };
        for (letter, scope) in [('C', Scope::ConfigMap), ('I', Scope::Ingress), ('S', Scope::Service)] {
            if scopes.contains(letter) && !key.entry().scopes.contains(&scope) {
                narrower.push(format!("{name}: not on {}", scope.as_str()));
            }
        }
    }
    assert!(narrower.is_empty(), "{narrower:#?}");
}
