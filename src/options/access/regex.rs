//! Regular expressions that every HAProxy build compiles: an expression that one does not know would be a refused reload
//! for everybody. So only what PCRE and PCRE2 have in common, and nothing that takes exponential time.

use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

use crate::options::Wrong;

/// The expression, to match the whole text: with `^` and `$` around it.
pub(super) fn whole(text: &str) -> Result<Arc<str>, Wrong> {
    let inner = text.strip_prefix('^').unwrap_or(text);
    let inner = match inner.strip_suffix('$') {
        Some(rest) if !rest.ends_with('\\') => rest,
        _ => inner,
    };
    if inner.is_empty() || inner.len() > 500 {
        return Err(Wrong::PLAIN);
    }
    let mut parser = Parser { chars: inner.chars().peekable(), depth: 0 };
    match parser.alternatives() {
        Some(_) if parser.chars.peek().is_none() => Ok(format!("^({inner})$").into()),
        _ => Err(Wrong::because("it is neither a list of origins nor a simple regular expression")),
    }
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
    depth: usize,
}

impl Parser<'_> {
    /// Sequences between `|`; tells whether there is an unbounded repetition inside. `None` is a mistake.
    fn alternatives(&mut self) -> Option<bool> {
        self.depth += 1;
        let mut repeats = self.sequence()?;
        while self.chars.next_if_eq(&'|').is_some() {
            repeats |= self.sequence()?;
        }
        self.depth -= 1;
        Some(repeats)
    }

    fn sequence(&mut self) -> Option<bool> {
        let mut repeats = false;
        while let Some(c) = self.chars.next_if(|c| !matches!(c, '|' | ')')) {
            let inside = self.atom(c)?;
            let unbounded = self.quantifier()?;
            // `(a+)+` takes exponential time.
            if unbounded && inside {
                return None;
            }
            repeats |= unbounded || inside;
        }
        Some(repeats)
    }

    fn atom(&mut self, first: char) -> Option<bool> {
        match first {
            '(' => {
                if self.chars.next_if_eq(&'?').is_some() {
                    self.chars.next_if_eq(&':')?;
                }
                if self.depth > 10 {
                    return None;
                }
                let repeats = self.alternatives()?;
                self.chars.next_if_eq(&')')?;
                Some(repeats)
            }
            '[' => self.class().map(|()| false),
            '\\' => {
                let known =
                    |c: &char| matches!(c, 'd' | 'w' | '.' | '/' | ':' | '-' | '+' | '*' | '?' | '[' | ']');
                self.chars.next_if(known).map(|_| false)
            }
            c if c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '/' | '-' | '_') => Some(false),
            _ => None,
        }
    }

    /// Behind the bracket of a class, up to its end.
    fn class(&mut self) -> Option<()> {
        let _ = self.chars.next_if_eq(&'^');
        let mut empty = true;
        loop {
            match self.chars.next()? {
                ']' => return (!empty).then_some(()),
                '\\' => _ = self.chars.next_if(|c| matches!(c, 'd' | 'w' | '.' | '-'))?,
                c if c.is_ascii_alphanumeric() => {
                    if self.chars.next_if_eq(&'-').is_some() {
                        // The end of a range, or a minus at the end of the class.
                        match self.chars.peek().copied()? {
                            ']' => {}
                            last if last.is_ascii_alphanumeric() && c <= last => _ = self.chars.next(),
                            _ => return None,
                        }
                    }
                }
                '.' | '_' | ':' => {}
                '-' if empty || self.chars.peek() == Some(&']') => {}
                _ => return None,
            }
            empty = false;
        }
    }

    /// Whether a repetition without bound follows.
    fn quantifier(&mut self) -> Option<bool> {
        let unbounded = match self.chars.next_if(|c| matches!(c, '*' | '+' | '?' | '{')) {
            None => return Some(false),
            Some('{') => {
                let least = self.count()?;
                if self.chars.next_if_eq(&',').is_none() {
                    self.chars.next_if_eq(&'}')?;
                    false
                } else if self.chars.next_if_eq(&'}').is_some() {
                    true
                } else {
                    let most = self.count()?;
                    self.chars.next_if_eq(&'}')?;
                    if most < least {
                        return None;
                    }
                    false
                }
            }
            Some(c) => c != '?',
        };
        let _ = self.chars.next_if_eq(&'?');
        Some(unbounded)
    }

    fn count(&mut self) -> Option<u32> {
        let mut digits = String::new();
        while let Some(digit) = self.chars.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits.parse().ok().filter(|count| *count <= 255)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_simple_expressions_pass() {
        for text in [
            "a",
            "a|b",
            "^a.*$",
            "(?:a|b)?c",
            "[a-z0-9.-]+",
            "a{1,5}",
            "a{2,}?",
            r"\d+\.\w",
            "(a|b)+",
            "[^.]+",
        ] {
            assert!(whole(text).is_ok(), "{text}");
        }
        for text in [
            "", "^$", "(", ")", "a)", "(a", "[", "[]", "[z-a]", "a**", "*a", "a{5,1}", "a{9999}", "a{",
            r"a\", r"\1", r"\Q", "(a+)+", "(a*)*", "((a+)b)*", "(?=a)", "(?i)a", "a b", "a\nb", "a\"", "a'",
            "a#", "a$b", "a^b", "é", "a\0", "}",
        ] {
            assert!(whole(text).is_err(), "{text}");
        }
        assert!(whole(&"(".repeat(400)).is_err());
    }
}
