//! One copy of each repeated string: namespaces, port names, the name of a Service in its Ingress and its slices.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Longer texts (annotation values with snippets) are rarely equal, and are not looked up.
const LONGEST: usize = 64;

static POOL: LazyLock<Mutex<Pool>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Pool {
    texts: HashSet<Arc<str>>,
    /// Size at which texts that nobody uses any more are thrown out.
    full: usize,
}

/// The text, shared with everyone who has the same.
pub(super) fn shared(text: &str) -> Arc<str> {
    if text.len() > LONGEST {
        return Arc::from(text);
    }
    POOL.lock().unwrap_or_else(PoisonError::into_inner).get(text)
}

impl Pool {
    fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        if self.texts.len() >= self.full.max(1024) {
            self.texts.retain(|text| Arc::strong_count(text) > 1);
            self.full = self.texts.len() * 2;
        }
        let text: Arc<str> = Arc::from(text);
        self.texts.insert(text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_memory() {
        assert!(Arc::ptr_eq(&shared("equal_texts_share_memory"), &shared("equal_texts_share_memory")));
    }

    #[test]
    fn unused_texts_are_thrown_out() {
        let mut pool = Pool::default();
        let kept: Vec<_> = (0..10).map(|n| pool.get(&format!("kept-{n}"))).collect();
        for n in 0..10_000 {
            pool.get(&format!("gone-{n}"));
        }
        assert!(pool.texts.len() <= 1024, "{}", pool.texts.len());
        assert!(kept.iter().all(|text| pool.texts.contains(text)));
    }
}
