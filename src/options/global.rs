//! HAProxy as a whole: limits, connections, timeouts, listeners, logs, statistics, compression. ConfigMap only.

mod compression;
mod connections;
mod listeners;
mod log_format;
mod process;
mod stats;
mod syslog;
mod syslog_endpoint;
mod timeouts;
mod unsupported;

pub use compression::{COMPRESSION_ALGO, COMPRESSION_TYPE, COMPRESSION_TYPES};
pub use connections::{DONTLOGNULL, HTTP_CONNECTION_MODE, HTTP_KEEP_ALIVE, HTTP_SERVER_CLOSE, LOGASAP};
pub use listeners::{HTTP_PORT, HTTPS_PORT};
#[cfg(test)]
pub(crate) use log_format::everything as every_log_item;
pub use log_format::{LOG_FORMAT, LOG_FORMAT_TCP, LogFormat, LogLine, tcp_log_line};
pub use process::{HARD_STOP_AFTER, MAXCONN, NBTHREAD};
pub use stats::{EXPORTER_SCOPE, ExporterScope, PROMETHEUS_ENDPOINT_AUTH_SECRET, STATS_AUTH};
pub use syslog::{LogTarget, SYSLOG_SERVER};
pub use syslog_endpoint::{SYSLOG_ENDPOINT, SYSLOG_FORMAT, SYSLOG_LENGTH, SYSLOG_TAG};
pub use timeouts::{
    TIMEOUT_CLIENT, TIMEOUT_CLIENT_FIN, TIMEOUT_CONNECT, TIMEOUT_HTTP_KEEP_ALIVE, TIMEOUT_HTTP_REQUEST,
    TIMEOUT_QUEUE, TIMEOUT_SERVER_FIN,
};

use super::{Chapter, Effect, Entry, Family, Scope};

/// The keys of this folder.
pub(super) static KEYS: Family = &[
    &MAXCONN,
    &NBTHREAD,
    &HARD_STOP_AFTER,
    &HTTP_CONNECTION_MODE,
    &HTTP_KEEP_ALIVE,
    &HTTP_SERVER_CLOSE,
    &DONTLOGNULL,
    &LOGASAP,
    &TIMEOUT_CLIENT,
    &TIMEOUT_CLIENT_FIN,
    &TIMEOUT_CONNECT,
    &TIMEOUT_HTTP_KEEP_ALIVE,
    &TIMEOUT_HTTP_REQUEST,
    &TIMEOUT_QUEUE,
    &TIMEOUT_SERVER_FIN,
    &HTTP_PORT,
    &HTTPS_PORT,
    &SYSLOG_SERVER,
    &SYSLOG_ENDPOINT,
    &SYSLOG_FORMAT,
    &SYSLOG_LENGTH,
    &SYSLOG_TAG,
    &LOG_FORMAT,
    &LOG_FORMAT_TCP,
    &STATS_AUTH,
    &PROMETHEUS_ENDPOINT_AUTH_SECRET,
    &EXPORTER_SCOPE,
    &COMPRESSION_ALGO,
    &COMPRESSION_TYPE,
    &unsupported::CR_GLOBAL,
    &unsupported::CR_DEFAULTS,
    &unsupported::CR_BACKEND,
    &unsupported::CR_FRONTEND_HTTP,
    &unsupported::CR_FRONTEND_HTTPS,
    &unsupported::CR_FRONTEND_STATS,
    &unsupported::QUIC_ALT_SVC_MAX_AGE,
    &unsupported::CLEAN_CERTS,
];

/// What most keys of this folder have in common: without alias, in the ConfigMap, by reload.
const fn entry(
    name: &'static str,
    allowed: &'static str,
    default: &'static str,
    docs: &'static str,
    example: &'static str,
) -> Entry {
    Entry {
        name,
        aliases: &[],
        chapter: Chapter::Global,
        scopes: &[Scope::ConfigMap],
        allowed,
        default,
        docs,
        example,
        effect: Effect::Reload,
    }
}

/// What no key of this folder allows, whatever it means.
#[cfg(test)]
const HOSTILE: [&str; 12] = [
    "",
    "\n",
    "a\nb",
    "10s\nuser root",
    "\"",
    "'",
    "# x",
    "%[env(PATH)]",
    "a\0b",
    "daemon on",
    "$HOME",
    "\u{7f}\u{e4}\u{2028}",
];
