//! DER → PEM. Written anew instead of copied, so that equal contents are equal bytes, whatever the line breaks, comments and
//! blank lines of the original were (a blank line ends a payload of the master CLI).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes of DER per line: 64 characters.
const LINE: usize = 48;

/// Appends one block.
pub(super) fn encode(label: &str, der: &[u8], out: &mut String) {
    out.push_str("-----BEGIN ");
    out.push_str(label);
    out.push_str("-----\n");
    for line in der.chunks(LINE) {
        for group in line.chunks(3) {
            let byte = |i: usize| u32::from(group.get(i).copied().unwrap_or_default());
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for i in 0..4 {
                let sextet = (bits >> (18 - 6 * i) & 0x3f) as usize;
                out.push(if i <= group.len() { char::from(ALPHABET[sextet]) } else { '=' });
            }
        }
        out.push('\n');
    }
    out.push_str("-----END ");
    out.push_str(label);
    out.push_str("-----\n");
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn base64_with_every_padding() {
        for (text, base64) in
            [("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            let mut out = String::new();
            encode("X", text.as_bytes(), &mut out);
            assert_eq!(out, format!("-----BEGIN X-----\n{base64}\n-----END X-----\n"));
        }
        let mut out = String::new();
        encode("X", &[0xff; 49], &mut out);
        assert_eq!(out.lines().map(str::len).collect::<Vec<_>>(), [17, 64, 4, 15]);
    }
}
