//! Rate limits: a table that all of them with the same period and size share, and a value each.

use super::lists::{List, list, missing};
use super::{Context, Notes};
use crate::model::Need;
use crate::model::policy::access::{Access, RateLimit};
use crate::options::access::{
    DEFAULT_PERIOD, DEFAULT_SIZE, DEFAULT_STATUS, RATE_LIMIT_PERIOD, RATE_LIMIT_REQUESTS, RATE_LIMIT_SIZE,
    RATE_LIMIT_STATUS_CODE, RATE_LIMIT_WHITELIST,
};

/// Reads `rate-limit-requests` and what belongs to it.
pub(super) fn read(context: &Context<'_>, access: &mut Access, notes: &mut Notes) {
    let Some(said) = context.said(&RATE_LIMIT_REQUESTS) else { return };
    let (kind, name) = (said.object.kind.as_str().to_ascii_lowercase(), &said.object.name);
    let key = format!("rate-limit|{kind}/{name}");
    // Each controller allows its share: a table that several shared would count what one of them saw last.
    let share = said.value.div_ceil(context.replicas.max(1));
    notes.values.insert(key.as_str().into(), share.to_string().into());
    let period = context.get(&RATE_LIMIT_PERIOD).unwrap_or(DEFAULT_PERIOD);
    let size = context.get(&RATE_LIMIT_SIZE).unwrap_or(DEFAULT_SIZE);
    notes.needs.insert(Need::RateTable { period, size });
    let exempt = match list(context, &RATE_LIMIT_WHITELIST, notes) {
        List::Unsaid => None,
        List::Known(name) => Some(name),
        List::Missing { origin, reason, .. } => {
            notes.problems.push(missing(origin, &reason, "`rate-limit-whitelist` exempts nobody"));
            None
        }
    };
    let status = context.get(&RATE_LIMIT_STATUS_CODE).unwrap_or(DEFAULT_STATUS);
    access.rate_limit = Some(RateLimit { key: key.into(), period, size, status, exempt });
}
