//! "Did you mean": the known key that is closest to an unknown one.

use super::keys;

/// The name that is at most two edits away (one for short names), the closest first, then by alphabet.
pub fn suggestion(name: &str) -> Option<&'static str> {
    let names = keys().iter().flat_map(|key| key.entry().names());
    let close = names.filter_map(|known| {
        let distance = distance(name, known);
        (distance <= if known.len() < 6 { 1 } else { 2 }).then_some((distance, known))
    });
    close.min().map(|(_, known)| known)
}

/// Edit distance (insert, delete, replace), by rows.
fn distance(a: &str, b: &str) -> usize {
    // A key is never that long, and the time grows with the product.
    const LONGEST: usize = 64;
    if a.len().abs_diff(b.len()) > 2 || a.len() > LONGEST {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_close_and_strangers_are_not() {
        assert_eq!(suggestion("ssl-redirct"), Some("ssl-redirect"));
        assert_eq!(suggestion("ssl_redirect"), Some("ssl-redirect"));
        assert_eq!(suggestion("server-slot"), Some("server-slots"));
        assert_eq!(suggestion("something-else"), None);
        assert_eq!(suggestion(&"x".repeat(10_000)), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
