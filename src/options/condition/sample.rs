//! The sample of a test: a fetch with its argument, and converters.

use std::sync::Arc;

use super::Plain;
use crate::options::Wrong;
use crate::options::value::number;

/// What a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Truth,
    Address,
    /// The method of a request.
    Verb,
}

/// The argument of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Argument {
    None,
    Name,
    Number,
}

/// A sample.
pub(super) struct Sample {
    /// As HAProxy reads it.
    pub(super) text: String,
    pub(super) kind: Kind,
    /// The method that is part of the name of the fetch: `reg` of `path_reg`.
    pub(super) suffix: Option<&'static str>,
    /// The header or cookie that it is and nothing else.
    pub(super) name: Option<Name>,
}

/// A whole header or a cookie.
pub(super) enum Name {
    Header(Arc<str>),
    Cookie(Arc<str>),
}

impl Name {
    pub(super) fn compared_with(self, values: Vec<Arc<str>>) -> Plain {
        match self {
            Self::Header(name) => Plain::Header(name, values),
            Self::Cookie(name) => Plain::Cookie(name, values),
        }
    }
}

/// Name as users write it, name in HAProxy, kind, argument, whether it has forms with a suffix.
type Fetch = (&'static str, &'static str, Kind, Argument, bool);

const FETCHES: [Fetch; 20] = [
    ("cookie", "req.cook", Kind::Text, Argument::Name, false),
    ("cook", "req.cook", Kind::Text, Argument::Name, true),
    ("req.cook", "req.cook", Kind::Text, Argument::Name, false),
    ("cook_cnt", "req.cook_cnt", Kind::Number, Argument::Name, false),
    ("req.cook_cnt", "req.cook_cnt", Kind::Number, Argument::Name, false),
    ("hdr", "req.hdr", Kind::Text, Argument::Name, true),
    ("req.hdr", "req.hdr", Kind::Text, Argument::Name, false),
    ("req.fhdr", "req.fhdr", Kind::Text, Argument::Name, false),
    ("hdr_cnt", "req.hdr_cnt", Kind::Number, Argument::Name, false),
    ("req.hdr_cnt", "req.hdr_cnt", Kind::Number, Argument::Name, false),
    ("url_param", "url_param", Kind::Text, Argument::Name, false),
    ("urlp", "url_param", Kind::Text, Argument::Name, true),
    ("path", "path", Kind::Text, Argument::None, true),
    ("url", "url", Kind::Text, Argument::None, true),
    ("query", "query", Kind::Text, Argument::None, false),
    ("method", "method", Kind::Verb, Argument::None, false),
    ("req.ver", "req.ver", Kind::Text, Argument::None, false),
    ("src", "src", Kind::Address, Argument::None, false),
    ("ssl_fc", "ssl_fc", Kind::Truth, Argument::None, false),
    ("rand", "rand", Kind::Number, Argument::Number, false),
];

const SUFFIXES: [&str; 7] = ["beg", "end", "sub", "dir", "dom", "reg", "len"];

/// Name, what it takes, what it gives, argument.
const CONVERTERS: [(&str, Kind, Kind, Argument); 5] = [
    ("lower", Kind::Text, Kind::Text, Argument::None),
    ("upper", Kind::Text, Kind::Text, Argument::None),
    ("url_dec", Kind::Text, Kind::Text, Argument::None),
    ("length", Kind::Text, Kind::Number, Argument::None),
    ("mod", Kind::Number, Kind::Number, Argument::Number),
];

/// Parses `fetch(argument),converter(argument)`.
pub(super) fn sample(word: &str) -> Result<Sample, Wrong> {
    let wrong = |what: &str, text: &str| {
        Wrong::because(format!("`{}` is no {what} that is allowed here", text.escape_debug()))
    };
    // Arguments have no commas: every comma begins a converter.
    let mut parts = word.split(',');
    let first = parts.next().unwrap_or_default();
    let (name, argument) = call(first).ok_or_else(|| wrong("sample", first))?;
    let (fetch, suffix) = fetch(name).ok_or_else(|| wrong("sample", first))?;
    let (_, real, mut kind, takes, _) = *fetch;
    if !is_valid(takes, argument) {
        return Err(wrong("sample", first));
    }
    let mut text = real.to_owned();
    if let Some(argument) = argument {
        text.extend(["(", argument, ")"]);
    }
    let mut alone = true;
    for part in parts {
        let found = call(part).and_then(|(name, argument)| {
            let known = CONVERTERS.iter().find(|(known, ..)| *known == name)?;
            (known.1 == kind && is_valid(known.3, argument)).then_some(known.2)
        });
        kind = found.ok_or_else(|| wrong("converter", part))?;
        text.extend([",", part]);
        alone = false;
    }
    let argument = argument.unwrap_or_default();
    let name = match real {
        "req.cook" if alone => Some(Name::Cookie(argument.into())),
        "req.fhdr" if alone => Some(Name::Header(argument.to_ascii_lowercase().into())),
        _ => None,
    };
    Ok(Sample { text, kind, suffix, name })
}

/// The fetch of this name, which may end with the method of comparison.
fn fetch(name: &str) -> Option<(&'static Fetch, Option<&'static str>)> {
    if let Some(found) = FETCHES.iter().find(|(known, ..)| *known == name) {
        return Some((found, None));
    }
    let (stem, suffix) = name.rsplit_once('_')?;
    let suffix = SUFFIXES.into_iter().find(|known| *known == suffix)?;
    FETCHES
        .iter()
        .find(|(known, .., suffixed)| *known == stem && *suffixed)
        .map(|found| (found, Some(suffix)))
}

/// `name` or `name(argument)`.
fn call(text: &str) -> Option<(&str, Option<&str>)> {
    match text.split_once('(') {
        None => Some((text, None)),
        Some((name, rest)) => Some((name, Some(rest.strip_suffix(')')?))),
    }
}

fn is_valid(takes: Argument, argument: Option<&str>) -> bool {
    match (takes, argument) {
        (Argument::None, None) => true,
        (Argument::Name, Some(name)) => {
            let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
            !name.is_empty() && name.len() <= 100 && name.bytes().all(plain)
        }
        (Argument::Number, Some(text)) => {
            text.bytes().all(|b| b.is_ascii_digit()) && number::<u32>(text, 1..=1_000_000).is_ok()
        }
        _ => false,
    }
}
