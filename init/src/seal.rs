//! The last line that proves a text file complete: files are not synced, and a node that loses power cuts them off.

use std::fmt::Write;

/// FNV-1a, 64 bit: a fixed, dependency-free digest for things that are not secrets.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Digest of a whole text. Eight bytes at a time, since a map of 10,000 routes is sealed with every new route: byte by byte,
/// FNV-1a took ten times as long as everything else that is computed for one.
fn digest(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| {
        let mixed = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    });
    (hash ^ fnv1a(rest)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Adds the last line that proves a text file complete: `# end <digest of everything before, 16 hex digits>`. A text whose
/// last line has no newline gets one.
///
/// HAProxy ignores comment lines in configurations, maps and crt-lists (2.2 to 3.4).
pub fn seal(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let digest = digest(text.as_bytes());
    // Writing to a String cannot fail.
    let _ = writeln!(text, "# end {digest:016x}");
    text
}

/// The text without its last line, or `None` when it was cut off or altered.
pub fn unseal(sealed: &str) -> Option<&str> {
    let text_end = sealed.strip_suffix('\n')?.rfind('\n').map_or(0, |i| i + 1);
    let (text, end) = sealed.split_at(text_end);
    let sealed = end.strip_prefix("# end ")?.strip_suffix('\n')?;
    (sealed == format!("{:016x}", digest(text.as_bytes()))).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_text_comes_back() {
        for text in ["", "a\n", "global\n  maxconn 1\n", "ä\n\n\n", "# end 0000000000000000\n"] {
            assert_eq!(unseal(&seal(text.to_owned())), Some(text), "{text:?}");
        }
    }

    #[test]
    fn a_missing_last_newline_is_added() {
        assert_eq!(unseal(&seal("a".to_owned())), Some("a\n"));
    }

    #[test]
    fn a_single_changed_bit_is_noticed() {
        let text: String = (b'a'..=b'z').cycle().take(41).map(char::from).collect::<String>() + "\n";
        for at in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[at / 8] ^= 1 << (at % 8);
            assert_ne!(digest(&bytes), digest(text.as_bytes()), "bit {at}");
        }
    }

    #[test]
    fn a_text_cut_off_anywhere_is_refused() {
        let sealed = seal("one\n# two\nthree\n".to_owned());
        for length in 0..sealed.len() {
            assert_eq!(unseal(&sealed[..length]), None, "cut at {length}");
        }
    }

    #[test]
    fn an_altered_or_lengthened_text_is_refused() {
        let sealed = seal("one\ntwo\n".to_owned());
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            for bit in [1, 0x20] {
                bytes[at] ^= bit;
                let altered = String::from_utf8(bytes.clone()).unwrap();
                assert_eq!(unseal(&altered), None, "altered at {at}: {altered:?}");
                bytes[at] ^= bit;
            }
        }
        assert_eq!(unseal(&format!("{sealed}\n")), None);
        assert_eq!(unseal(&format!("{sealed}three\n")), None);
        assert_eq!(unseal(&format!("{sealed}\0\0\0")), None);
        assert_eq!(unseal("plain\n"), None);
    }

    #[test]
    fn the_digest_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
