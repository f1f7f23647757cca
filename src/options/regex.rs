//! A conservative check of regular expressions: what passes is accepted by PCRE and PCRE2, whatever their limits, and does not
//! take forever on any text. HAProxy loads a whole file or nothing, so one bad expression would hold up everybody.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

use super::Wrong;
use crate::problem::excerpt;

/// Longest expression.
const LONGEST: usize = 512;
/// Deepest nesting of groups.
const DEEPEST: u8 = 16;
/// Most repetitions by number.
const MOST_REPEATS: u32 = 255;
/// Upper bound of what it is compiled to, in bytes, roughly: PCRE's own limit is 64 kB, and repetitions by number are copies.
const LARGEST: u64 = 16_000;

/// A regular expression that PCRE compiles: one word of visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Regex {
    text: Arc<str>,
    groups: usize,
}

impl Regex {
    /// Checks an expression.
    pub fn parse(text: &str) -> Result<Self, Wrong> {
        let shown = || excerpt(text, 60);
        match groups_of(text) {
            Ok(groups) => Ok(Self { text: text.into(), groups }),
            Err(reason) => {
                Err(Wrong::because(format!("the regular expression `{}` cannot be used: {reason}", shown())))
            }
        }
    }

    /// The expression.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How many groups capture.
    pub fn groups(&self) -> usize {
        self.groups
    }
}

impl fmt::Display for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Checks an expression; else why it is refused.
pub fn check(text: &str) -> Result<(), &'static str> {
    groups_of(text).map(drop)
}

/// How many groups capture.
fn groups_of(text: &str) -> Result<usize, &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > LONGEST {
        return Err("it is longer than 512 characters");
    }
    if !text.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(
            "it may only hold visible ASCII characters; write others as clients send them, percent-encoded",
        );
    }
    let mut checker = Checker { rest: text.chars().peekable(), depth: 0, groups: 0 };
    let part = checker.alternatives()?;
    match checker.rest.next() {
        Some(_) => Err("a closing parenthesis has no opening one"),
        None if part.size > LARGEST => Err("it repeats too much"),
        None => Ok(checker.groups),
    }
}

/// What is known of a part.
#[derive(Clone, Copy, Default)]
struct Part {
    size: u64,
    /// Holds a repetition without bound that can give back what it took.
    repeats: bool,
}

/// What a quantifier can stand behind.
enum Piece {
    Atom(Part),
    /// An anchor or a look around: matches no character.
    Empty(Part),
}

struct Checker<'a> {
    rest: Peekable<Chars<'a>>,
    depth: u8,
    /// Groups that capture, so far.
    groups: usize,
}

impl Checker<'_> {
    /// Up to the end or a closing parenthesis.
    fn alternatives(&mut self) -> Result<Part, &'static str> {
        let mut whole = Part { size: 8, repeats: false };
        while let Some(c) = self.rest.peek().copied() {
            if c == ')' {
                break;
            }
            if c == '|' {
                self.rest.next();
                whole.size += 4;
                continue;
            }
            let piece = self.piece()?;
            let part = match piece {
                Piece::Atom(part) => self.quantified(part)?,
                Piece::Empty(part) => part,
            };
            whole.size = whole.size.saturating_add(part.size);
            whole.repeats |= part.repeats;
        }
        Ok(whole)
    }

    fn piece(&mut self) -> Result<Piece, &'static str> {
        let atom = |size| Ok(Piece::Atom(Part { size, repeats: false }));
        match self.rest.next() {
            Some('(') => self.group(),
            Some('[') => {
                self.class()?;
                atom(40)
            }
            Some('\\') => match self.rest.next() {
                Some('d' | 'D' | 'w' | 'W' | 's' | 'S') => atom(4),
                Some('b' | 'B') => Ok(Piece::Empty(Part { size: 2, repeats: false })),
                Some(c) if c.is_ascii_punctuation() => atom(4),
                Some(_) => Err(
                    "of the escapes only `\\d`, `\\w`, `\\s`, `\\b`, their opposites and those of punctuation are allowed",
                ),
                None => Err("it ends with a backslash"),
            },
            Some('^' | '$') => Ok(Piece::Empty(Part { size: 2, repeats: false })),
            Some('*' | '+' | '?') => Err("a quantifier stands behind nothing that can be repeated"),
            Some('{' | '}' | ']') => Err("a bracket that is meant as itself needs a backslash"),
            Some('#') => Err("a path has no `#`"),
            Some(_) => atom(4),
            None => Err("it ends too early"),
        }
    }

    /// Behind an opening parenthesis.
    fn group(&mut self) -> Result<Piece, &'static str> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("its groups are nested too deeply");
        }
        let mut look_around = false;
        if self.rest.next_if_eq(&'?').is_some() {
            match self.rest.next() {
                Some(':') => {}
                Some('=' | '!') => look_around = true,
                // From here on case does not matter.
                Some('i') if self.rest.next_if_eq(&')').is_some() => {
                    self.depth -= 1;
                    return Ok(Piece::Empty(Part { size: 2, repeats: false }));
                }
                _ => return Err("of the special groups only `(?:`, `(?=`, `(?!` and `(?i)` are allowed"),
            }
        } else {
            self.groups += 1;
        }
        if self.rest.peek() == Some(&'*') {
            return Err("verbs such as `(*…)` are not allowed");
        }
        let part = self.alternatives()?;
        if self.rest.next() != Some(')') {
            return Err("a parenthesis is not closed");
        }
        self.depth -= 1;
        let part = Part { size: part.size.saturating_add(12), ..part };
        Ok(if look_around { Piece::Empty(part) } else { Piece::Atom(part) })
    }

    /// Behind an opening bracket.
    fn class(&mut self) -> Result<(), &'static str> {
        const OPEN: &str = "a class is not closed";
        self.rest.next_if_eq(&'^');
        let mut members = 0;
        loop {
            let from = match self.rest.next().ok_or(OPEN)? {
                ']' if members > 0 => return Ok(()),
                ']' => return Err("a class is empty; write `\\]` for the bracket itself"),
                '[' => return Err("in a class `[` needs a backslash"),
                '\\' => self.class_escape()?,
                c => Some(c),
            };
            members += 1;
            if self.rest.peek() != Some(&'-') {
                continue;
            }
            self.rest.next();
            // A `-` at the end is itself.
            if self.rest.peek() == Some(&']') {
                continue;
            }
            let to = match self.rest.next().ok_or(OPEN)? {
                '[' => return Err("in a class `[` needs a backslash"),
                '\\' => self.class_escape()?,
                c => Some(c),
            };
            if from.zip(to).is_none_or(|(from, to)| from > to) {
                return Err("a range in a class is not valid");
            }
        }
    }

    /// Behind a backslash in a class: the character, `None` for a set of them.
    fn class_escape(&mut self) -> Result<Option<char>, &'static str> {
        match self.rest.next() {
            Some('d' | 'D' | 'w' | 'W' | 's' | 'S') => Ok(None),
            Some(c) if c.is_ascii_punctuation() => Ok(Some(c)),
            _ => Err(
                "in a class only `\\d`, `\\w`, `\\s`, their opposites and escapes of punctuation are allowed",
            ),
        }
    }

    /// A part with the quantifier behind it, if there is one.
    fn quantified(&mut self, part: Part) -> Result<Part, &'static str> {
        let (times, unbounded) = match self.rest.next_if(|c| matches!(c, '*' | '+' | '?' | '{')) {
            None => return Ok(part),
            Some('{') => self.bounds()?,
            Some(c) => (1, c != '?'),
        };
        let possessive = self.rest.next_if_eq(&'+').is_some();
        if !possessive {
            self.rest.next_if_eq(&'?');
        }
        if matches!(self.rest.peek(), Some('*' | '+' | '?' | '{')) {
            return Err("two quantifiers stand behind each other");
        }
        let many = unbounded || times > 1;
        if many && part.repeats {
            return Err(
                "a repetition of a repetition can take forever; make the inner one possessive, as in `(a++)+`",
            );
        }
        let size = part.size.saturating_add(8).saturating_mul(u64::from(times.max(1)));
        Ok(Part { size, repeats: (part.repeats || unbounded) && !possessive })
    }

    /// Behind an opening brace: the largest number, and whether there is no largest.
    fn bounds(&mut self) -> Result<(u32, bool), &'static str> {
        const WRONG: &str = "repetitions are written `{2}`, `{2,}` or `{2,5}`, with at most 255";
        let least = self.number().ok_or(WRONG)?;
        if self.rest.next_if_eq(&'}').is_some() {
            return Ok((least, false));
        }
        if self.rest.next() != Some(',') {
            return Err(WRONG);
        }
        if self.rest.next_if_eq(&'}').is_some() {
            return Ok((least, true));
        }
        let most = self.number().filter(|most| *most >= least).ok_or(WRONG)?;
        if self.rest.next() == Some('}') { Ok((most, false)) } else { Err(WRONG) }
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(10)) {
            self.rest.next();
            number = Some(number.unwrap_or(0) * 10 + digit).filter(|number| *number <= MOST_REPEATS);
            number?;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::{Regex, check};

    const GOOD: &[&str] = &[
        "(?i)^/A",
        r"([^?]*)(\?(.*))?",
        "'\"",
        "$HOME",
        "%[src]",
        "/",
        "/a.*",
        "/api/v[0-9]+/users/\\d{1,5}$",
        "^/x(/|$)(.*)",
        "/(?:a|b)+?c",
        "/[^/]+/b",
        "/[-a-z_.\\]]*",
        "/(a++)+",
        "/(a+)?",
        "/a{2}b",
        "/\\.well-known/",
        "/a|/b",
        "/(?!private).*",
        "/a(?=b)",
        "/a{0,255}",
        "/a{3,}",
        "/[a-]",
        "/[\\w-]+",
        "/~user/%[0-9A-F]{2}",
        "/a\\b",
        "|",
        "()",
    ];

    const BAD: &[&str] = &[
        "(?i",
        "(?i:a)",
        "a\0",
        "",
        "(",
        ")",
        "/(a",
        "/a)",
        "[",
        "[]",
        "[^]",
        "[a",
        "[[:alpha:]]",
        "[b-a]",
        "[a-\\d]",
        "[\\q]",
        "*",
        "+a",
        "?",
        "^*",
        "$+",
        "(?=a)*",
        "a**",
        "a+++",
        "a{1}{2}",
        "a{",
        "a{,2}",
        "a{2,1}",
        "a{256}",
        "a{99999999999}",
        "a{2",
        "}",
        "]",
        "\\",
        "\\1",
        "\\Q",
        "\\x41",
        "\\p{L}",
        "(?<n>a)",
        "(?#c)",
        "(*FAIL)",
        "(?R)",
        "(a+)+",
        "(a*)*b",
        "(a+){2,}",
        "a b",
        "a\nb",
        "\u{e4}",
    ];

    #[test]
    fn groups_that_capture_are_counted() {
        assert_eq!(Regex::parse(r"([^?]*)(\?(.*))?(?:x)(?!y)").map(|regex| regex.groups()), Ok(3));
        let refused = Regex::parse("(a+)+").unwrap_err();
        assert!(refused.0.contains("`(a+)+`") && refused.0.contains("possessive"), "{refused:?}");
    }

    #[test]
    fn plain_expressions_pass_and_doubtful_ones_do_not() {
        for text in GOOD {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for text in BAD {
            assert!(check(text).is_err(), "{text}");
        }
        assert!(check(&"a".repeat(513)).is_err());
        assert!(
            check(
                &"(".repeat(17).chars().chain("a".chars()).chain(")".repeat(17).chars()).collect::<String>()
            )
            .is_err()
        );
        assert!(check("((a{200}){200}){200}").is_err(), "a billion copies");
        assert!(check("/\0").is_err());
    }
}
