//! `path-rewrite`.

use crate::options::expression::Moment;
use crate::options::format::{Piece, format};
use crate::options::regex::Regex;
use crate::options::value::lines;
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Most rules of a path.
const MOST: usize = 32;
/// Longest replacement.
const LONGEST: usize = 2048;

/// A change of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRewrite {
    /// Which paths; `None` for all of them.
    pub pattern: Option<Regex>,
    /// The new path; with a pattern, `\1` is its first group.
    pub replacement: Vec<Piece>,
}

/// The path to the pods.
pub static PATH_REWRITE: Key<Vec<PathRewrite>> = Key {
    entry: Entry {
        name: "path-rewrite",
        aliases: &[],
        chapter: Chapter::Rewriting,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a path, or a regular expression and a path behind a space, or several such lines",
        default: "the path of the request",
        docs: "Changes the path of requests to the pods; the query stays. A single path replaces every path. With a regular \
               expression, a path that matches it anywhere is replaced as a whole (so anchor it with `^` where that matters); `\\1` \
               to `\\9` in the new path are its groups and `\\0` is all that matched. Lines are applied one after another, each to \
               what the one before it made. `%[expression]` stands for the value of a sample expression and `%%` for one `%`, as in \
               `request-set-header`. Regular expressions are PCRE2's, without look-behind, named groups and escapes such as `\\x`. \
               Routes are chosen by the path of the request.",
        example: "/foo/(.*) /\\1",
        effect: Effect::Reload,
    },
    parse,
};

fn parse(text: &str) -> Result<Vec<PathRewrite>, Wrong> {
    let found: Vec<PathRewrite> = lines(text).map(rule).collect::<Result<_, _>>()?;
    match found.len() {
        0 => Err(Wrong::because("it names no path")),
        1..=MOST => Ok(found),
        _ => Err(Wrong::because("there are too many lines")),
    }
}

fn rule(line: &str) -> Result<PathRewrite, Wrong> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (pattern, replacement) = match words[..] {
        // As `(.*)` in front would do.
        [path] if path.contains('\\') => (Some(Regex::parse("(.*)")?), path),
        [path] => (None, path),
        [pattern, path] => (Some(Regex::parse(pattern)?), path),
        _ => {
            return Err(Wrong::because(
                "a line has one or two words; write `\\s` for a space in a regular expression",
            ));
        }
    };
    if replacement.len() > LONGEST {
        return Err(Wrong::because("the path is too long"));
    }
    if !replacement.starts_with('/') && !replacement.starts_with('\\') && !replacement.starts_with("%[") {
        return Err(Wrong::because("the path does not start with `/`"));
    }
    if replacement.contains('#') || replacement.chars().any(char::is_whitespace) || !replacement.is_ascii() {
        return Err(Wrong::because("the path has a character that no path has; encode it as `%XX`"));
    }
    check_references(replacement, pattern.as_ref().map_or(0, Regex::groups))?;
    Ok(PathRewrite { pattern, replacement: format(replacement, Moment::Request)? })
}

/// A backslash stands before the number of a group, and nowhere else.
fn check_references(replacement: &str, groups: usize) -> Result<(), Wrong> {
    for part in replacement.split('\\').skip(1) {
        match part.bytes().next() {
            Some(digit) if digit.is_ascii_digit() => {
                if usize::from(digit - b'0') > groups {
                    return Err(Wrong::because(format!(
                        "the path refers to group {} and the regular expression has {groups}",
                        char::from(digit)
                    )));
                }
            }
            _ => return Err(Wrong::because("a backslash in the path stands before the number of a group")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (text, rules) in [
            ("/", 1),
            (r"(.*) /foo\1", 1),
            (r"([^?]*)(\?(.*))? \1/foo\2", 1),
            (r"/foo/(.*) /\1", 1),
            ("/foo/(.*)   /\\1\n\n  /bar/(.*) /baz/\\1  \r\n", 2),
            (r"/x\1", 1),
            ("/a%20b", 1),
            ("/%[req.hdr(host)]/x", 1),
        ] {
            assert_eq!((PATH_REWRITE.parse)(text).map(|found| found.len()), Ok(rules), "{text}");
        }
        let long = format!("/{}", "a".repeat(3000));
        for text in [
            "",
            "\n",
            "foo",
            "( /a",
            "/a /b /c",
            "/a b",
            r"/a /\1",
            r"(a) /\2",
            r"/a\",
            r"/a\n",
            r"/a\\",
            "/a#b",
            "/ä",
            "/a\0",
            "/%[env(X)]",
            "/%[src",
            "(.*) foo\\1",
            "/a{1001} /b",
            &long,
            &"/a /b\n".repeat(50),
        ] {
            assert!((PATH_REWRITE.parse)(text).is_err(), "{text:?}");
        }
    }
}
