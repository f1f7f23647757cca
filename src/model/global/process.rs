//! HAProxy as a process: connections, threads.

/// Process settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Process {}
