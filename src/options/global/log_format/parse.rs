//! A strict reader of log formats.

use std::sync::Arc;

use super::LogFormat;
use super::words::{self, Arguments, Type, converters_of};
use crate::options::Wrong;
use crate::problem::excerpt;

/// HAProxy reads much longer lines; no log line needs them.
const LONGEST: usize = 4_000;
/// More converters in a row than anybody needs.
const MOST_CONVERTERS: usize = 8;

/// Reads a format; `http` says whether variables of HTTP are allowed.
pub(super) fn format(text: &str, http: bool) -> Result<LogFormat, Wrong> {
    if text.is_empty() {
        return Err(Wrong::PLAIN);
    }
    if text.len() > LONGEST {
        return Err(Wrong::because(format!("it is longer than {LONGEST} bytes")));
    }
    if text.chars().any(char::is_control) {
        return Err(Wrong::because("a log line is one line, without control characters"));
    }
    let mut around_path_only: Vec<Arc<str>> = Vec::new();
    let (mut from, mut rest) = (0, text);
    while let Some(at) = rest.find('%') {
        rest = item(&rest[at + 1..], http)?;
        let end = text.len() - rest.len();
        if text[..end].ends_with("HPO") {
            around_path_only.push(text[from..end - "HPO".len()].into());
            from = end;
        }
    }
    around_path_only.push(text[from..].into());
    Ok(LogFormat { around_path_only })
}

/// Reads what stands behind a `%`; gives what is left.
fn item(text: &str, http: bool) -> Result<&str, Wrong> {
    if let Some(rest) = text.strip_prefix('%') {
        return Ok(rest);
    }
    let text = match text.strip_prefix('{') {
        Some(rest) => flags(rest)?,
        None => text,
    };
    if let Some(rest) = text.strip_prefix('[') {
        let end = rest.find(']').ok_or_else(|| Wrong::because("a `%[` has no `]`"))?;
        expression(&rest[..end])?;
        return Ok(&rest[end + 1..]);
    }
    if text.starts_with('(') {
        return Err(Wrong::because("names of items (`%(name)…`) are not supported before HAProxy 3.0"));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let name = &text[..end];
    match words::variable(name) {
        // `%o` only carries flags for everything behind it.
        None if name == "o" => Ok(&text[end..]),
        None if name.is_empty() => Err(Wrong::because("a `%` stands alone; `%%` is a percent sign")),
        None => Err(Wrong::because(format!("`%{name}` is no variable of all HAProxy versions"))),
        Some(true) if !http => Err(Wrong::because(format!("`%{name}` exists for HTTP only"))),
        Some(_) => Ok(&text[end..]),
    }
}

/// Reads flags up to their closing brace.
fn flags(text: &str) -> Result<&str, Wrong> {
    let (flags, rest) = text.split_once('}').ok_or_else(|| Wrong::because("a `%{` has no `}`"))?;
    for flag in flags.split(',') {
        let letter = flag.strip_prefix(['+', '-']).unwrap_or_default();
        if !matches!(letter, "Q" | "X" | "E" | "M") {
            return Err(Wrong::because(format!("`{}` is no flag", flag.escape_debug())));
        }
    }
    Ok(rest)
}

/// Checks a sample expression: a fetch, then converters, separated by commas.
fn expression(text: &str) -> Result<(), Wrong> {
    let fetches: &[&[_]] = &[words::FETCHES];
    let (mut output, mut rest) = term(text, fetches, "sample fetch")?;
    let mut count = 0;
    while let Some(next) = rest.strip_prefix(',') {
        count += 1;
        if count > MOST_CONVERTERS {
            return Err(Wrong::because(format!("there are more than {MOST_CONVERTERS} converters in a row")));
        }
        (output, rest) = term(next, &converters_of(output), "converter")?;
    }
    if rest.is_empty() { Ok(()) } else { Err(unknown("sample expression", text)) }
}

type Table = &'static [(&'static str, Arguments, Type)];

/// Reads one fetch or converter; gives its type and what is left.
fn term<'a>(text: &'a str, tables: &[Table], what: &str) -> Result<(Type, &'a str), Wrong> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let known = tables.iter().copied().flatten().find(|(known, ..)| *known == name);
    let Some((_, allowed, output)) = known else { return Err(unknown(what, name)) };
    let (arguments, rest) = match rest.strip_prefix('(') {
        Some(inner) => {
            let (arguments, rest) = inner.split_once(')').ok_or_else(|| unknown(what, text))?;
            (Some(arguments), rest)
        }
        None => (None, rest),
    };
    if fits(*allowed, arguments) {
        Ok((*output, rest))
    } else {
        let shown = arguments.unwrap_or_default().escape_debug();
        Err(Wrong::because(format!("`{name}` does not take the argument `{shown}`")))
    }
}

fn fits(allowed: Arguments, given: Option<&str>) -> bool {
    let number = |text: &str, from: u32, to: u32| {
        text.bytes().all(|b| b.is_ascii_digit())
            && text.parse::<u32>().is_ok_and(|number| (from..=to).contains(&number))
    };
    let Some(given) = given else { return matches!(allowed, Arguments::None | Arguments::Optional(_)) };
    let (first, second) = given.split_once(',').map_or((given, None), |(a, b)| (a, Some(b)));
    match allowed {
        Arguments::None => false,
        Arguments::Number(most) => number(given, 0, most),
        Arguments::Positive(most) => number(given, 1, most),
        Arguments::Range => {
            number(first, 0, u16::MAX.into())
                && second.is_none_or(|length| number(length, 1, u16::MAX.into()))
        }
        Arguments::Piece => {
            let delimiter = |text: &str| matches!(text.as_bytes(), [b] if b" !&*+-./:;<=>?@^_|~".contains(b));
            number(first, 1, 99) && second.is_some_and(delimiter)
        }
        Arguments::Variable => given.split_once('.').is_some_and(|(scope, name)| {
            let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
            matches!(scope, "proc" | "sess" | "txn" | "req" | "res")
                && !name.is_empty()
                && name.len() <= 64
                && name.bytes().all(allowed)
        }),
        Arguments::Word => {
            let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'_' | b'-' | b'.');
            !given.is_empty() && given.len() <= 64 && given.bytes().all(allowed)
        }
        Arguments::Optional(words) | Arguments::Choice(words) => words.contains(&given),
        Arguments::Time => {
            let allowed = |b: u8| b.is_ascii_alphanumeric() || b" %:_./+-".contains(&b);
            !first.is_empty()
                && first.len() <= 64
                && first.bytes().all(allowed)
                && second.is_none_or(|offset| number(offset.strip_prefix('-').unwrap_or(offset), 0, 100_000))
        }
        Arguments::Masks => number(first, 0, 32) && second.is_none_or(|bits| number(bits, 0, 128)),
    }
}

fn unknown(what: &str, text: &str) -> Wrong {
    let text = excerpt(text, 60);
    Wrong::because(format!("`{text}` is no {what} that all HAProxy versions take here"))
}

#[cfg(test)]
mod tests {
    use super::super::{LOG_FORMAT, LOG_FORMAT_TCP, LogLine, everything};
    use super::*;

    #[test]
    fn good_formats() {
        for text in [
            "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r",
            "plain text, 'quotes' \"too\" and $HOME \\ # no comment",
            "%{+Q}o %t %s 100%%",
            "%[var(txn.host),json(utf8s)] %{+Q,-X}[src,ipmask(24)]",
            "%[date,utime(%Y-%m-%dT%H:%M:%SZ)]",
            "ä %[src]]",
        ] {
            assert!(format(text, true).is_ok(), "{text}");
        }
    }

    #[test]
    fn the_path_alone_is_cut_out() {
        let parts = |text| format(text, true).unwrap().around_path_only.join("<>");
        assert_eq!(parts("%HM %HPO%{+Q}HPO x"), "%HM %<>%{+Q}<> x");
        assert_eq!(parts("%%HPO HPO %%%HPO"), "%%HPO HPO %%%<>");
        assert_eq!(parts("a"), "a");
    }

    #[test]
    fn bad_formats() {
        for text in [
            "",
            "%",
            "%ci%",
            "% ci",
            "%xx",
            "%Tsx",
            "%(name)ci",
            "%{+Q",
            "%{Q}ci",
            "%{+Z}ci",
            "%{}ci",
            "%[",
            "%[src",
            "%[]",
            "%[ src ]",
            "%[env(PATH)]",
            "%[src,map(/etc/passwd)]",
            "%[ssl_fc_session_key]",
            "%[req.hdr(host)]",
            "%[var(txn.a-b)]",
            "%[var(global.x)]",
            "%[var(txn.)]",
            "%[src,]",
            "%[src,lower",
            "%[src,lower(]",
            "%[src,utime(%c)]",
            "%[ssl_fc,lower]",
            "%[date,div(0)]",
            "%[src,ipmask(33)]",
            "%[src,field(1,')]",
            "%[src,field(1,,)]",
            "%[src,field(0,.)]",
            "%[str(a'b)]",
            "%[str(a\"b)]",
            "%[src,lower,lower,lower,lower,lower,lower,lower,lower,lower]",
            "a\nb",
            "a\rb",
            "a\0b",
            "a\tb",
            &"x".repeat(4001),
        ] {
            assert!((LOG_FORMAT.parse)(text).is_err(), "{text}");
        }
        assert!((LOG_FORMAT_TCP.parse)("%r").is_err());
        assert_eq!((LOG_FORMAT_TCP.parse)("JSON"), Ok(LogLine::Json));
    }

    #[test]
    fn everything_in_the_lists_is_read() {
        for http in [true, false] {
            for text in everything(http) {
                assert!(format(&text, http).is_ok(), "{text}: {:?}", format(&text, http));
            }
        }
    }
}
