//! What every proxy has: the defaults section, and compression.

use super::Paths;
use super::text::Text;
use crate::model::Global;
use crate::model::global::defaults::Compression;

/// The lines of the defaults section.
pub(super) fn write(text: &mut Text, global: &Global, paths: &Paths<'_>) {
    let defaults = &global.defaults;
    text.lines(&["mode http", "log global"]);
    if defaults.dontlognull {
        text.lines(&["option dontlognull"]);
    }
    if defaults.logasap {
        text.lines(&["option logasap"]);
    }
    text.line(format_args!("option {}", defaults.connection_mode));
    text.lines(&["option redispatch", "retries 3", "retry-on conn-failure empty-response"]);
    let mut timeout = |name: &str, millis: Option<u32>| {
        if let Some(millis) = millis {
            text.line(format_args!("timeout {name} {}", duration(millis)));
        }
    };
    timeout("connect", Some(defaults.connect));
    timeout("client", Some(defaults.client));
    timeout("client-fin", defaults.client_fin);
    timeout("server", Some(50_000));
    timeout("server-fin", defaults.server_fin);
    timeout("http-request", Some(defaults.http_request));
    timeout("http-keep-alive", Some(defaults.http_keep_alive));
    timeout("queue", Some(defaults.queue));
    timeout("tunnel", Some(3_600_000));
    for (status, page) in &global.error_pages.pages {
        text.line(format_args!("errorfile {status} {}", paths.asset(page)));
    }
}

/// The lines of a frontend whose responses are compressed.
pub(super) fn compression(text: &mut Text, compression: &Compression) {
    text.line(format_args!("compression algo {}", compression.algorithms.join(" ")));
    text.line(format_args!("compression type {}", compression.types.join(" ")));
}

/// A duration in the largest unit that holds it exactly.
pub(super) fn duration(millis: u32) -> String {
    const UNITS: [(u32, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let exact = UNITS.into_iter().find(|(unit, _)| millis >= *unit && millis.is_multiple_of(*unit));
    exact.map_or_else(|| format!("{millis}ms"), |(unit, name)| format!("{}{name}", millis / unit))
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_are_short() {
        for (millis, text) in [
            (50_000, "50s"),
            (60_000, "1m"),
            (90_000, "90s"),
            (1_800_000, "30m"),
            (3_600_000, "1h"),
            (86_400_000, "1d"),
            (1_500, "1500ms"),
            (1, "1ms"),
        ] {
            assert_eq!(duration(millis), text);
        }
    }
}
