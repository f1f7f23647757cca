//! Parsers that several keys share.

/// `true`, `on`, `yes`, `enabled`, `1` and their opposites, in any case.
pub(super) fn boolean(text: &str) -> Option<bool> {
    let is = |words: [&str; 5]| words.iter().any(|w| w.eq_ignore_ascii_case(text));
    if is(["true", "on", "yes", "enabled", "1"]) {
        Some(true)
    } else if is(["false", "off", "no", "disabled", "0"]) {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::boolean;

    #[test]
    fn booleans_in_all_spellings() {
        for text in ["true", "on", "yes", "enabled", "1", "TRUE", "On"] {
            assert_eq!(boolean(text), Some(true), "{text}");
        }
        for text in ["false", "off", "no", "disabled", "0", "False", "OFF"] {
            assert_eq!(boolean(text), Some(false), "{text}");
        }
        for text in ["", "y", "2", "truee", "01"] {
            assert_eq!(boolean(text), None, "{text}");
        }
    }
}
