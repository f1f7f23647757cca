//! What happens when a server cannot be reached, or does not answer well.

/// Further tries of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Retries {
    /// How many; `None` is the default of all backends.
    pub count: Option<u16>,
    /// After what; empty is the default of all backends.
    pub on: Vec<RetryOn>,
    /// Whether the last try may go to another server; `None` is the default of all backends.
    pub redispatch: Option<bool>,
}

/// After what a request is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RetryOn {
    /// Never; alone.
    None,
    /// The connection failed.
    ConnectionFailure,
    /// The server closed without an answer.
    EmptyResponse,
    /// The answer is not HTTP.
    JunkResponse,
    /// No answer in time.
    ResponseTimeout,
    /// The server refused early data.
    EarlyDataRejected,
    /// All of these that can be retried.
    AllRetryable,
    /// The answer has this status: 401, 403, 404, 408, 425, 500, 501, 502, 503 or 504.
    Status(u16),
}

impl RetryOn {
    /// Words of HAProxy.
    pub const WORDS: [(&'static str, Self); 17] = [
        ("none", Self::None),
        ("conn-failure", Self::ConnectionFailure),
        ("empty-response", Self::EmptyResponse),
        ("junk-response", Self::JunkResponse),
        ("response-timeout", Self::ResponseTimeout),
        ("0rtt-rejected", Self::EarlyDataRejected),
        ("all-retryable-errors", Self::AllRetryable),
        ("401", Self::Status(401)),
        ("403", Self::Status(403)),
        ("404", Self::Status(404)),
        ("408", Self::Status(408)),
        ("425", Self::Status(425)),
        ("500", Self::Status(500)),
        ("501", Self::Status(501)),
        ("502", Self::Status(502)),
        ("503", Self::Status(503)),
        ("504", Self::Status(504)),
    ];

    /// The word of HAProxy.
    pub fn as_str(self) -> &'static str {
        Self::WORDS.iter().find(|(_, on)| *on == self).map_or("conn-failure", |(word, _)| word)
    }
}
