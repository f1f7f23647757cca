//! Text with sample expressions in it: what a header is set to. Everything is literal but `%[expression]`; `%%` is one `%`.

use std::sync::Arc;

use super::Wrong;
use super::expression::{Expression, Moment};

/// A part of a format.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// As it is.
    Text(Arc<str>),
    /// The value of an expression.
    Sample(Expression),
}

/// Parses a format. Any character is allowed but control characters, which no header can hold.
pub fn format(text: &str, moment: Moment) -> Result<Vec<Piece>, Wrong> {
    if text.chars().any(|c| c.is_control() && c != '\t') {
        return Err(Wrong::because("a value has no control characters"));
    }
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        literal.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        if let Some(inside) = tail.strip_prefix('[') {
            let Some((expression, after)) = inside.split_once(']') else {
                return Err(Wrong::because("`%[` is not closed; write `%%[` for a literal one"));
            };
            let expression = Expression::parse(expression, moment).map_err(|wrong| {
                Wrong::because(format!("{}; write `%%[` for a literal `%[`", reason(&wrong)))
            })?;
            flush(&mut literal, &mut pieces);
            pieces.push(Piece::Sample(expression));
            rest = after;
        } else {
            literal.push('%');
            rest = tail.strip_prefix('%').unwrap_or(tail);
        }
    }
    literal.push_str(rest);
    flush(&mut literal, &mut pieces);
    Ok(pieces)
}

fn reason(wrong: &Wrong) -> &str {
    if wrong.0.is_empty() { "`%[…]` is not a sample expression" } else { &wrong.0 }
}

fn flush(literal: &mut String, pieces: &mut Vec<Piece>) {
    if !literal.is_empty() {
        pieces.push(Piece::Text(std::mem::take(literal).into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Piece>, Wrong> {
        format(text, Moment::Request)
    }

    #[test]
    fn any_character_is_literal() {
        for text in [
            "a b",
            "\"q\" 'q' # \\ $HOME {x} a%20b %ci %",
            "100%",
            "\u{e4}",
            "if unless or",
            "] [ ) (",
            "a\tb",
        ] {
            assert_eq!(parsed(text), Ok(vec![Piece::Text(text.into())]), "{text}");
        }
        assert_eq!(parsed(""), Ok(vec![]));
    }

    #[test]
    fn a_doubled_percent_sign_is_one() {
        for (text, literal) in [("100%%", "100%"), ("%%[src]", "%[src]"), ("%%%", "%%"), ("a%%b", "a%b")] {
            assert_eq!(parsed(text), Ok(vec![Piece::Text(literal.into())]), "{text}");
        }
    }

    #[test]
    fn expressions_are_parsed() {
        let src = Expression::parse("src", Moment::Request).unwrap();
        assert_eq!(
            parsed("for=%[src];x"),
            Ok(vec![Piece::Text("for=".into()), Piece::Sample(src), Piece::Text(";x".into())])
        );
        for text in
            ["%[", "%[src", "%[]", "%[env(PATH)]", "%[src] %[x]", "a\nb", "a\0", "\u{7f}", "%[res.hdr(a)]"]
        {
            assert!(parsed(text).is_err(), "{text:?}");
        }
        assert!(format("%[path]", Moment::Response).is_err());
    }
}
