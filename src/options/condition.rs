//! A test of HAProxy's ACL language, parsed strictly: what passes is accepted by every HAProxy that is driven, and does
//! nothing but look at the request.

mod sample;
mod words;

use std::sync::Arc;

use self::sample::{Kind, Sample, sample};
use self::words::words;
use super::Wrong;
use super::regex;
use super::value::{networks, number};

/// Longest test.
const LONGEST: usize = 1024;
/// Most values: HAProxy takes 64 words a line before 3.2, and the frontend's own stand beside them.
const MOST_VALUES: usize = 16;

/// A test: its words as HAProxy reads them, without quotes and escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    words: Vec<Arc<str>>,
    plain: Option<Plain>,
}

/// A test that is nothing but the comparison of a header or a cookie with values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plain {
    /// Name in lower case, values.
    Header(Arc<str>, Vec<Arc<str>>),
    /// Name, values.
    Cookie(Arc<str>, Vec<Arc<str>>),
}

impl Expression {
    /// The words: sample, flags, values.
    pub fn words(&self) -> &[Arc<str>] {
        &self.words
    }

    /// The comparison that it is, if it is one that a map lookup can make.
    pub fn plain(&self) -> Option<&Plain> {
        self.plain.as_ref()
    }
}

/// How a sample is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Found,
    /// `str`, `beg`, `end`, `sub`, `dir`, `dom`.
    Text(&'static str),
    Regex,
    Length,
    Int,
    Bool,
    Ip,
    /// That of `method`, which has no name: any other is a warning in 3.4.
    Verb,
}

const METHODS: [(&str, Method); 12] = [
    ("found", Method::Found),
    ("str", Method::Text("str")),
    ("beg", Method::Text("beg")),
    ("end", Method::Text("end")),
    ("sub", Method::Text("sub")),
    ("dir", Method::Text("dir")),
    ("dom", Method::Text("dom")),
    ("reg", Method::Regex),
    ("len", Method::Length),
    ("int", Method::Int),
    ("bool", Method::Bool),
    ("ip", Method::Ip),
];

impl Method {
    fn of(word: &str) -> Option<Self> {
        METHODS.iter().find(|(name, _)| *name == word).map(|(_, method)| *method)
    }

    fn word(self) -> &'static str {
        METHODS.iter().find(|(_, method)| *method == self).map_or("str", |(name, _)| name)
    }

    /// Whether a sample of this kind can be compared so.
    fn suits(self, kind: Kind) -> bool {
        match self {
            Self::Found => kind != Kind::Verb,
            Self::Verb => kind == Kind::Verb,
            Self::Text(_) | Self::Regex | Self::Length => kind == Kind::Text,
            Self::Int => kind == Kind::Number,
            Self::Bool => kind == Kind::Truth,
            Self::Ip => kind == Kind::Address,
        }
    }
}

/// Parses a test.
pub fn expression(text: &str) -> Result<Expression, Wrong> {
    if text.len() > LONGEST {
        return Err(Wrong::because("it is longer than 1024 characters"));
    }
    let words = words(text)?;
    let mut rest = words.iter().map(String::as_str).peekable();
    let Sample { text: sample, kind, suffix, name } = sample(rest.next().unwrap_or_default())?;
    let (mut method, mut any_case) = (suffix.and_then(Method::of), false);
    while let Some(flag) = rest.next_if(|word| word.starts_with('-')) {
        match flag {
            "--" => break,
            "-i" => any_case = true,
            "-m" => {
                let word = rest.next().unwrap_or_default();
                let known = Method::of(word).ok_or_else(|| unknown("method", word))?;
                method = Some(known);
            }
            _ => return Err(unknown("flag", flag)),
        }
    }
    let method = method.unwrap_or(match kind {
        Kind::Text => Method::Text("str"),
        Kind::Number => Method::Int,
        Kind::Truth => Method::Bool,
        Kind::Address => Method::Ip,
        Kind::Verb => Method::Verb,
    });
    if !method.suits(kind) {
        return Err(Wrong::because(format!("`{sample}` cannot be compared with `-m {}`", method.word())));
    }
    let values = values(method, rest)?;
    let mut words: Vec<Arc<str>> = vec![sample.as_str().into()];
    let textual = matches!(method, Method::Text(_) | Method::Regex);
    let any_case = any_case && textual;
    if any_case {
        words.push("-i".into());
    }
    if method != Method::Verb {
        words.extend(["-m".into(), method.word().into()]);
    }
    if textual {
        words.push("--".into());
    }
    words.extend(values.iter().cloned());
    let in_map = |value: &Arc<str>| value.bytes().all(|b| b.is_ascii_graphic()) && value.len() <= 200;
    let plain = (method == Method::Text("str") && !any_case && values.iter().all(in_map))
        .then(|| name.map(|name| name.compared_with(values)));
    Ok(Expression { words, plain: plain.flatten() })
}

fn values<'a>(method: Method, words: impl Iterator<Item = &'a str>) -> Result<Vec<Arc<str>>, Wrong> {
    let mut values: Vec<Arc<str>> = Vec::new();
    for word in words {
        let valid = match method {
            Method::Found => return Err(Wrong::because("`-m found` takes no value")),
            // It would end the test.
            Method::Text(_) | Method::Regex if word == "}" || word.is_empty() => false,
            Method::Text(_) => true,
            Method::Regex => {
                regex::check(word).map_err(|why| Wrong::because(format!("the regular expression: {why}")))?;
                true
            }
            Method::Length | Method::Int => {
                let operator = ["eq", "ge", "gt", "le", "lt"].contains(&word) && values.is_empty();
                operator || is_number_or_range(word)
            }
            Method::Bool => matches!(word, "0" | "1" | "true" | "false"),
            Method::Verb => word.len() <= 20 && word.bytes().all(|b| b.is_ascii_uppercase()),
            Method::Ip => networks(word).is_ok_and(|found| found.len() == 1),
        };
        if !valid {
            return Err(unknown("value", word));
        }
        let word = match (method, word) {
            (Method::Bool, "true") => "1",
            (Method::Bool, "false") => "0",
            _ => word,
        };
        values.push(word.into());
    }
    let operator_only = values.last().is_some_and(|last| ["eq", "ge", "gt", "le", "lt"].contains(&&**last));
    let needs_value = !matches!(method, Method::Found | Method::Bool);
    if values.len() > MOST_VALUES {
        return Err(Wrong::because("it has more than 16 values"));
    }
    if needs_value && (values.is_empty() || (operator_only && matches!(method, Method::Int | Method::Length)))
    {
        return Err(Wrong::because("there is no value to compare with"));
    }
    Ok(values)
}

fn is_number_or_range(word: &str) -> bool {
    let is_number = |text: &str| number::<u32>(text, 0..=u32::MAX / 2).is_ok() && !text.starts_with('+');
    word.split_once(':').map_or_else(|| is_number(word), |(from, to)| is_number(from) && is_number(to))
}

fn unknown(what: &str, word: &str) -> Wrong {
    Wrong::because(format!("`{}` is no {what} that is allowed here", word.escape_debug()))
}

#[cfg(test)]
mod tests;
