//! The reference page of problems.

use std::fmt::Write as _;

use super::Code;

/// `docs/problems.md`.
pub fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for code in Code::all() {
        let Some(docs) = code.docs() else { continue };
        let _ = writeln!(page, "\n## {code}\n\n{}\n\n**What to do:** {}", docs.meaning, docs.remedy);
    }
    page
}

const INTRODUCTION: &str = "\
# Problems

<!-- Made from src/problem/docs.rs; `UPDATE_EXPECTED=1 cargo test --test it pages` writes it anew. -->

A mistake in one object never stops another. It is a problem with a stable code: the log has a line when it appears
(`OBJECT, KEY: what is wrong [code]; hint: what mends it`) and one when it is mended, and `outrigger render` prints all of them
and ends with 1 when one of them is an error. A problem must last a second before it is said: objects that belong together
arrive one after the other.
";
