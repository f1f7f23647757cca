//! A configuration text, line by line.

use std::fmt::{self, Write as _};

use super::{Paths, escape};
use crate::model::Snippet;

/// Collects lines; sections start at the margin, what is in them is indented by two.
#[derive(Debug, Default)]
pub(super) struct Text(String);

impl Text {
    /// A line at the margin that opens a section, with an empty line before it.
    pub(super) fn section(&mut self, line: fmt::Arguments<'_>) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.push("", line);
    }

    /// A line in a section.
    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) {
        self.push("  ", line);
    }

    /// Several fixed lines in a section.
    pub(super) fn lines(&mut self, lines: &[&str]) {
        for line in lines {
            self.push("  ", format_args!("{line}"));
        }
    }

    /// Raw configuration, between comments that say where it comes from; nothing when HAProxy refuses it.
    ///
    /// The lines were checked when they were read: none of them can open a section, or be a comment.
    pub(super) fn snippet(&mut self, snippet: Option<&Snippet>, paths: &Paths<'_>) {
        let Some(snippet) = snippet.filter(|snippet| !paths.left_out.snippet(snippet)) else { return };
        self.line(format_args!("{}{}", Snippet::MARK, escape::comment(&snippet.origin.to_string())));
        let patterns = escape::word(&paths.volumes.patterns().to_string_lossy());
        for line in snippet.lines.iter() {
            self.line(format_args!("{}", line.replace(" -f patterns/", &format!(" -f {patterns}/"))));
        }
        self.line(format_args!("{}", Snippet::END));
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn push(&mut self, indent: &str, line: fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{indent}{line}");
    }
}
