//! `request-capture`, `request-capture-len`.

use crate::options::expression::{Expression, Moment};
use crate::options::value::{lines, number};
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Length of a capture when the key is not written.
pub const DEFAULT_CAPTURE_LENGTH: u32 = 128;

/// Most captures of a path: every request has room for them.
const MOST: usize = 20;

/// What of a request is logged.
pub static REQUEST_CAPTURE: Key<Vec<Expression>> = Key {
    entry: Entry {
        name: "request-capture",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "sample expressions such as `hdr(user-agent)` or `cookie(name),lower`, one a line, at most 20",
        default: "nothing",
        docs: "Writes the values of these sample expressions into the log line, in braces and separated by `|`, in the order \
               of the lines (`%hr` in a log format of your own, or `%[capture.req.hdr(0)]` for the first). They are taken \
               before the request is changed or redirected, from requests that access lists, limits and authentication let \
               through. All routes share the places in the log line: a request to a route with fewer captures than \
               another one leaves the rest empty. Fetches and converters come from an allow-list: headers (`req.hdr(name)`, \
               `req.fhdr(name)` for values with commas), cookies, method, path, query and parameters, addresses, TLS \
               (`ssl_fc_…`, `ssl_c_…`), `hostname`, `unique-id`, and so on; nothing that reads files, maps, variables or the \
               environment.",
        example: "req.fhdr(user-agent)",
        effect: Effect::Reload,
    },
    parse: expressions,
};

/// How much of a captured value is logged.
pub static REQUEST_CAPTURE_LEN: Key<u32> = Key {
    entry: Entry {
        name: "request-capture-len",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a number from 1 to 8192",
        default: "`128`",
        docs: "Longest value, in bytes, that `request-capture` of the same path writes into the log line; longer ones are cut. \
               Mind that log targets cut whole lines, too, at 1024 bytes unless they are told otherwise.",
        example: "350",
        effect: Effect::Reload,
    },
    parse: |text| number(text, 1..=8192),
};

fn expressions(text: &str) -> Result<Vec<Expression>, Wrong> {
    let found: Vec<Expression> =
        lines(text).map(|line| Expression::parse(line, Moment::Request)).collect::<Result<_, _>>()?;
    match found.len() {
        0 => Err(Wrong::because("it names nothing to capture")),
        1..=MOST => Ok(found),
        _ => Err(Wrong::because("there are too many lines")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (text, count) in
            [("hdr(host)", Some(1)), ("cookie(a)\n\n  src \r\nreq.fhdr(user-agent)", Some(3))]
        {
            assert_eq!((REQUEST_CAPTURE.parse)(text).ok().map(|found| found.len()), count, "{text}");
        }
        let many = "src\n".repeat(21);
        for text in
            ["", "\n", "hdr(a) len 10", "src id 0", "hdr(a)#", "\"src\"", "%[src]", "src\0", "acl", &many]
        {
            assert!((REQUEST_CAPTURE.parse)(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn lengths() {
        for (text, value) in
            [("1", Some(1)), ("8192", Some(8192)), ("0", None), ("8193", None), ("", None), ("1k", None)]
        {
            assert_eq!((REQUEST_CAPTURE_LEN.parse)(text).ok(), value, "{text}");
        }
        assert_eq!((REQUEST_CAPTURE_LEN.parse)("128"), Ok(DEFAULT_CAPTURE_LENGTH));
    }
}
