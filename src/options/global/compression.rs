//! Compression of responses.

use std::sync::Arc;

use super::entry;
use crate::options::{Key, Wrong};
use crate::problem::excerpt;

const ALGORITHMS: [&str; 4] = ["gzip", "deflate", "raw-deflate", "identity"];

/// What is compressed when nothing else is said.
pub const COMPRESSION_TYPES: [&str; 8] = [
    "text/html",
    "text/plain",
    "text/css",
    "text/javascript",
    "application/javascript",
    "application/json",
    "application/xml",
    "image/svg+xml",
];

/// Algorithms, in order of preference.
pub static COMPRESSION_ALGO: Key<Vec<&'static str>> = Key {
    entry: entry(
        "compression-algo",
        "a list of `gzip`, `deflate`, `raw-deflate`, `identity`",
        "no compression",
        "Compresses responses of pods that are not compressed yet, for clients that ask for it (`Accept-Encoding`). Costs \
         processor time of HAProxy; `gzip` is what every client knows. `identity` is for tests: it changes nothing.",
        "gzip",
    ),
    parse: algorithms,
};

/// Content types.
pub static COMPRESSION_TYPE: Key<Vec<Arc<str>>> = Key {
    entry: entry(
        "compression-type",
        "a list of content types such as `text/html application/json`",
        "`text/html text/plain text/css text/javascript application/javascript application/json application/xml image/svg+xml`",
        "Content types that `compression-algo` compresses.",
        "text/html application/json",
    ),
    parse: types,
};

fn algorithms(text: &str) -> Result<Vec<&'static str>, Wrong> {
    let mut found = Vec::new();
    for word in words(text) {
        let known = ALGORITHMS.iter().find(|known| known.eq_ignore_ascii_case(word)).ok_or_else(|| {
            Wrong::because(format!("`{}` is no algorithm that HAProxy has", word.escape_debug()))
        })?;
        if !found.contains(known) {
            found.push(*known);
        }
    }
    if found.is_empty() { Err(Wrong::PLAIN) } else { Ok(found) }
}

fn types(text: &str) -> Result<Vec<Arc<str>>, Wrong> {
    let token = |part: &str| {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"!&-^_.+".contains(&b);
        !part.is_empty() && part.len() <= 100 && part.bytes().all(allowed)
    };
    let mut found: Vec<Arc<str>> = Vec::new();
    for word in words(text) {
        match word.split_once('/') {
            Some((main, sub)) if token(main) && token(sub) => {
                let word: Arc<str> = word.to_ascii_lowercase().into();
                if !found.contains(&word) {
                    found.push(word);
                }
            }
            _ => {
                let word = excerpt(word, 60);
                return Err(Wrong::because(format!("`{word}` is no content type")));
            }
        }
    }
    // A line of HAProxy's configuration has 64 words at most.
    match found.len() {
        0 => Err(Wrong::PLAIN),
        1..=50 => Ok(found),
        _ => Err(Wrong::because("there are more than 50")),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',', '\t', '\n', '\r']).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn values() {
        assert_eq!((COMPRESSION_ALGO.parse)("GZIP, deflate gzip"), Ok(vec!["gzip", "deflate"]));
        for bad in ["brotli", "br", "gzip;", "none"].iter().chain(&HOSTILE) {
            assert!((COMPRESSION_ALGO.parse)(bad).is_err(), "{bad}");
        }
        let types = (COMPRESSION_TYPE.parse)("text/html,\nText/HTML application/vnd.api+json").unwrap();
        assert_eq!(types, ["text/html".into(), Arc::<str>::from("application/vnd.api+json")]);
        for bad in ["html", "text/", "/html", "text/html;q=1", "a/b/c", "text/*"].iter().chain(&HOSTILE) {
            assert!((COMPRESSION_TYPE.parse)(bad).is_err(), "{bad}");
        }
        let many: Vec<String> = (0..51).map(|i| format!("a/{i}")).collect();
        assert!((COMPRESSION_TYPE.parse)(&many.join(" ")).is_err());
    }

    #[test]
    fn the_default_is_what_the_documentation_says() {
        let documented = COMPRESSION_TYPE.entry.default.trim_matches('`');
        assert_eq!(documented, COMPRESSION_TYPES.join(" "));
    }
}
