//! Formats of log lines.

mod parse;
mod words;

use std::sync::Arc;

use super::entry;
use crate::options::{Key, Wrong};

/// A log format that every branch of HAProxy loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFormat {
    /// The text, cut at each `%HPO`: HAProxy 2.2 has only `%HP` (the same, but for absolute request URIs).
    pub around_path_only: Vec<Arc<str>>,
}

/// What a log line looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogLine {
    /// One JSON object, as the documentation shows it.
    Json,
    /// This.
    Format(LogFormat),
}

/// The format of requests.
pub static LOG_FORMAT: Key<LogLine> = Key {
    entry: entry(
        "log-format",
        "`json`, or a log format of HAProxy in one line",
        "HAProxy's `option httplog`",
        "What is logged about a request. `json` is an object a line: time, client, method, host, path, protocol, status, bytes, timers \
         (`time_*` in milliseconds, -1 for a phase that was not reached), frontend, backend, server, termination state, connections, queues, \
         TLS version and cipher, user agent, referer; all values are escaped. A format of one's own may use every variable that HAProxy 2.2 \
         has (and `%HPO`), with the flags Q, X, E and M (`%{+Q}r`), and `%[…]` with the sample fetches that work in a log line on all versions \
         (`src`, `date`, `ssl_fc_sni`, `var(txn.host)`, `capture.req.uri`, …) and simple converters (`lower`, `json(utf8s)`, `field(1,/)`, \
         `utime(%F)`, …). Anything else is refused here, since HAProxy would refuse the whole configuration for it.",
        "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %tsc %{+Q}r",
    ),
    parse: |text| line(text, true),
};

/// The format of TCP connections.
pub static LOG_FORMAT_TCP: Key<LogLine> = Key {
    entry: entry(
        "log-format-tcp",
        "`json`, or a log format of HAProxy in one line, without what only HTTP has",
        "HAProxy's `option tcplog`",
        "What is logged about a connection of a TCP service. The same as `log-format`, but for the variables that HAProxy reserves for \
         HTTP (`%r`, `%HM`, `%TR`, …). In the ConfigMap of the TCP services this key counts for all of them, and `log-format-tcp.PORT` \
         for one.",
        "%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts",
    ),
    parse: tcp_log_line,
};

/// Parses a format of TCP connections, as [`LOG_FORMAT_TCP`] does.
pub fn tcp_log_line(text: &str) -> Result<LogLine, Wrong> {
    line(text, false)
}

fn line(text: &str, http: bool) -> Result<LogLine, Wrong> {
    if text.eq_ignore_ascii_case("json") {
        return Ok(LogLine::Json);
    }
    parse::format(text, http).map(LogLine::Format)
}

/// Formats that have everything that is allowed, for a test with every HAProxy.
#[cfg(test)]
pub(crate) fn everything(http: bool) -> Vec<String> {
    let mut items = words::every_variable(http);
    items.extend(words::every_expression());
    items
}
