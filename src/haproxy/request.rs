//! One message to the master CLI: a command line and perhaps a payload, with no way to say a second command by accident.

use bytes::Bytes;

use super::Error;

/// Largest message that is sent, command and payload together. The worker's limit is its `tune.bufsize` (16,384) on all
/// versions before 3.4; going over it crashes the master of 2.2 and leaks connections on 2.8 to 3.2.
pub const MAX_MESSAGE: usize = 15_000;

/// More words in a command than this are silently dropped before 3.2.
const MAX_WORDS: usize = 64;

/// One message to the master CLI.
///
/// A payload ends with an empty line, on all versions alike: blank lines inside are dropped, since they would end it early and
/// what follows would run as commands (2.2 to 3.4). The own end mark of 2.9+ is not needed for that, and 2.6 loses track of
/// its input when it sees one.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    line: String,
    payload: Option<String>,
}

impl Request {
    /// A command of the master itself.
    pub fn master(words: &'static str) -> Self {
        Self { line: words.to_owned(), payload: None }
    }

    /// A command of the current worker.
    pub fn worker(words: &'static str) -> Self {
        Self { line: format!("@1 {words}"), payload: None }
    }

    /// Adds one word.
    pub fn word(mut self, word: &str) -> Result<Self, Error> {
        self.line.push(' ');
        self.line.push_str(&escape_word(word)?);
        Ok(self)
    }

    /// Adds the payload. Blank lines and carriage returns are dropped.
    pub fn payload(mut self, text: &str) -> Result<Self, Error> {
        let mut payload = String::with_capacity(text.len() + 1);
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            if line.chars().any(|c| c.is_control() && c != '\t') {
                return Err(Error::Unspeakable(format!("payload of {}", self.line)));
            }
            payload.push_str(line);
            payload.push('\n');
        }
        if payload.is_empty() {
            return Err(Error::Unspeakable(format!("empty payload of {}", self.line)));
        }
        self.payload = Some(payload);
        Ok(self)
    }

    /// The command without payload, for messages.
    pub fn command(&self) -> &str {
        &self.line
    }

    /// True when the command changes nothing, so that it may be sent again when its answer got lost.
    pub(super) fn is_read(&self) -> bool {
        self.line.strip_prefix("@1 ").unwrap_or(&self.line).starts_with("show ")
    }

    /// True when the end of the connection is the end of the answer.
    pub(super) fn ends_connection(&self) -> bool {
        self.line == "reload"
    }

    /// The bytes to send.
    pub(super) fn encode(&self) -> Result<Bytes, Error> {
        let message = match &self.payload {
            Some(payload) => format!("{} <<\n{payload}\n", self.line),
            None => format!("{}\n", self.line),
        };
        // Escaped spaces count as words here, which errs on the safe side.
        if message.len() > MAX_MESSAGE || self.line.split(' ').count() > MAX_WORDS {
            return Err(Error::TooLarge { command: self.line.clone(), bytes: message.len() });
        }
        Ok(message.into())
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Request").field(&self.line).finish()
    }
}

/// Spells one word so that HAProxy reads exactly that word: `\` before a backslash, `;` and space (the CLI has no quotes), and
/// before `<`, since a line that ends in `<<` opens a payload. Words that cannot be spelled are refused: empty ones, and those
/// with control characters (a newline ends the command, a tab the word, even behind a backslash).
pub fn escape_word(word: &str) -> Result<String, Error> {
    if word.is_empty() || word.chars().any(char::is_control) {
        return Err(Error::Unspeakable(word.escape_debug().to_string()));
    }
    let mut escaped = String::with_capacity(word.len() + 4);
    for c in word.chars() {
        if matches!(c, '\\' | ';' | ' ' | '<') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests;
