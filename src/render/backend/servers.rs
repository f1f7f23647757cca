//! How requests are spread over servers, and what counts for all of them.

use crate::model::{Balance, Policy};
use crate::render::Paths;
use crate::render::text::Text;

/// Writes the lines of this family.
pub(super) fn write(text: &mut Text, policy: &Policy, _paths: &Paths<'_>) {
    // Dynamic servers need one of the dynamic algorithms; a hash would need `hash-type consistent`.
    text.line(format_args!(
        "balance {}",
        match policy.balance {
            Balance::RoundRobin => "roundrobin",
            Balance::LeastConn => "leastconn",
        }
    ));
}
