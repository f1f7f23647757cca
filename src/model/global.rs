//! Listeners and global settings: the parts whose change needs a reload.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Where HAProxy listens. All ports are TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listeners {
    /// IPv4 address, `None` when the family is off or absent.
    pub ipv4: Option<Ipv4Addr>,
    /// IPv6 address, `None` when the family is off or absent.
    pub ipv6: Option<Ipv6Addr>,
    /// HTTP port, `None` when off.
    pub http: Option<u16>,
    /// HTTPS port, `None` when off.
    pub https: Option<u16>,
    /// Statistics page and exporter.
    pub stats: u16,
    /// HAProxy's own health endpoint.
    pub healthz: u16,
}

/// Global settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Global {
    /// Listeners.
    pub listeners: Listeners,
    /// Servers of a backend come in multiples of this number (HAProxy before 2.6 only, key `servers-increment`).
    pub server_slots: u16,
}
