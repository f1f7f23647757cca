//! Parsers that several keys share: booleans, numbers, durations, sizes, addresses, names of objects.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use ipnet::IpNet;

use super::Wrong;
use crate::cluster::ObjectName;

/// `true`, `on`, `yes`, `enabled`, `1` and their opposites, in any case.
pub fn boolean(text: &str) -> Result<bool, Wrong> {
    let is = |words: [&str; 5]| words.iter().any(|w| w.eq_ignore_ascii_case(text));
    if is(["true", "on", "yes", "enabled", "1"]) {
        Ok(true)
    } else if is(["false", "off", "no", "disabled", "0"]) {
        Ok(false)
    } else {
        Err(Wrong::PLAIN)
    }
}

/// A number in a range.
pub fn number<T: std::str::FromStr + PartialOrd>(text: &str, range: RangeInclusive<T>) -> Result<T, Wrong> {
    text.parse().ok().filter(|number| range.contains(number)).ok_or(Wrong::PLAIN)
}

/// One of these words, as it is written in the list; case does not matter.
pub fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, Wrong> {
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
    found.map(|(_, value)| *value).ok_or(Wrong::PLAIN)
}

/// A duration in milliseconds, at most HAProxy's longest timer (2^31 - 1 ms, about 24.8 days). HAProxy's units (`us`, `ms`,
/// `s`, `m`, `h`, `d`) and Kubernetes' compounds (`1h30m`). A number without unit is refused: it would be milliseconds to
/// HAProxy and seconds to ingress-nginx.
pub fn duration(text: &str) -> Result<u32, Wrong> {
    if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() {
        return Err(Wrong::because("a number needs a unit, for example `30s` or `500ms`"));
    }
    let mut micros: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().map_err(|_| Wrong::PLAIN)?;
        rest = &rest[digits..];
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let factor: u64 = match &rest[..letters] {
            "us" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            "m" => 60_000_000,
            "h" => 3_600_000_000,
            "d" => 86_400_000_000,
            _ => return Err(Wrong::PLAIN),
        };
        rest = &rest[letters..];
        let part = number.checked_mul(factor);
        micros =
            part.and_then(|part| micros.checked_add(part)).ok_or_else(|| Wrong::because("it is too long"))?;
    }
    match u32::try_from(micros.div_ceil(1_000)) {
        Ok(0) => Err(Wrong::because("it must be longer than zero")),
        Ok(millis) if i32::try_from(millis).is_ok() => Ok(millis),
        _ if text.is_empty() => Err(Wrong::PLAIN),
        _ => Err(Wrong::because("it is too long")),
    }
}

/// A size in bytes: a number, with HAProxy's units (`k`, `m`, `g`, powers of 1024) or Kubernetes' (`Ki`, `Mi`, `Gi`).
pub fn size(text: &str) -> Result<u64, Wrong> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().map_err(|_| Wrong::PLAIN)?;
    let shift = match &text[digits..] {
        "" => 0,
        "k" | "K" | "Ki" | "ki" => 10,
        "m" | "M" | "Mi" | "mi" => 20,
        "g" | "G" | "Gi" | "gi" => 30,
        _ => return Err(Wrong::PLAIN),
    };
    number
        .checked_mul(1 << shift)
        .filter(|bytes| *bytes < 1 << 50)
        .ok_or_else(|| Wrong::because("it is too large"))
}

/// Addresses and networks, separated by commas or white space; sorted, each once.
pub fn networks(text: &str) -> Result<Vec<IpNet>, Wrong> {
    let words = text.split([',', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
    let mut networks = Vec::new();
    for word in words {
        networks.push(
            network(word).ok_or_else(|| {
                Wrong::because(format!("`{}` is no address or network", word.escape_debug()))
            })?,
        );
    }
    if networks.is_empty() {
        return Err(Wrong::because("it names no address"));
    }
    networks.sort_unstable();
    networks.dedup();
    Ok(networks)
}

fn network(word: &str) -> Option<IpNet> {
    let network: IpNet = match word.parse::<IpAddr>() {
        Ok(address) => address.into(),
        Err(_) => word.parse().ok()?,
    };
    Some(network.trunc())
}

/// `namespace/name` of an object, or `name` for the namespace of whoever writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectRef {
    /// With namespace.
    Full(ObjectName),
    /// In the namespace of the object that says so.
    Here(std::sync::Arc<str>),
}

impl ObjectRef {
    /// The object, seen from a namespace.
    pub fn in_namespace(&self, namespace: &str) -> ObjectName {
        match self {
            Self::Full(name) => name.clone(),
            Self::Here(name) => ObjectName::new(namespace, name.clone()),
        }
    }
}

/// A reference to an object. Names are DNS names of Kubernetes (RFC 1123: lower-case letters, digits, `-`, `.`).
pub fn object(text: &str) -> Result<ObjectRef, Wrong> {
    let valid = |name: &str| {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
        !name.is_empty() && name.len() <= 253 && name.bytes().all(allowed)
    };
    match text.split_once('/') {
        Some((namespace, name)) if valid(namespace) && valid(name) => {
            Ok(ObjectRef::Full(ObjectName::new(namespace, name)))
        }
        None if valid(text) => Ok(ObjectRef::Here(text.into())),
        _ => Err(Wrong::PLAIN),
    }
}

/// The name of a header: a token (RFC 9110 section 5.6.2).
pub fn header_name(text: &str) -> Result<std::sync::Arc<str>, Wrong> {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    (!text.is_empty() && text.len() <= 256 && text.bytes().all(token))
        .then(|| text.into())
        .ok_or(Wrong::PLAIN)
}

/// The lines of a value that are not empty, without surrounding white space.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_in_all_spellings() {
        for text in ["true", "on", "yes", "enabled", "1", "TRUE", "On"] {
            assert_eq!(boolean(text), Ok(true), "{text}");
        }
        for text in ["false", "off", "no", "disabled", "0", "False", "OFF"] {
            assert_eq!(boolean(text), Ok(false), "{text}");
        }
        for text in ["", "y", "2", "truee", "01"] {
            assert_eq!(boolean(text), Err(Wrong::PLAIN), "{text}");
        }
    }

    #[test]
    fn durations_in_the_units_of_haproxy_and_of_kubernetes() {
        for (text, millis) in [
            ("30s", 30_000),
            ("500ms", 500),
            ("1h30m", 5_400_000),
            ("1d", 86_400_000),
            ("1us", 1),
            ("24d", 2_073_600_000),
        ] {
            assert_eq!(duration(text), Ok(millis), "{text}");
        }
        for text in ["", "s", "-1s", "1.5s", "1 s", "0s", "25d", "99999999999999999999s", "1w", "1s;", "٣s"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(duration("30").unwrap_err().0, "a number needs a unit, for example `30s` or `500ms`");
    }

    #[test]
    fn sizes_in_the_units_of_haproxy_and_of_kubernetes() {
        for (text, bytes) in [("100k", 102_400), ("8m", 8 << 20), ("1Gi", 1 << 30), ("17", 17), ("0", 0)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "k", "-1", "1t", "1 k", "99999999999999999999", "9999999g"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn networks_are_sorted_and_each_counts_once() {
        let text = "10.1.2.3/8, 2001:db8::1\n192.0.2.1 10.0.0.0/8";
        let found: Vec<String> = networks(text).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(found, ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::1/128"]);
        for text in ["", " ,", "10.0.0.0/33", "example.org", "10.0.0.1;", "10.0.0.1 # no"] {
            assert!(networks(text).is_err(), "{text}");
        }
    }

    #[test]
    fn objects_are_named_with_or_without_namespace() {
        assert_eq!(object("a/b").unwrap().in_namespace("c"), ObjectName::new("a", "b"));
        assert_eq!(object("b").unwrap().in_namespace("c"), ObjectName::new("c", "b"));
        for text in ["", "/", "a/", "/b", "a/b/c", "A", "a b", "a\nb"] {
            assert!(object(text).is_err(), "{text}");
        }
    }

    #[test]
    fn header_names_are_tokens() {
        assert!(header_name("X-Forwarded-For").is_ok() && header_name("x_1").is_ok());
        for text in ["", "a b", "a:b", "a\r\nb", "\u{e4}", "a\0"] {
            assert!(header_name(text).is_err(), "{text}");
        }
    }
}
