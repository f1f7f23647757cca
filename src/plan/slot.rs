//! The text of a server slot (before 2.6).

use std::net::{IpAddr, SocketAddr};

/// What a slot holds, read from the text behind its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    socket: SocketAddr,
    weight: u16,
    disabled: bool,
}

impl Slot {
    /// The text of a free slot.
    pub const FREE: &'static str = "127.0.0.1:1 disabled";

    /// Reads `<address>:<port> [weight <n>] [disabled]`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut slot = Self { socket: words.next()?.parse().ok()?, weight: 1, disabled: false };
        while let Some(word) = words.next() {
            match word {
                "weight" => slot.weight = words.next()?.parse().ok()?,
                "disabled" => slot.disabled = true,
                _ => return None,
            }
        }
        Some(slot)
    }

    /// True when no server is in it.
    pub fn is_free(self) -> bool {
        self.disabled
    }

    /// The address and port of its server as text, `None` when it is free.
    pub fn socket(self) -> Option<String> {
        (!self.disabled).then(|| self.socket.to_string())
    }

    /// Address.
    pub fn address(self) -> IpAddr {
        self.socket.ip()
    }

    /// Port.
    pub fn port(self) -> u16 {
        self.socket.port()
    }

    /// Weight, 1 by default.
    pub fn weight(self) -> u16 {
        self.weight
    }
}
