//! Statistics page and exporter.

/// Statistics settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {}
