//! TLS towards clients.

mod certificates;
mod ciphers;
mod clients;
mod hsts;
mod listener;
mod passthrough;

pub use certificates::{GENERATE_CERTIFICATES_SIGNER, SSL_CERTIFICATE};
pub use ciphers::{CipherList, SSL_CIPHER_SUITES, SSL_CIPHERS};
pub use clients::{CLIENT_CA, CLIENT_CRL, CLIENT_CRT_OPTIONAL};
pub use hsts::{DEFAULT_MAX_AGE, HSTS, HSTS_INCLUDE_SUBDOMAINS, HSTS_MAX_AGE, HSTS_PRELOAD};
pub use listener::{CLIENT_STRICT_SNI, SSL_MIN_VERSION, TLS_ALPN};
pub use passthrough::SSL_PASSTHROUGH;

use super::Family;

/// The keys of this file.
pub(super) static KEYS: Family = &[
    &SSL_CERTIFICATE,
    &GENERATE_CERTIFICATES_SIGNER,
    &SSL_PASSTHROUGH,
    &TLS_ALPN,
    &SSL_MIN_VERSION,
    &SSL_CIPHERS,
    &SSL_CIPHER_SUITES,
    &CLIENT_STRICT_SNI,
    &CLIENT_CA,
    &CLIENT_CRL,
    &CLIENT_CRT_OPTIONAL,
    &HSTS,
    &HSTS_MAX_AGE,
    &HSTS_INCLUDE_SUBDOMAINS,
    &HSTS_PRELOAD,
];
