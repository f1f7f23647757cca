//! What routes need of the main text: the frontends and shared sections have it for all of them together.

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
    /// Name servers, for Services of type ExternalName.
    Resolvers,
}
