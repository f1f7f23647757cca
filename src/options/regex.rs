//! Regular expressions that are sure to compile: the part of PCRE2's language that needs no knowledge of its build. HAProxy
//! compiles them itself, and one that it refused would keep the whole configuration from loading.

use std::fmt;
use std::sync::Arc;

use super::Wrong;

/// Longest pattern.
const LONGEST: usize = 1024;
/// Deepest nesting of groups; PCRE2's limit is 250.
const DEEPEST: usize = 20;
/// Largest number in a quantifier, and largest product of nested ones: PCRE2 copies what is repeated.
const MOST: u64 = 1000;

const CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

/// A regular expression that PCRE2 compiles: one word of printable ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Regex {
    text: Arc<str>,
    groups: usize,
}

impl Regex {
    /// Checks a pattern.
    pub fn parse(text: &str) -> Result<Self, Wrong> {
        if text.is_empty() || text.len() > LONGEST {
            return Err(Wrong::because(format!("a regular expression has 1 to {LONGEST} characters")));
        }
        if !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(Wrong::because(
                "a regular expression has printable ASCII characters only, and no spaces",
            ));
        }
        let mut parser = Parser { rest: text.as_bytes(), groups: 0, largest_reference: 0 };
        let problem =
            |reason: &str| Wrong::because(format!("the regular expression `{}` {reason}", shown(text)));
        parser.alternatives(0).map_err(problem)?;
        if !parser.rest.is_empty() {
            return Err(problem("has a `)` without `(`"));
        }
        if parser.largest_reference > parser.groups {
            return Err(problem("refers to a group that it does not have"));
        }
        Ok(Self { text: text.into(), groups: parser.groups })
    }

    /// The pattern.
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

struct Parser<'a> {
    rest: &'a [u8],
    groups: usize,
    largest_reference: usize,
}

/// What is wrong, to be read behind "the regular expression `…` ".
type Reason = &'static str;

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn eat(&mut self, prefix: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Up to a `)` or the end. Gives how often its content is copied at most.
    fn alternatives(&mut self, depth: usize) -> Result<u64, Reason> {
        if depth > DEEPEST {
            return Err("nests groups too deeply");
        }
        let mut copies = 1;
        while let Some(byte) = self.peek() {
            if byte == b')' {
                break;
            }
            let (repeatable, inner) = self.atom(depth)?;
            let times = self.quantifier()?;
            if times.is_some() && !repeatable {
                return Err("has a quantifier behind nothing that can be repeated");
            }
            copies = copies.max(inner.saturating_mul(times.unwrap_or(1)));
            if copies > MOST {
                return Err("repeats too much");
            }
        }
        Ok(copies)
    }

    /// One thing: whether it can be repeated, and how often its content is copied.
    fn atom(&mut self, depth: usize) -> Result<(bool, u64), Reason> {
        match self.next() {
            Some(b'(') => self.group(depth),
            Some(b'[') => self.class().map(|()| (true, 1)),
            Some(b'\\') => self.escape().map(|repeatable| (repeatable, 1)),
            Some(b'|' | b'^' | b'$') => Ok((false, 1)),
            Some(b'*' | b'+' | b'?') => Err("has a quantifier behind nothing that can be repeated"),
            Some(b'{') => Err("has a `{` that is no quantifier; write `\\{`"),
            _ => Ok((true, 1)),
        }
    }

    fn group(&mut self, depth: usize) -> Result<(bool, u64), Reason> {
        let mut repeatable = true;
        if self.eat(b"?") {
            if self.eat(b"i)") {
                return Ok((false, 1));
            }
            if self.eat(b"=") || self.eat(b"!") {
                repeatable = false;
            } else if !(self.eat(b":") || self.eat(b"i:")) {
                return Err(
                    "has a kind of group that is not supported; there are `(…)`, `(?:…)`, `(?i)`, `(?=…)`, `(?!…)`",
                );
            }
        } else if self.peek() == Some(b'*') {
            return Err("has a verb `(*…)`, which is not supported");
        } else {
            self.groups += 1;
        }
        let copies = self.alternatives(depth + 1)?;
        if self.eat(b")") { Ok((repeatable, copies)) } else { Err("has a `(` without `)`") }
    }

    /// A quantifier, if there is one: how often it copies.
    fn quantifier(&mut self) -> Result<Option<u64>, Reason> {
        let times = if self.eat(b"*") || self.eat(b"+") || self.eat(b"?") {
            1
        } else if self.eat(b"{") {
            let wrong = "has a `{` that is no quantifier; write `\\{`";
            let least = self.number().ok_or(wrong)?;
            let most = match self.eat(b",") {
                true if self.peek() == Some(b'}') => None,
                true => Some(self.number().ok_or(wrong)?),
                false => Some(least),
            };
            if !self.eat(b"}") {
                return Err(wrong);
            }
            if most.is_some_and(|most| most < least) {
                return Err("has a quantifier whose second number is smaller than the first");
            }
            most.unwrap_or(least).max(1)
        } else {
            return Ok(None);
        };
        // Lazy, or without going back.
        let _ = self.eat(b"?") || self.eat(b"+");
        if matches!(self.peek(), Some(b'*' | b'+' | b'?' | b'{')) {
            return Err("has a quantifier behind nothing that can be repeated");
        }
        Ok(Some(times))
    }

    fn number(&mut self) -> Option<u64> {
        let digits = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        std::str::from_utf8(number).ok()?.parse().ok().filter(|number| *number <= MOST)
    }

    /// Behind a backslash outside of a class: whether it can be repeated.
    fn escape(&mut self) -> Result<bool, Reason> {
        match self.next() {
            Some(b'd' | b'D' | b'w' | b'W' | b's' | b'S') => Ok(true),
            Some(b'b' | b'B' | b'A' | b'z' | b'Z') => Ok(false),
            Some(digit @ b'1'..=b'9') if !self.peek().is_some_and(|b| b.is_ascii_digit()) => {
                self.largest_reference = self.largest_reference.max(usize::from(digit - b'0'));
                Ok(true)
            }
            Some(byte) if byte.is_ascii_punctuation() => Ok(true),
            _ => Err("has an escape that is not supported"),
        }
    }

    /// Behind `[`.
    fn class(&mut self) -> Result<(), Reason> {
        let _ = self.eat(b"^");
        let mut first = true;
        while first || self.peek() != Some(b']') {
            first = false;
            let low = self.class_item()?;
            // A hyphen at the end is itself.
            if self.rest.first() == Some(&b'-') && !matches!(self.rest.get(1), Some(b']') | None) {
                self.rest = &self.rest[1..];
                match (low, self.class_item()?) {
                    (Some(low), Some(high)) if low <= high => {}
                    _ => return Err("has a range that is not one in `[…]`"),
                }
            }
        }
        self.rest = &self.rest[1..];
        Ok(())
    }

    /// A character of a class, `None` for several.
    fn class_item(&mut self) -> Result<Option<u8>, Reason> {
        const OPEN: Reason = "has a `[` without `]`";
        match self.next().ok_or(OPEN)? {
            b'[' if matches!(self.peek(), Some(b':' | b'.' | b'=')) => {
                let found = CLASSES.iter().any(|name| {
                    self.eat(format!(":{name}:]").as_bytes()) || self.eat(format!(":^{name}:]").as_bytes())
                });
                if found { Ok(None) } else { Err("has an unknown class `[:…:]`; write `\\[`") }
            }
            b'\\' => match self.next().ok_or(OPEN)? {
                b'd' | b'D' | b'w' | b'W' | b's' | b'S' => Ok(None),
                byte if byte.is_ascii_punctuation() => Ok(Some(byte)),
                _ => Err("has an escape that is not supported in `[…]`"),
            },
            byte => Ok(Some(byte)),
        }
    }
}

fn shown(text: &str) -> String {
    text.chars().take(60).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patterns that pass.
    const GOOD: &[&str] = &[
        "(.*)",
        "/foo/(.*)",
        r"([^?]*)(\?(.*))?",
        "^/a$",
        "a|b|",
        "a{2}",
        "a{2,}",
        "a{2,5}?",
        "a*+",
        "(?i)^/A",
        "(?:a|b)+",
        "(?!/api)/(.*)",
        r"[]a]",
        "[^]a-z]",
        r"[\d\-x]",
        "[a-]",
        "[[:alpha:]_]",
        r"\.html?$",
        r"(a)\1",
        "[a[b]",
        "]",
        "}",
        r"\bfoo\b",
        "a#b",
        "'\"",
        "$HOME",
        "%[src]",
        "()",
        "^",
        "(a{10}){10}",
    ];

    #[test]
    fn patterns() {
        for text in GOOD {
            assert_eq!(
                Regex::parse(text).map(|regex| regex.as_str().to_owned()),
                Ok((*text).to_owned()),
                "{text}"
            );
        }
        for text in [
            "",
            " ",
            "a b",
            "a\nb",
            "a\0",
            "\u{e4}",
            "(",
            ")",
            "(a",
            "a)",
            "[",
            "[a",
            "[]",
            "[^]",
            "*",
            "+a",
            "a**",
            "a{2}{3}",
            "^*",
            "|*",
            "a{",
            "{id}",
            "a{x}",
            "a{3,2}",
            "a{1001}",
            "a{2,1001}",
            "a{2,99999}",
            "((a{100}){100}){100}",
            "[z-a]",
            r"[\d-z]",
            "[[:nope:]]",
            r"\",
            r"\e",
            r"\x41",
            r"\p{L}",
            r"\1",
            r"(a)\2",
            r"\Qa",
            "(?<n>a)",
            "(?P<n>a)",
            "(?<=a*)b",
            "(?R)",
            "(*ACCEPT)",
            "(?#x)",
            "a{,3}",
            "[a-\\",
            "(?",
        ] {
            assert!(Regex::parse(text).is_err(), "{text:?}");
        }
        assert!(Regex::parse(&"(".repeat(500)).is_err());
        assert!(Regex::parse(&format!("{}a{}", "(".repeat(30), ")".repeat(30))).is_err());
        assert!(Regex::parse(&"a".repeat(2000)).is_err());
        assert_eq!(Regex::parse(r"([^?]*)(\?(.*))?(?:x)").map(|regex| regex.groups()), Ok(3));
    }
}
