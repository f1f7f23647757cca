//! Listeners and global settings: the parts whose change needs a reload.

pub mod clients;
pub mod defaults;
pub mod error_pages;
pub mod logs;
pub mod process;
pub mod snippets;
pub mod stats;
pub mod tcp;
pub mod tls;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::{Asset, Need, Policy};

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
    /// The policy of paths without annotations: what the ConfigMap says. Spare backends have it, too.
    pub plain: Arc<Policy>,
    /// What routes need of the main text.
    pub needs: BTreeSet<Need>,
    /// HAProxy as a process.
    pub process: process::Process,
    /// What counts for every proxy.
    pub defaults: defaults::Defaults,
    /// Logs.
    pub logs: logs::Logs,
    /// Statistics.
    pub stats: stats::Stats,
    /// How clients reach us.
    pub clients: clients::Clients,
    /// The TLS listener.
    pub tls: tls::TlsListener,
    /// Raw configuration.
    pub snippets: snippets::Snippets,
    /// Error pages of users.
    pub error_pages: error_pages::ErrorPages,
    /// TCP services.
    pub tcp: tcp::TcpServices,
}

impl Global {
    /// Listeners, and everything else as when nothing is configured.
    pub fn new(listeners: Listeners, server_slots: u16) -> Self {
        Self {
            listeners,
            server_slots,
            plain: Arc::default(),
            needs: BTreeSet::new(),
            process: process::Process::default(),
            defaults: defaults::Defaults::default(),
            logs: logs::Logs::default(),
            stats: stats::Stats::default(),
            clients: clients::Clients::default(),
            tls: tls::TlsListener::default(),
            snippets: snippets::Snippets::default(),
            error_pages: error_pages::ErrorPages::default(),
            tcp: tcp::TcpServices::default(),
        }
    }

    /// Files that the main text refers to.
    pub fn assets(&self) -> Vec<Asset> {
        let mut assets: Vec<Asset> = self.error_pages.pages.values().cloned().collect();
        assets.extend(self.tcp.assets());
        self.tls.collect_assets(&mut assets);
        assets
    }
}
