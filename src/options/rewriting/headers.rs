//! `request-set-header`, `response-set-header`.

use std::sync::Arc;

use crate::options::expression::Moment;
use crate::options::format::{Piece, format};
use crate::options::value::{header_name, lines};
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Most headers of a path.
const MOST: usize = 64;
/// Longest value.
const LONGEST: usize = 4096;
/// They say where a message ends; another value would let one request pass for two.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

/// A header and what it is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetHeader {
    /// Name.
    pub name: Arc<str>,
    /// Value.
    pub value: Vec<Piece>,
}

/// Headers of requests.
pub static REQUEST_SET_HEADER: Key<Vec<SetHeader>> = Key {
    entry: Entry {
        name: "request-set-header",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "lines of a header's name and, behind a space, its value",
        default: "nothing",
        docs: "Sets headers of requests to the pods, in place of those of the same name. A value may have any character and is \
               taken as it is, with three exceptions: `%[expression]` is replaced by the value of a sample expression (the same \
               as in `request-capture`, for example `%[src]`, `%[ssl_fc]`, `%[req.hdr(name)]`, `%[hostname]`, `%[unique-id]`); \
               `%%` is one `%`; and double quotes around the whole value are taken off, with `\\\"` and `\\\\` inside them for `\"` \
               and `\\`. Setting `Host` here does not change which route a request takes. `Content-Length` and \
               `Transfer-Encoding` cannot be set.",
        example: "X-Client %[src]",
        effect: Effect::Reload,
    },
    parse: |text| headers(text, Moment::Request),
};

/// Headers of responses.
pub static RESPONSE_SET_HEADER: Key<Vec<SetHeader>> = Key {
    entry: Entry {
        name: "response-set-header",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "lines of a header's name and, behind a space, its value",
        default: "nothing",
        docs: "Sets headers of the pods' responses, in place of those of the same name; answers of HAProxy itself (redirects, \
               denials, errors) do not have them. Values are written as for `request-set-header`; sample expressions are those \
               that are known on a response (`%[res.hdr(name)]`, `%[status]`, `%[src]`, `%[ssl_fc_protocol]`, and so on).",
        example: "Cache-Control \"no-store, private\"",
        effect: Effect::Reload,
    },
    parse: |text| headers(text, Moment::Response),
};

fn headers(text: &str, moment: Moment) -> Result<Vec<SetHeader>, Wrong> {
    let found: Vec<SetHeader> = lines(text).map(|line| header(line, moment)).collect::<Result<_, _>>()?;
    match found.len() {
        0 => Err(Wrong::because("it names no header")),
        1..=MOST => Ok(found),
        _ => Err(Wrong::because("there are too many lines")),
    }
}

fn header(line: &str, moment: Moment) -> Result<SetHeader, Wrong> {
    let (name, value) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let name = header_name(name)
        .map_err(|_| Wrong::because(format!("`{}` is not the name of a header", name.escape_debug())))?;
    if FRAMING.iter().any(|framing| framing.eq_ignore_ascii_case(&name)) {
        return Err(Wrong::because(format!("`{name}` cannot be set")));
    }
    let value = unquoted(value.trim());
    if value.is_empty() {
        return Err(Wrong::because(format!("the value of `{name}` is missing")));
    }
    if value.len() > LONGEST {
        return Err(Wrong::because(format!("the value of `{name}` is longer than {LONGEST} bytes")));
    }
    Ok(SetHeader { name, value: format(&value, moment)? })
}

/// Without double quotes around all of it, as users of HAProxy write a value with spaces. Quotes inside of them that no
/// backslash protects mean that these do not belong together: then all are literal.
fn unquoted(text: &str) -> String {
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let Some(inside) = inside else { return text.to_owned() };
    let mut plain = String::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return text.to_owned(),
            '\\' => match chars.next() {
                Some(c @ ('"' | '\\')) => plain.push(c),
                Some(c) => plain.extend(['\\', c]),
                None => return text.to_owned(),
            },
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<Vec<String>> {
        let headers = (REQUEST_SET_HEADER.parse)(text).ok()?;
        let show = |piece: &Piece| match piece {
            Piece::Text(text) => text.to_string(),
            Piece::Sample(sample) => format!("<{sample}>"),
        };
        let show = |header: &SetHeader| {
            format!("{}={}", header.name, header.value.iter().map(show).collect::<String>())
        };
        Some(headers.iter().map(show).collect())
    }

    #[test]
    fn values() {
        for (text, expected) in [
            ("X-A b", vec!["X-A=b"]),
            ("X-A   b  c \n\nY\td", vec!["X-A=b  c", "Y=d"]),
            ("Cache-Control \"no-store,no-cache,private\"", vec!["Cache-Control=no-store,no-cache,private"]),
            (r#"X "a \"b\" \\ \c""#, vec![r#"X=a "b" \ \c"#]),
            (r#"X "a" "b""#, vec![r#"X="a" "b""#]),
            ("X \"", vec!["X=\""]),
            ("X 'self' # \\ $HOME 50% if { src }", vec!["X='self' # \\ $HOME 50% if { src }"]),
            ("X for=%[src];%[ssl_fc]", vec!["X=for=<src>;<ssl_fc>"]),
            ("X 100%%", vec!["X=100%"]),
        ] {
            assert_eq!(shown(text), Some(expected.into_iter().map(str::to_owned).collect()), "{text}");
        }
        let long = format!("X {}", "a".repeat(5000));
        for text in [
            "",
            "\n",
            "X",
            "X ",
            "X: a",
            "X\u{e4} b",
            "X \"\"",
            "X a\0b",
            "X a\u{7}",
            "X %[env(PATH)]",
            "X %[src",
            "X y\nZ",
            "Content-Length 1",
            "transfer-encoding chunked",
            &long,
            &"X y\n".repeat(100),
        ] {
            assert_eq!(shown(text), None, "{text:?}");
        }
        assert!((RESPONSE_SET_HEADER.parse)("X %[path]").is_err());
        assert!((RESPONSE_SET_HEADER.parse)("X %[res.hdr(server)]").is_ok());
    }
}
