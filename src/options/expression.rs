//! Sample expressions: a fetch and converters, `req.hdr(host),lower`. What is accepted is an allow-list of HAProxy's own
//! (see [`table`]) with arguments of plain characters, so an expression can neither end the word that it stands in nor read
//! files, maps or the environment; and every accepted one loads on all branches (`tests/it/rewriting.rs`).

pub mod table;

use std::fmt;
use std::sync::Arc;

use super::Wrong;
use crate::problem::excerpt;
use table::{Argument, CONVERTERS, FETCHES, Takes};

/// Longest expression.
const LONGEST: usize = 512;

/// When an expression is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// On a request.
    Request,
    /// On a response: nothing of the request is there any more.
    Response,
}

/// What an expression gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// An integer.
    Number,
    /// True or false, `1` or `0` in text.
    Boolean,
    /// An IP address.
    Address,
    /// Bytes, hexadecimal in text.
    Bytes,
}

impl Kind {
    /// Whether HAProxy casts it to what a converter takes (all versions).
    fn becomes(self, wanted: Self) -> bool {
        match wanted {
            Self::Text => true,
            Self::Number | Self::Boolean => matches!(self, Self::Text | Self::Number | Self::Boolean),
            Self::Address => matches!(self, Self::Text | Self::Address),
            Self::Bytes => matches!(self, Self::Text | Self::Bytes),
        }
    }
}

/// A sample expression that HAProxy takes: one word without any character that quoting could be needed for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Expression {
    text: Arc<str>,
    is_text: bool,
}

impl Expression {
    /// Parses `fetch(arguments),converter(arguments),…`.
    pub fn parse(text: &str, moment: Moment) -> Result<Self, Wrong> {
        let bad = |reason: String| Err(Wrong::because(reason));
        if text.len() > LONGEST {
            return bad(format!("an expression has at most {LONGEST} characters"));
        }
        let mut calls = calls(text)?.into_iter();
        let Some(first) = calls.next() else { return Err(Wrong::PLAIN) };
        let Some(fetch) = FETCHES.iter().find(|fetch| fetch.name == first.name) else {
            return bad(format!("`{}` is not one of the sample fetches that are allowed", shown(first.name)));
        };
        if !fetch.at.contains(&moment) {
            let when = match moment {
                Moment::Request => "requests",
                Moment::Response => "responses",
            };
            return bad(format!("`{}` is not known on {when}", fetch.name));
        }
        first.check(&fetch.takes)?;
        let mut kind = fetch.gives;
        for call in calls {
            let Some(converter) = CONVERTERS.iter().find(|converter| converter.name == call.name) else {
                return bad(format!("`{}` is not one of the converters that are allowed", shown(call.name)));
            };
            call.check(&converter.takes)?;
            if !kind.becomes(converter.from) {
                return bad(format!("`{}` cannot convert what stands before it", converter.name));
            }
            kind = converter.gives.unwrap_or(kind);
        }
        Ok(Self { text: text.into(), is_text: kind == Kind::Text })
    }

    /// As HAProxy reads it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same, cut to this many characters. What is not text is short anyway.
    #[must_use]
    pub fn cut(&self, length: u32) -> Arc<str> {
        if self.is_text { format!("{},bytes(0,{length})", self.text).into() } else { self.text.clone() }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A name with its arguments.
struct Call<'a> {
    name: &'a str,
    /// `None` without parentheses.
    arguments: Option<Vec<&'a str>>,
}

impl Call<'_> {
    fn check(&self, takes: &Takes) -> Result<(), Wrong> {
        let arguments = self.arguments.as_deref().unwrap_or_default();
        let reason = if arguments.len() < takes.least {
            "has too few arguments"
        } else if arguments.len() > takes.arguments.len() {
            "has too many arguments"
        } else if !arguments.iter().zip(takes.arguments).all(|(text, argument)| argument.allows(text)) {
            "has an argument that is not allowed"
        } else {
            return Ok(());
        };
        Err(Wrong::because(format!("`{}` {reason}", self.name)))
    }
}

impl Argument {
    fn allows(self, text: &str) -> bool {
        let number =
            |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
        match self {
            Self::Name => {
                let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
                !text.is_empty() && text.len() <= 128 && text.bytes().all(plain)
            }
            Self::Unsigned => number(text),
            Self::Signed => number(text.strip_prefix('-').unwrap_or(text)),
            Self::Positive => number(text) && text.bytes().any(|b| b != b'0'),
            Self::Bits => text.parse().is_ok_and(|bits: u8| bits <= 32),
            Self::Delimiter => {
                text.len() == 1
                    && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/;:.-_=&|@!+*?".contains(&b))
            }
            Self::OneOf(words) => words.contains(&text),
        }
    }
}

/// Splits an expression at the commas outside parentheses. There is no nesting.
fn calls(text: &str) -> Result<Vec<Call<'_>>, Wrong> {
    let mut calls = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(['(', ',']).unwrap_or(rest.len());
        let (name, tail) = rest.split_at(end);
        if let Some(inside) = tail.strip_prefix('(') {
            let Some((arguments, tail)) = inside.split_once(')') else {
                return Err(Wrong::because("a parenthesis is not closed"));
            };
            let arguments = if arguments.is_empty() { Vec::new() } else { arguments.split(',').collect() };
            calls.push(Call { name, arguments: Some(arguments) });
            rest = tail;
        } else {
            calls.push(Call { name, arguments: None });
            rest = tail;
        }
        if rest.is_empty() {
            return Ok(calls);
        }
        rest = rest
            .strip_prefix(',')
            .ok_or_else(|| Wrong::because("a comma is missing behind a parenthesis"))?;
    }
}

fn shown(text: &str) -> String {
    excerpt(text, 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_the_allow_list_pass_unchanged() {
        for text in [
            "src",
            "hdr(Host)",
            "req.hdr(x-forwarded-for,-1)",
            "cookie(my-cookie)",
            "req.fhdr(user-agent),lower,bytes(0,20)",
            "path,field(2,/)",
            "ssl_fc",
            "uuid()",
            "src,ipmask(24)",
            "rand(100)",
            "ssl_c_s_dn(CN)",
            "req.hdr(content-length),add(1)",
        ] {
            assert_eq!(Expression::parse(text, Moment::Request).unwrap().as_str(), text);
        }
        assert!(Expression::parse("res.hdr(server)", Moment::Response).is_ok());
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            ",",
            "(",
            ")",
            "hdr",
            "hdr()",
            "hdr(a",
            "hdr(a))",
            "hdr(a)lower",
            "hdr(a),",
            "hdr(a b)",
            "hdr(a\nb)",
            "hdr(a),lower(",
            "hdr('a')",
            "hdr(\"a\")",
            "hdr($A)",
            "hdr(a#b)",
            "hdr(a\\b)",
            "hdr(a\0b)",
            "hdr(a]b)",
            "hdr(a,b)",
            "hdr(a,1,2)",
            "src ",
            "src if",
            "src]",
            "src#",
            "SRC",
            "env(PATH)",
            "var(txn.x)",
            "proc.x",
            "lua.x",
            "src,map(/etc/passwd)",
            "path,in_table(x)",
            "path,regsub(a,b)",
            "path,strcmp(txn.x)",
            "rand(0)",
            "ssl_fc,ipmask(24)",
            "src,add(1)",
            "path,field(1,\")",
            "path,field(1,,)",
            "path,field(x,/)",
            "src,ipmask(33)",
            "res.hdr(server)",
            "%[src]",
            "{src}",
            "src,src",
            "lower",
            "хдр(a)",
            "hdr(99999999999999999999)x",
        ] {
            assert!(Expression::parse(text, Moment::Request).is_err(), "{text:?}");
        }
        assert!(Expression::parse("path", Moment::Response).is_err());
        assert!(Expression::parse(&format!("hdr({})", "a".repeat(600)), Moment::Request).is_err());
        assert!(Expression::parse(&"src,".repeat(10_000), Moment::Request).is_err());
    }

    #[test]
    fn only_text_is_cut() {
        let cut = |text| Expression::parse(text, Moment::Request).unwrap().cut(9);
        assert_eq!(cut("path").as_ref(), "path,bytes(0,9)");
        assert_eq!(cut("src").as_ref(), "src");
        assert_eq!(cut("src,lower").as_ref(), "src,lower,bytes(0,9)");
        assert_eq!(cut("path,length").as_ref(), "path,length");
    }
}
