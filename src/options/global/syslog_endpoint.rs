//! `syslog-endpoint` and its companions: one log target in the spelling of the other HAProxy controller.

use std::net::SocketAddr;
use std::sync::Arc;

use super::entry;
use super::syslog::{FORMATS, address, wrong};
use crate::options::value::number;
use crate::options::{Key, Wrong};

/// Address of the log target, as HAProxy reads it.
pub static SYSLOG_ENDPOINT: Key<String> = Key {
    entry: entry(
        "syslog-endpoint",
        "`stdout`, `stderr`, `address:port` or a path",
        "`stdout`",
        "Where HAProxy's log lines go, all with facility local0: an IP address with port (UDP, 514 unless given), `stdout`, `stderr`, or the \
         path of a unix socket. No host name, for the reason that `syslog-server` gives. `syslog-server` wins over this key.",
        "192.0.2.10:514",
    ),
    parse: endpoint,
};

/// Format of the lines.
pub static SYSLOG_FORMAT: Key<&'static str> = Key {
    entry: entry(
        "syslog-format",
        "`raw`, `rfc3164`, `rfc5424`, `local`, `short`, `priority`, `timed` or `iso`",
        "`raw` for `stdout` and `stderr`, else `rfc5424`",
        "What stands before the log line. Counts for the target of `syslog-endpoint` (or the default one); HAProxy 2.2 has no local, \
         priority, timed and iso, and gets rfc3164, short, short and rfc5424.",
        "rfc5424",
    ),
    parse: |text| FORMATS.into_iter().find(|format| format.eq_ignore_ascii_case(text)).ok_or(Wrong::PLAIN),
};

/// Longest line.
pub static SYSLOG_LENGTH: Key<u16> = Key {
    entry: entry(
        "syslog-length",
        "a number from 80 to 65535",
        "`1024`, or what a line of `log-format: json` needs at most",
        "Longest log line in bytes; more is cut off. Counts for the target of `syslog-endpoint` (or the default one).",
        "2048",
    ),
    parse: |text| number(text, 80..=u16::MAX),
};

/// Name of the sender.
pub static SYSLOG_TAG: Key<Arc<str>> = Key {
    entry: entry(
        "syslog-tag",
        "a name of letters, digits, `-`, `_` and `.`",
        "`haproxy`",
        "The program name in log lines of the formats rfc3164, rfc5424, local and such; counts for all targets.",
        "ingress",
    ),
    parse: |text| {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        let valid = !text.is_empty() && text.len() <= 64 && text.bytes().all(allowed);
        if valid { Ok(text.into()) } else { Err(Wrong::PLAIN) }
    },
};

fn endpoint(text: &str) -> Result<String, Wrong> {
    if let Ok(socket) = text.parse::<SocketAddr>() {
        return if socket.port() == 0 { Err(wrong("this is no port", text)) } else { Ok(socket.to_string()) };
    }
    address(text, None)
}

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn endpoints() {
        for (text, address) in [
            ("stdout", "stdout"),
            ("192.0.2.1", "192.0.2.1:514"),
            ("192.0.2.1:1514", "192.0.2.1:1514"),
            ("[2001:db8::1]:514", "[2001:db8::1]:514"),
            ("2001:db8::1", "[2001:db8::1]:514"),
            ("/dev/log", "/dev/log"),
        ] {
            assert_eq!((SYSLOG_ENDPOINT.parse)(text).as_deref(), Ok(address), "{text}");
        }
        for bad in ["syslog:514", "192.0.2.1:", "192.0.2.1:0", ":514", "stdout len 5", "udp@192.0.2.1"]
            .iter()
            .chain(&HOSTILE)
        {
            assert!((SYSLOG_ENDPOINT.parse)(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_rest() {
        assert_eq!((SYSLOG_FORMAT.parse)("RFC5424"), Ok("rfc5424"));
        assert_eq!((SYSLOG_LENGTH.parse)("80"), Ok(80));
        assert_eq!((SYSLOG_TAG.parse)("my-ingress.1").as_deref(), Ok("my-ingress.1"));
        for bad in HOSTILE {
            assert!((SYSLOG_FORMAT.parse)(bad).is_err() && (SYSLOG_LENGTH.parse)(bad).is_err(), "{bad}");
            assert!((SYSLOG_TAG.parse)(bad).is_err(), "{bad}");
        }
        assert!((SYSLOG_TAG.parse)(&"a".repeat(65)).is_err() && (SYSLOG_LENGTH.parse)("79").is_err());
    }
}
