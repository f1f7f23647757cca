//! Framing of the master CLI in prompt mode: one answer ends where the prompt begins.

use std::io;

use bytes::BytesMut;
use tokio_util::codec::Decoder;

/// Longer than any prompt (`master[ReloadFailed](xed)> ` has 27 bytes).
const LONGEST_PROMPT: usize = 48;

/// No answer of a sane HAProxy is this large; bounds memory when the peer is something else.
const MAX_ANSWER: usize = 256 << 20;

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text without the prompt, the echo of payload lines and the empty lines at the end.
    pub text: String,
    /// The prompt says that the last reload failed.
    pub reload_failed: bool,
    /// False when the connection ended before the prompt came.
    pub complete: bool,
}

/// Cuts the byte stream into [`Answer`]s.
///
/// A prompt counts only as the very last bytes received: one command is outstanding at a time, so nothing can follow the
/// prompt of its answer, and text inside an answer that looks like a prompt is followed by more. Only the tail of the buffer
/// is looked at, so an answer of many megabytes costs no more than its length.
#[derive(Debug, Default, Clone, Copy)]
pub struct ReplyDecoder;

impl Decoder for ReplyDecoder {
    type Item = Answer;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Answer>> {
        let Some((start, reload_failed)) = prompt_at_end(buffer) else {
            if buffer.len() > MAX_ANSWER {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "endless answer"));
            }
            return Ok(None);
        };
        let bytes = buffer.split();
        Ok(Some(Answer { text: text_of(&bytes[..start]), reload_failed, complete: true }))
    }

    /// What came before the connection ended: the answer of `reload` ends like this on all versions, and errors that the
    /// master itself finds do up to 2.6.
    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Answer>> {
        if let Some(answer) = self.decode(buffer)? {
            return Ok(Some(answer));
        }
        if buffer.is_empty() {
            return Ok(None);
        }
        let bytes = buffer.split();
        Ok(Some(Answer { text: text_of(&bytes), reload_failed: false, complete: false }))
    }
}

/// Drops the echo of payload lines (`+ ` for each, before anything else) and the line ends behind the text.
fn text_of(mut bytes: &[u8]) -> String {
    while let Some(rest) = bytes.strip_prefix(b"+ ") {
        bytes = rest;
    }
    while let Some(rest) = bytes.strip_suffix(b"\n") {
        bytes = rest;
    }
    String::from_utf8_lossy(bytes).into_owned()
}

/// Where the prompt at the end begins, and whether it says that the last reload failed.
fn prompt_at_end(buffer: &[u8]) -> Option<(usize, bool)> {
    let before = buffer.strip_suffix(b"> ")?;
    let tail = before.len().saturating_sub(LONGEST_PROMPT);
    let start = match before[tail..].iter().rposition(|byte| *byte == b'\n') {
        Some(newline) => tail + newline + 1,
        None if tail == 0 => 0,
        None => return None,
    };
    let mut name = &before[start..];
    if let Some(rest) = name.strip_suffix(b")") {
        let open = rest.iter().rposition(|byte| *byte == b'(')?;
        let flags = &rest[open + 1..];
        if flags.is_empty() || !flags.iter().all(|flag| b"xed".contains(flag)) {
            return None;
        }
        name = &rest[..open];
    }
    match name {
        b"master" => Some((start, false)),
        b"master[ReloadFailed]" => Some((start, true)),
        // The prompt of a worker. We never switch to one, but a prefix alone in a command would.
        pid if !pid.is_empty() && pid.len() <= 10 && pid.iter().all(u8::is_ascii_digit) => {
            Some((start, false))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
