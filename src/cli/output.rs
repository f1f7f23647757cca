//! The one place that prints: data on stdout, errors on stderr.

use std::io::{self, Write};

/// Writes data to stdout. A closed pipe (`| head`) is success.
pub(super) fn data(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Prints an error with its chain of causes to stderr.
pub(super) fn error(error: &anyhow::Error) {
    let mut text = format!("error: {error}\n");
    for cause in error.chain().skip(1) {
        text.push_str("  caused by: ");
        text.push_str(&cause.to_string());
        text.push('\n');
    }
    // Nothing can be done when stderr is closed.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints a line for people to stderr.
pub(super) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
