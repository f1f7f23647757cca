//! What is said about TLS to clients: who gets in by a certificate, HSTS.

use std::fmt::Write as _;

use crate::model::Policy;
use crate::model::policy::tls::{Clients, Hsts};
use crate::render::text::Text;

/// Headers about the certificate of the client: name and what HAProxy says.
const HEADERS: [(&str, &str); 4] = [
    ("X-SSL-Client-Verify", "ssl_c_verify"),
    ("X-SSL-Client-CN", "ssl_c_s_dn(cn)"),
    ("X-SSL-Client-DN", "ssl_c_s_dn"),
    ("X-SSL-Client-SHA1", "ssl_c_sha1,hex"),
];

/// Who gets in by a certificate: before everything else.
pub(super) fn write_clients(text: &mut Text, policy: &Policy) {
    let Some(clients) = policy.tls.clients else { return };
    match clients {
        Clients::HostClosed => return closed(text, ""),
        Clients::ListenerClosed => return closed(text, " if { ssl_fc }"),
        Clients::Host { required } => {
            if required {
                // An ACME server asks in clear text; its tokens are base64url, and nothing else passes.
                text.line(format_args!(
                    "http-request deny deny_status 403 if !{{ ssl_fc }} !{{ path -m reg ^/[.]well-known/acme-challenge/[A-Za-z0-9_-]+$ }}"
                ));
            }
            // The listener checked clients of the server name; the certificate says nothing about another host. HTTP/2
            // clients open another connection then (RFC 9110 section 15.5.20).
            text.line(format_args!(
                "http-request return status 421 content-type text/plain string \"this host needs a connection of its own\" if {{ ssl_fc }} !{{ ssl_fc_sni,lower,strcmp(txn.host) eq 0 }}"
            ));
            if required {
                deny_without_certificate(text);
            }
        }
        // Not every certificate that is shown to clients asks for theirs: those that are generated do not.
        Clients::Listener { required: true } => deny_without_certificate(text),
        Clients::Listener { required: false } => {}
    }
    // Whoever signs certificates for others must not be able to add headers for them.
    text.line(format_args!("http-request deny deny_status 400 if {{ ssl_c_s_dn -m reg [[:cntrl:]] }}"));
    for (name, sample) in HEADERS {
        text.line(format_args!("http-request del-header {name}"));
        text.line(format_args!("http-request set-header {name} %[{sample}] if {{ ssl_c_used }}"));
    }
}

fn closed(text: &mut Text, condition: &str) {
    text.line(format_args!(
        "http-request return status 503 content-type text/plain string \"certificates of clients cannot be checked - 503\"{condition}"
    ));
}

fn deny_without_certificate(text: &mut Text) {
    text.line(format_args!(
        "http-request deny deny_status 403 if {{ ssl_fc }} !{{ ssl_c_used }} || {{ ssl_c_used }} !{{ ssl_c_verify 0 }}"
    ));
}

/// Headers of answers.
pub(super) fn write(text: &mut Text, policy: &Policy) {
    if let Some(Hsts { max_age, subdomains, preload }) = policy.tls.hsts {
        let mut value = format!("max-age={max_age}");
        if subdomains {
            let _ = write!(value, "; includeSubDomains");
        }
        if preload {
            let _ = write!(value, "; preload");
        }
        // `after`: HAProxy's own answers, such as redirects, have it, too.
        text.line(format_args!(
            "http-after-response set-header Strict-Transport-Security \"{value}\" if {{ ssl_fc }}"
        ));
    }
}
