//! Log targets, and what log lines look like.

use super::escape;
use super::text::Text;
use crate::model::global::logs::{Line, Logs};
use crate::model::{Capabilities, Global};

/// What a line of the JSON formats needs at most: each of the values that clients choose is cut, and grows up to sixfold when
/// it is escaped.
const JSON_LENGTH: u16 = 16_384;

/// The log lines of the global section.
pub(super) fn targets(text: &mut Text, logs: &Logs, capabilities: Capabilities) {
    let has_json = [&logs.http, &logs.tcp].into_iter().any(|line| *line == Some(Line::Json));
    for target in &logs.targets {
        let length = target.length.or_else(|| has_json.then_some(JSON_LENGTH));
        let mut words = vec![escape::word(&target.address)];
        words.extend(length.map(|length| format!("len {length}")));
        words.extend(target.format.map(|format| format!("format {}", known(format, capabilities))));
        let rest = [Some(target.facility), target.level, target.minlevel];
        words.extend(rest.into_iter().flatten().map(str::to_owned));
        text.line(format_args!("log {}", words.join(" ")));
    }
    if let Some(tag) = &logs.tag {
        text.line(format_args!("log-tag {}", escape::word(tag)));
    }
}

/// The format that comes closest to it on this version.
fn known(format: &'static str, capabilities: Capabilities) -> &'static str {
    match format {
        "local" if !capabilities.newer_syslog_formats() => "rfc3164",
        "priority" | "timed" if !capabilities.newer_syslog_formats() => "short",
        "iso" if !capabilities.newer_syslog_formats() => "rfc5424",
        other => other,
    }
}

/// The lines of a frontend that logs requests.
pub(super) fn http_lines(text: &mut Text, global: &Global, capabilities: Capabilities) {
    match &global.logs.http {
        None => text.lines(&["option httplog"]),
        Some(Line::Format(parts)) => write(text, &own(parts, capabilities)),
        Some(Line::Json) => {
            write(text, &json(HTTP, global.defaults.logasap));
            text.lines(&[
                // Headers are gone when the line is written.
                "http-request set-var(txn.agent) req.fhdr(user-agent),bytes(0,256)",
                "http-request set-var(txn.referer) req.fhdr(referer),bytes(0,256)",
            ]);
        }
    }
}

/// The lines of a frontend that logs connections.
pub(super) fn tcp_lines(text: &mut Text, line: Option<&Line>, logasap: bool, capabilities: Capabilities) {
    match line {
        None => text.lines(&["option tcplog"]),
        Some(Line::Format(parts)) => write(text, &own(parts, capabilities)),
        Some(Line::Json) => write(text, &json(TCP, logasap)),
    }
}

fn write(text: &mut Text, format: &str) {
    text.line(format_args!("log-format {}", escape::quoted(format)));
}

fn own(parts: &[std::sync::Arc<str>], capabilities: Capabilities) -> String {
    parts.join(if capabilities.path_only_in_logs() { "HPO" } else { "HP" })
}

/// How a value stands in a JSON object.
enum Value {
    /// A number.
    Number(&'static str),
    /// A number that has a `+` before it when lines are written early.
    Growing(&'static str),
    /// Text that HAProxy chooses.
    Safe(&'static str),
    /// Text that clients choose: as an expression, which is escaped.
    Hostile(&'static str),
}

use Value::{Growing, Hostile, Number, Safe};

const TIME: (&str, Value) = ("time", Safe("%[date,utime(%Y-%m-%dT%H:%M:%SZ)]"));

/// `%HM` is not used for the method, but makes HAProxy keep the request line for the log (2.2 to 3.4).
const HTTP: &[(&str, Value)] = &[
    TIME,
    ("accepted", Number("%Ts.%ms")),
    ("client", Safe("%ci")),
    ("client_port", Number("%cp")),
    ("method", Safe("%HM")),
    ("host", Hostile("var(txn.host),bytes(0,255)")),
    ("uri", Hostile("capture.req.uri")),
    ("protocol", Safe("%[capture.req.ver]")),
    ("status", Number("%ST")),
    ("bytes_received", Number("%U")),
    ("bytes_sent", Growing("%B")),
    ("time_request", Number("%TR")),
    ("time_queue", Number("%Tw")),
    ("time_connect", Number("%Tc")),
    ("time_response", Number("%Tr")),
    ("time_active", Growing("%Ta")),
    ("frontend", Safe("%f")),
    ("backend", Safe("%b")),
    ("server", Safe("%s")),
    ("termination", Safe("%tsc")),
    ("connections", Number("%ac")),
    ("frontend_connections", Number("%fc")),
    ("backend_connections", Number("%bc")),
    ("server_connections", Number("%sc")),
    // With a `+` when another server was tried.
    ("retries", Safe("%rc")),
    ("server_queue", Number("%sq")),
    ("backend_queue", Number("%bq")),
    ("tls_version", Safe("%sslv")),
    ("tls_cipher", Safe("%sslc")),
    ("request_id", Hostile("unique-id")),
    ("user_agent", Hostile("var(txn.agent)")),
    ("referer", Hostile("var(txn.referer)")),
];

const TCP: &[(&str, Value)] = &[
    TIME,
    ("accepted", Number("%Ts.%ms")),
    ("client", Safe("%ci")),
    ("client_port", Number("%cp")),
    ("bytes_received", Number("%U")),
    ("bytes_sent", Growing("%B")),
    ("time_queue", Number("%Tw")),
    ("time_connect", Number("%Tc")),
    ("time_total", Growing("%Tt")),
    ("frontend", Safe("%f")),
    ("backend", Safe("%b")),
    ("server", Safe("%s")),
    ("termination", Safe("%ts")),
    ("connections", Number("%ac")),
    ("frontend_connections", Number("%fc")),
    ("backend_connections", Number("%bc")),
    ("server_connections", Number("%sc")),
    ("retries", Safe("%rc")),
    ("server_queue", Number("%sq")),
    ("backend_queue", Number("%bq")),
    ("tls_version", Safe("%sslv")),
    ("tls_cipher", Safe("%sslc")),
];

/// A log format that makes a JSON object a line, whatever clients send.
fn json(fields: &[(&str, Value)], logasap: bool) -> String {
    let fields = fields.iter().map(|(name, value)| match value {
        Number(item) => format!("\"{name}\":{item}"),
        Growing(item) if !logasap => format!("\"{name}\":{item}"),
        Growing(item) | Safe(item) => format!("\"{name}\":\"{item}\""),
        // `utf8s`: bytes that are no UTF-8 are left out instead of the whole value (2.2 to 3.4).
        Hostile(expression) => format!("\"{name}\":\"%[{expression},json(utf8s)]\""),
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}
