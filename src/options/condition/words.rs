//! The words of a test, as HAProxy splits a line.

use crate::options::Wrong;

/// Words without their quotes and escapes: `"…"` and `'…'` keep white space together, a backslash protects white space, quotes,
/// `#` and itself, and is a character of its own before any other (HAProxy 2.2 to 3.4). `$` in double quotes, which HAProxy
/// would expand, is just itself.
pub(super) fn words(text: &str) -> Result<Vec<String>, Wrong> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !(c.is_ascii_graphic() || c == ' ') {
            return Err(Wrong::because("it may only hold visible ASCII characters and spaces"));
        }
        match (c, quote) {
            (' ', None) => words.extend(word.take()),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => {
                let word = word.get_or_insert_default();
                match chars.next_if(|next| matches!(next, ' ' | '"' | '\'' | '#' | '\\')) {
                    Some(next) => word.push(next),
                    None => word.push('\\'),
                }
            }
            ('#', None) => return Err(Wrong::because("`#` would begin a comment; put it into quotes")),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(Wrong::because("a quote is not closed"));
    }
    words.extend(word);
    if words.is_empty() { Err(Wrong::PLAIN) } else { Ok(words) }
}
