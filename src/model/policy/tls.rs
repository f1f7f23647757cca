//! What a backend says about TLS to clients: whose certificates let them in, HSTS.

/// TLS policy of a backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct TlsPolicy {
    /// Certificates of clients; `None` when nobody asks for them.
    pub clients: Option<Clients>,
    /// Strict transport security.
    pub hsts: Option<Hsts>,
}

/// What is known about certificates of clients when a request reaches the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clients {
    /// The listener checks them against its own authority, over TLS.
    Listener {
        /// Whether there must be one.
        required: bool,
    },
    /// The listener was to check them against its own authority, which cannot be used: nobody gets in over TLS.
    ListenerClosed,
    /// The host has an authority of its own.
    Host {
        /// Whether there must be one.
        required: bool,
    },
    /// The host was to have an authority of its own, which cannot be used: nobody gets in.
    HostClosed,
}

/// `Strict-Transport-Security`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hsts {
    /// For how long, in seconds.
    pub max_age: u32,
    /// All domains below, too.
    pub subdomains: bool,
    /// Browsers may ship with it.
    pub preload: bool,
}
