//! The one place where text from users (and from operators: folders) becomes part of a file that HAProxy reads.
//!
//! Names in the model are validated already; these functions make sure that no value whatever can add a line, a word or an
//! entry. Valid values pass unchanged.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A name of a proxy or server: letters, digits and `-_.:`, the only ones that HAProxy allows; anything else becomes `-`.
pub(super) fn name(text: &str) -> Cow<'_, str> {
    if text.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    replaced(text, allowed, '-')
}

/// What stands behind `# `: printable, in one line.
pub(super) fn comment(text: &str) -> Cow<'_, str> {
    replaced(text, |c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}'), ' ')
}

/// A map key (the map format has no quoting; a key ends at white space): what cannot stand in a URL unencoded is
/// percent-encoded, just as clients send it.
pub(super) fn map_key(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| b.is_ascii_graphic()) {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        if byte.is_ascii_graphic() {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    Cow::Owned(encoded)
}

/// A line of a pattern file: one line, no comment, no white space around it; `None` when nothing is left.
pub(super) fn pattern(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty() && !text.starts_with('#') && !text.chars().any(char::is_control)).then_some(text)
}

/// A server name behind a file in a crt-list; `None` when it is not one. A leading `!` would exclude, brackets hold options.
pub(super) fn sni_filter(text: &str) -> Option<&str> {
    let host = text.strip_prefix("*.").unwrap_or(text);
    let valid = !host.is_empty()
        && host
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.'));
    valid.then_some(text)
}

/// A file name in the certificate folder: letters, digits and `-_.`, no leading dot; anything else becomes `-`.
pub(super) fn file_name(text: &str) -> Cow<'_, str> {
    let name = replaced(text, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'), '-');
    if name.starts_with('.') { Cow::Owned(format!("-{name}")) } else { name }
}

/// A word of a configuration line, such as a path.
pub(super) fn word(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\0' => escaped.push_str("\\ "),
            // The only ones that a backslash protects outside quotes; nothing else has a meaning there (all versions).
            ' ' | '\t' | '#' | '\\' | '"' | '\'' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A path as the argument of a converter: arguments have commas, parentheses and quotes of their own (2.2+), inside the word.
pub(super) fn argument(text: &str) -> String {
    if text.contains([',', '(', ')', '\'', '"', '\\', ' ']) {
        word(&format!("'{}'", text.replace('\'', r"'\''")))
    } else {
        word(text)
    }
}

/// Literal text in a format string (`%` begins a variable there), before the string becomes a word.
pub(super) fn format_text(text: &str) -> String {
    text.replace('%', "%%")
}

/// A sample expression of the allow-list, in a format string or as a word: nothing that could end it.
pub(super) fn expression(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c.is_ascii_alphanumeric() || "-_.,()/;:=&|@!+*?".contains(c), '-')
}

/// The name of a header as the argument of a sample fetch.
pub(super) fn header_argument(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'), '-')
}

/// Host and port in a format string and in a pattern.
pub(super) fn authority(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '[' | ']'), '-')
}

/// Text as one word in which nothing means anything: single quotes (all versions), which only a single quote ends.
pub(super) fn quoted(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A text as a regular expression that matches exactly it: what is not a letter or digit gets a backslash, which PCRE takes for
/// the character itself whatever it is.
pub(super) fn literal_regex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn replaced(text: &str, allowed: impl Fn(char) -> bool, with: char) -> Cow<'_, str> {
    if text.chars().all(&allowed) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(|c| if allowed(c) { c } else { with }).collect())
    }
}
