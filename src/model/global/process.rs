//! HAProxy as a process: connections, threads.

/// Process settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Connections of the process; HAProxy takes what it can when nothing is said.
    pub maxconn: Option<u32>,
    /// Threads; one for each processor when nothing is said.
    pub nbthread: Option<u16>,
    /// How long an old worker may live, in milliseconds.
    pub hard_stop_after: u32,
}

impl Default for Process {
    fn default() -> Self {
        Self { maxconn: None, nbthread: None, hard_stop_after: 1_800_000 }
    }
}
