//! A line of configuration, read as HAProxy reads it (`parse_line`, 2.2 to 3.4).

/// A line that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// Without white space around it, and without comment: what HAProxy ignores need not be in its files, and nothing of it
    /// can look like the comments of ours.
    pub text: &'a str,
    /// The words, without quotes and escapes.
    pub words: Vec<String>,
    /// Whether HAProxy would expand an environment variable in it.
    pub expands: bool,
}

/// The longest line (HAProxy 2.2 takes 2048 bytes with the indentation).
const LONGEST: usize = 2_000;
/// The most words (`MAX_LINE_ARGS`, less one).
const MOST_WORDS: usize = 63;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

impl<'a> Line<'a> {
    /// `None` when there is nothing but a comment; the reason when it is no line of a configuration.
    pub fn read(raw: &'a str) -> Result<Option<Self>, &'static str> {
        let raw = raw.trim_matches([' ', '\t']);
        if raw.chars().any(|c| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}')) {
            return Err("a control character");
        }
        if raw.len() > LONGEST {
            return Err("longer than 2000 bytes");
        }
        let mut line = Self { text: raw, words: Vec::new(), expands: false };
        let (mut quote, mut word): (Quote, Option<String>) = (Quote::None, None);
        let mut chars = raw.char_indices();
        while let Some((at, c)) = chars.next() {
            match (quote, c) {
                (Quote::None, '#') => {
                    line.text = raw[..at].trim_end_matches([' ', '\t']);
                    break;
                }
                (Quote::None, ' ' | '\t') => line.words.extend(word.take()),
                (Quote::None, '\'') => (quote, word) = (Quote::Single, Some(word.unwrap_or_default())),
                (Quote::None, '"') => (quote, word) = (Quote::Double, Some(word.unwrap_or_default())),
                (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::None,
                (Quote::None | Quote::Double, '\\') => {
                    let rest = &raw[at + 1..];
                    let (taken, meant) = escaped(rest).ok_or("a backslash at the end")?;
                    word.get_or_insert_default().push_str(&meant);
                    for _ in rest[..taken].chars() {
                        chars.next();
                    }
                }
                (_, c) => {
                    line.expands |= quote == Quote::Double && c == '$';
                    word.get_or_insert_default().push(c);
                }
            }
        }
        if quote != Quote::None {
            return Err("a quote that is not closed");
        }
        line.words.extend(word);
        if line.words.len() > MOST_WORDS {
            return Err("more than 63 words");
        }
        Ok((!line.words.is_empty()).then_some(line))
    }
}

/// What stands behind a backslash: how many bytes belong to it, and what they mean.
fn escaped(rest: &str) -> Option<(usize, String)> {
    let first = rest.chars().next()?;
    let one = first.len_utf8();
    Some(match first {
        'n' => (one, "\n".to_owned()),
        'r' => (one, "\r".to_owned()),
        't' => (one, "\t".to_owned()),
        'x' => match rest.get(1..3).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => (3, char::from(byte).to_string()),
            None => (one, "\\x".to_owned()),
        },
        ' ' | '\\' | '#' | '"' | '\'' | '$' => (one, first.to_string()),
        other => (one, format!("\\{other}")),
    })
}
