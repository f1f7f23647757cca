//! `syslog-server`: log targets in the spelling of haproxytech's controller.

use std::net::{IpAddr, SocketAddr};

use super::entry;
use crate::options::value::{lines, number};
use crate::options::{Key, Wrong};
use crate::problem::excerpt;

/// Formats of HAProxy; those that 2.2 does not have are the last four.
pub(super) const FORMATS: [&str; 8] =
    ["raw", "rfc3164", "rfc5424", "short", "local", "priority", "timed", "iso"];

const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "auth2", "ftp", "ntp",
    "audit", "alert", "cron2", "local0", "local1", "local2", "local3", "local4", "local5", "local6",
    "local7",
];

const LEVELS: [&str; 8] = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];

/// Most targets that anybody needs.
const MOST: usize = 16;

/// Where log lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogTarget {
    /// Address as HAProxy reads it: `stdout`, `stderr`, a path, or an IP address with port.
    pub address: String,
    /// Longest line.
    pub length: Option<u16>,
    /// One of HAProxy's formats.
    pub format: Option<&'static str>,
    /// Facility.
    pub facility: &'static str,
    /// Least important level that is sent.
    pub level: Option<&'static str>,
    /// Most important level that is sent as such.
    pub minlevel: Option<&'static str>,
}

/// Log targets.
pub static SYSLOG_SERVER: Key<Vec<LogTarget>> = Key {
    entry: entry(
        "syslog-server",
        "a target a line, each with the fields `address`, `port`, `length`, `format`, `facility`, `level`, `minlevel` (`name:value`, \
         separated by commas)",
        "`address:stdout, format:raw, facility:local0`",
        "Where HAProxy's log lines go. `address` is an IP address (of a syslog server that takes UDP), `stdout`, `stderr`, or the path of a \
         unix socket; no host name, since HAProxy asks for it at start and does not start without an answer: use the `clusterIP` of the \
         Service. `port` is 514 unless given; `format` is one of raw, rfc3164, rfc5424, local, short, priority, timed, iso (unless given: raw \
         for stdout and stderr, else rfc3164; HAProxy 2.2 has no local, priority, timed and iso, and gets rfc3164, short, short and rfc5424); \
         `facility` is local0 unless given; `level` leaves out lines that are less important: requests are logged with `info`, so anything \
         above it leaves them out. Replaces the default target.",
        "address:192.0.2.10, port:514, format:rfc5424, facility:local0, level:info",
    ),
    parse: targets,
};

fn targets(text: &str) -> Result<Vec<LogTarget>, Wrong> {
    let targets = lines(text).map(target).collect::<Result<Vec<_>, _>>()?;
    match targets.len() {
        0 => Err(Wrong::PLAIN),
        1..=MOST => Ok(targets),
        _ => Err(Wrong::because(format!("there are more than {MOST} targets"))),
    }
}

fn target(line: &str) -> Result<LogTarget, Wrong> {
    let (mut host, mut port, mut length, mut format) = (None, None, None, None);
    let (mut facility, mut level, mut minlevel) = (None, None, None);
    for field in line.split(',').map(str::trim).filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once(':').ok_or_else(|| wrong("a field needs a name", field))?;
        let (name, value) = (name.trim(), value.trim());
        let one_of = |words: &[&'static str]| {
            let found = words.iter().copied().find(|word| word.eq_ignore_ascii_case(value));
            found.ok_or_else(|| wrong(&format!("this is no {name}"), value))
        };
        let twice = match name {
            "address" => host.replace(value).is_some(),
            "port" => {
                let number = number(value, 1..=u16::MAX).map_err(|_| wrong("this is no port", value))?;
                port.replace(number).is_some()
            }
            "length" => {
                let number =
                    number(value, 80..=u16::MAX).map_err(|_| wrong("`length` is 80 to 65535", value))?;
                length.replace(number).is_some()
            }
            "format" => format.replace(one_of(&FORMATS)?).is_some(),
            "facility" => facility.replace(one_of(&FACILITIES)?).is_some(),
            "level" => level.replace(one_of(&LEVELS)?).is_some(),
            "minlevel" => minlevel.replace(one_of(&LEVELS)?).is_some(),
            _ => return Err(wrong("there is no such field", name)),
        };
        if twice {
            return Err(wrong("a field is given twice", name));
        }
    }
    let host = host.ok_or_else(|| wrong("a target needs an `address`", line))?;
    if minlevel.is_some() && level.is_none() {
        return Err(wrong("`minlevel` needs a `level`", line));
    }
    Ok(LogTarget {
        address: address(host, port)?,
        length,
        format,
        facility: facility.unwrap_or("local0"),
        level,
        minlevel,
    })
}

/// An address as HAProxy reads it.
pub(super) fn address(host: &str, port: Option<u16>) -> Result<String, Wrong> {
    if matches!(host, "stdout" | "stderr") || host.starts_with('/') {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"/._-".contains(&b);
        // A unix socket's path has 108 bytes with the final zero.
        return if host.len() <= 107 && host.bytes().all(allowed) {
            Ok(host.to_owned())
        } else {
            Err(wrong("this is no path of a socket", host))
        };
    }
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let address: IpAddr = bare.parse().map_err(|_| {
        wrong("an address is `stdout`, `stderr`, a path or an IP address (a host name would have to be known when HAProxy starts)", host)
    })?;
    Ok(SocketAddr::new(address, port.unwrap_or(514)).to_string())
}

pub(super) fn wrong(what: &str, text: &str) -> Wrong {
    let text = excerpt(text, 60);
    Wrong::because(format!("{what}: `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |target: LogTarget| {
            let LogTarget { address, length, format, facility, level, minlevel } = target;
            format!(
                "{address} {} {} {facility} {} {}",
                length.unwrap_or_default(),
                format.unwrap_or("-"),
                level.unwrap_or("-"),
                minlevel.unwrap_or("-")
            )
        };
        (SYSLOG_SERVER.parse)(text).unwrap().into_iter().map(show).collect()
    }

    #[test]
    fn good_targets() {
        assert_eq!(
            shown("address:127.0.0.1, facility: local0, level: notice"),
            ["127.0.0.1:514 0 - local0 notice -"]
        );
        assert_eq!(
            shown(
                "address:stdout, format: raw, facility:daemon\n\naddress:2001:db8::1,port:1514,length:2048,format:rfc5424,level:info,minlevel:err\n"
            ),
            ["stdout 0 raw daemon - -", "[2001:db8::1]:1514 2048 rfc5424 local0 info err"]
        );
        assert_eq!(shown("address:[::1],"), ["[::1]:514 0 - local0 - -"]);
        assert_eq!(shown("address:/var/run/log.sock"), ["/var/run/log.sock 0 - local0 - -"]);
    }

    #[test]
    fn bad_targets() {
        for bad in [
            "127.0.0.1",
            "port:514",
            "address:",
            "address:syslog.kube-system.svc",
            "address:127.0.0.1:514",
            "address:127.0.0.1,port:0",
            "address:127.0.0.1,port:65536",
            "address:127.0.0.1,length:79",
            "address:127.0.0.1,format:json",
            "address:127.0.0.1,facility:local8",
            "address:127.0.0.1,level:error",
            "address:127.0.0.1,minlevel:err",
            "address:127.0.0.1,color:red",
            "address:127.0.0.1,address:127.0.0.2",
            "address:/dev/log x",
            "address:/dev/log'\"",
            "address:fd@1",
            "address:ring@x",
            "address:stdout\nnonsense",
        ]
        .iter()
        .chain(&HOSTILE)
        {
            assert!((SYSLOG_SERVER.parse)(bad).is_err(), "{bad}");
        }
        assert!((SYSLOG_SERVER.parse)(&"address:stdout\n".repeat(17)).is_err());
    }
}
