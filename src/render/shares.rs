//! Weights as shares.

use crate::model::{BackendName, Weighted};

/// A route has at most so many shares: each is a map entry.
const MOST: u64 = 1000;

/// How many shares of a route each backend has: weights without their common divisor, and brought down to at most 1,000.
/// Nobody with a weight gets nothing; backends without are not among them.
pub(super) fn shares(split: &[Weighted]) -> Vec<(&BackendName, u32)> {
    let mut weights: Vec<u64> = split.iter().map(|share| u64::from(share.weight)).collect();
    let total: u64 = weights.iter().sum();
    reduce(&mut weights);
    if weights.iter().sum::<u64>() > MOST {
        for (weight, share) in weights.iter_mut().zip(split) {
            let exact = u64::from(share.weight) * MOST;
            *weight = if share.weight == 0 { 0 } else { ((exact + total / 2) / total).max(1) };
        }
        // Rounding up may have made too many; the largest can spare them.
        while weights.iter().sum::<u64>() > MOST {
            let Some(largest) = weights.iter_mut().max() else { break };
            *largest -= 1;
        }
        reduce(&mut weights);
    }
    let counted = split.iter().zip(weights).filter(|(_, weight)| *weight > 0);
    counted.map(|(share, weight)| (&share.backend, u32::try_from(weight).unwrap_or(u32::MAX))).collect()
}

/// Divides by the greatest common divisor.
fn reduce(weights: &mut [u64]) {
    let divisor = weights.iter().copied().fold(0, gcd);
    if divisor > 1 {
        for weight in weights {
            *weight /= divisor;
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_become_few_shares() {
        for (weights, expected) in [
            (&[90, 10][..], &[9, 1][..]),
            (&[50, 50], &[1, 1]),
            (&[100, 0], &[1]),
            (&[0, 100], &[1]),
            (&[93, 7], &[93, 7]),
            (&[0, 0], &[]),
            (&[], &[]),
            (&[999_999, 1], &[999, 1]),
            (&[1, 1, 1_000_000], &[1, 1, 998]),
            (&[u32::MAX, u32::MAX, 2], &[500, 499, 1]),
        ] {
            let split: Vec<Weighted> = (weights.iter().enumerate())
                .map(|(i, weight)| Weighted { weight: *weight, backend: BackendName::parsed(&i.to_string()) })
                .collect();
            let mut found: Vec<u32> = shares(&split).into_iter().map(|(_, count)| count).collect();
            let mut expected = expected.to_vec();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{weights:?}");
        }
    }
}
