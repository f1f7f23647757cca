//! Names of addresses, from the symbols and lines in the program's own file.

use std::ffi::c_void;

/// A function at an address, with the place where it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line {
    /// Name, readable.
    pub function: String,
    /// Source file; empty when unknown.
    pub file: String,
    /// Line; 0 when unknown.
    pub line: u32,
}

/// Looks names up. What it has read of the file is given back when this is dropped.
#[derive(Debug, Default)]
pub struct Symbols(());

impl Symbols {
    /// The functions at an address: those inlined there first, then the one they are in. None when the file is stripped.
    pub fn at(&self, address: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        // `resolve` takes the address behind a call.
        let behind = std::ptr::without_provenance_mut::<c_void>(address.saturating_add(1));
        backtrace::resolve(behind, |symbol| {
            if let Some(name) = symbol.name() {
                lines.push(Line {
                    // `{:#}`: without the hash of the crate at the end.
                    function: format!("{name:#}"),
                    file: symbol.filename().map_or_else(String::new, |file| file.display().to_string()),
                    line: symbol.lineno().unwrap_or(0),
                });
            }
        });
        lines
    }
}

impl Drop for Symbols {
    fn drop(&mut self) {
        backtrace::clear_symbol_cache();
    }
}

/// The function that an address is in.
pub fn name_of(address: usize) -> Option<String> {
    Symbols::default().at(address).pop().map(|line| line.function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn somewhere() -> usize {
        std::hint::black_box(7)
    }

    #[test]
    fn a_function_has_its_name_and_place() {
        let lines = Symbols::default().at(somewhere as *const () as usize + somewhere() - 7);
        let line = lines.last().unwrap();
        assert!(line.function.ends_with("symbols::tests::somewhere"), "{line:?}");
        assert!(line.file.ends_with("symbols.rs") && line.line > 0, "{line:?}");
        assert_eq!(name_of(8), None);
    }
}
