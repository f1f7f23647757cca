//! The part of a canary: which requests of a route go to it.

use std::sync::Arc;

use super::facts::Claim;
use super::notes::Notes;
use crate::cluster::{Kind, Origin};
use crate::model::{BackendName, Candidate, Condition, Need, Weighted};
use crate::options::routing::{
    CANARY_BY_COOKIE, CANARY_BY_HEADER, CANARY_BY_HEADER_VALUE, CANARY_WEIGHT, CANARY_WEIGHT_TOTAL,
    DEFAULT_CANARY_WEIGHT_TOTAL,
};
use crate::problem::{Code, Problem, Severity};

/// Which requests go to a canary: header, then cookie, then weight decides.
pub(super) struct Part {
    header: Option<(Arc<str>, Option<Arc<str>>)>,
    cookie: Option<Arc<str>>,
    weight: u32,
    total: u32,
}

/// What the keys of a canary say. A weight above the total is the total, and a mistake.
pub(super) fn part(canary: &Claim, notes: &mut Notes) -> Part {
    let layer = &canary.layer;
    let total = layer.get(&CANARY_WEIGHT_TOTAL).unwrap_or(DEFAULT_CANARY_WEIGHT_TOTAL);
    let weight = layer.get(&CANARY_WEIGHT).unwrap_or(0);
    let ingress = Origin::object(Kind::Ingress, canary.rank.ingress.clone());
    if let Some(written) = layer.written_as(&CANARY_WEIGHT).filter(|_| weight > total) {
        notes.problems.push(Problem {
            origin: ingress.at(written.clone()),
            code: Code::ValueInvalid,
            severity: Severity::Error,
            message: format!(
                "`{weight}` is more than `canary-weight-total`, `{total}`; all requests go to the canary"
            ),
            hint: format!("write a number from 0 to {total}, or a larger `canary-weight-total`"),
        });
    }
    let header = layer.get(&CANARY_BY_HEADER);
    if let (None, Some(written)) = (&header, layer.written_as(&CANARY_BY_HEADER_VALUE)) {
        notes.problems.push(Problem {
            origin: ingress.at(written.clone()),
            code: Code::KeyMisplaced,
            severity: Severity::Warning,
            message: format!("`{written}` has no effect without `canary-by-header`"),
            hint: "name the header in `canary-by-header`".to_owned(),
        });
    }
    let part = Part {
        header: header.map(|header| (header, layer.get(&CANARY_BY_HEADER_VALUE))),
        cookie: layer.get(&CANARY_BY_COOKIE),
        weight: weight.min(total),
        total,
    };
    // Whatever the weight is: so it changes while HAProxy runs.
    notes.needs.insert(Need::Split);
    notes.needs.extend(part.conditions().filter_map(|(condition, _)| condition.test()).map(Need::Test));
    part
}

impl Part {
    /// What leads to the canary (`true`) or past it.
    fn conditions(&self) -> impl Iterator<Item = (Condition, bool)> {
        const WORDS: [(&str, bool); 2] = [("always", true), ("never", false)];
        let header = self.header.iter().flat_map(|(name, value)| {
            let words = match value {
                Some(value) => vec![(value.clone(), true)],
                None => WORDS.map(|(word, canary)| (word.into(), canary)).to_vec(),
            };
            words.into_iter().map(|(word, canary)| (Condition::Header(name.clone(), word), canary))
        });
        let cookie = self.cookie.iter().flat_map(|name| {
            WORDS.map(|(word, canary)| (Condition::Cookie(name.clone(), word.into()), canary))
        });
        header.chain(cookie)
    }

    /// The candidates that it adds to those of the main Ingress.
    pub(super) fn candidates(
        &self,
        claim: &Claim,
        main: &Candidate,
        canary: &BackendName,
    ) -> impl Iterator<Item = Candidate> {
        self.conditions().map(|(condition, to_canary)| Candidate {
            conditions: vec![condition],
            filters: main.filters.clone(),
            split: if to_canary {
                vec![Weighted { weight: 1, backend: canary.clone() }]
            } else {
                main.split.clone()
            },
            origin: claim.origin.clone(),
        })
    }

    /// Takes its weight of what is left to the main Ingress.
    pub(super) fn split(&self, main: &mut Candidate, canary: BackendName) {
        for share in &mut main.split {
            share.weight = self.total - self.weight;
        }
        main.split.push(Weighted { weight: self.weight, backend: canary });
    }
}
