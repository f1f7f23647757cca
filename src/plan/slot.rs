//! The text of a server slot (before 2.6).

use std::net::{IpAddr, SocketAddr};

/// What a slot holds, read from the text behind its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    socket: SocketAddr,
    weight: u16,
    disabled: bool,
    keywords: String,
}

impl Slot {
    /// The text of a free slot.
    pub const FREE: &'static str = "127.0.0.1:1 disabled";

    /// Reads `<address>:<port> [<keywords>] [weight <n>] [disabled]`. What has an id is no slot.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut slot =
            Self { socket: words.next()?.parse().ok()?, weight: 1, disabled: false, keywords: String::new() };
        while let Some(word) = words.next() {
            match word {
                "weight" => slot.weight = words.next()?.parse().ok()?,
                "disabled" => slot.disabled = true,
                "id" => return None,
                word => slot.keywords.extend([" ", word]),
            }
        }
        Some(slot)
    }

    /// A slot with these keywords whose server is at this address.
    #[must_use]
    pub fn at(&self, socket: SocketAddr, weight: u16) -> String {
        format!("{socket}{} weight {weight}", self.keywords)
    }

    /// The text of this slot when it is free.
    #[must_use]
    pub fn freed(&self) -> String {
        format!("{} disabled", self.at(SocketAddr::from(([127, 0, 0, 1], 1)), 1))
    }

    /// True when no server is in it.
    pub fn is_free(&self) -> bool {
        self.disabled
    }

    /// The address and port of its server as text, `None` when it is free.
    pub fn socket(&self) -> Option<String> {
        (!self.disabled).then(|| self.socket.to_string())
    }

    /// Address.
    pub fn address(&self) -> IpAddr {
        self.socket.ip()
    }

    /// Port.
    pub fn port(&self) -> u16 {
        self.socket.port()
    }

    /// What only a reload changes, with a space before each word.
    pub fn keywords(&self) -> &str {
        &self.keywords
    }

    /// Weight, 1 by default.
    pub fn weight(&self) -> u16 {
        self.weight
    }
}
