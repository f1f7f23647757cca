//! What routes need of the main text: the frontends and shared sections have it for all of them together.

use super::Test;

/// Something that at least one route needs; a new one is a reload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A table of request rates: period in milliseconds, number of entries.
    RateTable {
        /// Over how long requests are counted, in milliseconds.
        period: u32,
        /// Number of entries.
        size: u64,
    },
    /// Requests of some route are split over backends.
    Split,
    /// Some route looks at this.
    Test(Test),
    /// Some paths are regular expressions.
    RegexPaths,
    /// Some redirect to HTTPS names a port.
    RedirectPort,
}
