//! The texts of all units, as they stand in the files that HAProxy reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{Backends, Unit};
use crate::cluster::Map;
use crate::model::{Asset, List};

/// One of the routing maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MapId {
    /// Value that rules look up → value (thresholds, …).
    Values,
    /// Share of a split route (`<route>|<share>`) → backend.
    Split,
    /// Condition of a route (`<route>|<what>|<value>`) → backend.
    Match,
    /// Server name of TLS that is passed through → backend.
    Sni,
    /// Regular expression for table, host and path → route value; the longest expression comes first.
    Regex,
    /// Table, host and whole path → route value.
    Exact,
    /// Table, host and path prefix with a trailing slash → route value; the longest prefix wins.
    Prefix,
}

impl MapId {
    /// All maps, in the order in which they are written: what others lead to comes first.
    pub const ALL: [Self; 7] =
        [Self::Values, Self::Split, Self::Match, Self::Sni, Self::Regex, Self::Exact, Self::Prefix];

    /// File name in the maps folder.
    pub fn file(self) -> &'static str {
        match self {
            Self::Values => "values.map",
            Self::Split => "split.map",
            Self::Match => "match.map",
            Self::Sni => "sni.map",
            Self::Regex => "regex.map",
            Self::Exact => "exact.map",
            Self::Prefix => "prefix.map",
        }
    }
}

impl MapId {
    /// The backends that a value of this map leads to: a route value is `<backend>|<backend on clear text>|…`, of which only
    /// the first two are backends.
    pub(super) fn backends_in(self, value: &str) -> impl Iterator<Item = &str> {
        value.split('|').take(self.backends_in_value()).filter(|backend| !backend.is_empty())
    }

    /// How many backends a value of this map can lead to; they come first in it.
    pub fn backends_in_value(self) -> usize {
        match self {
            Self::Values => 0,
            Self::Split | Self::Match | Self::Sni => 1,
            Self::Regex | Self::Exact | Self::Prefix => 2,
        }
    }

    /// What the frontends must hold for a value of this map to mean what it says: more fields than two need lines of their own
    /// there, and without them the last field would be taken for a backend.
    pub(super) fn demands(self, value: &str) -> Vec<&'static str> {
        let mut fields = value.split('|').skip(2);
        if !matches!(self, Self::Regex | Self::Exact | Self::Prefix) {
            return Vec::new();
        }
        let port = fields.next().unwrap_or_default();
        let flags = fields.next().unwrap_or_default();
        let maps = [('s', Self::Split), ('m', Self::Match), ('r', Self::Regex)];
        let maps = maps.into_iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, map)| map.file());
        (!port.is_empty()).then_some("set-var(txn.route_port)").into_iter().chain(maps).collect()
    }

    /// The entries in the order in which HAProxy must try them.
    pub(super) fn in_order(self, entries: &Map<Arc<str>, Arc<str>>) -> Vec<(&Arc<str>, &Arc<str>)> {
        let mut entries: Vec<_> = entries.iter().collect();
        if self == Self::Regex {
            entries.sort_by_key(|(key, _)| (std::cmp::Reverse(key.len()), *key));
        }
        entries
    }
}

/// A backend section: everything but its servers (a change needs a reload), and the servers (live). Two are equal when their
/// texts are: assets are named by their content.
#[derive(Debug, Clone)]
pub struct BackendText {
    /// From the `backend NAME` line on, every line ends with a newline; no `server` lines.
    pub header: Arc<str>,
    /// Server name → the rest of its line behind the name: address and keywords.
    pub servers: BTreeMap<Arc<str>, Arc<str>>,
    /// Files that the text refers to; empty when the text was read back, they are on the volumes then.
    pub assets: Vec<Asset>,
}

impl BackendText {
    /// Whether the header itself has this server, made of a template of one: it is no unit, and commands leave it alone.
    pub fn has_fixed(&self, server: &str) -> bool {
        let Some(template) = server.strip_suffix('1') else { return false };
        let mut templates = self.header.lines().filter_map(|line| line.strip_prefix("  server-template "));
        templates.any(|line| line.split(' ').next() == Some(template))
    }
}

impl PartialEq for BackendText {
    fn eq(&self, other: &Self) -> bool {
        self.header == other.header && self.servers == other.servers
    }
}

impl Eq for BackendText {}

/// A certificate file and its line in the list of the HTTPS listener. Two are equal when their digests, options and filters
/// are.
#[derive(Clone)]
pub struct CertificateText {
    /// SHA-256 of the PEM.
    pub digest: [u8; 32],
    /// The PEM; `None` when only the digest is known (read back from the volume).
    pub pem: Option<Bytes>,
    /// What stands in brackets behind the file name: what clients are checked against; empty for nothing. A line with options
    /// changes by a reload only.
    pub options: Arc<str>,
    /// Server names behind the file name, space-separated, sorted.
    pub filters: Arc<str>,
    /// Files that the options refer to; empty when the text was read back, they are on the volumes then.
    pub assets: Vec<Asset>,
}

impl CertificateText {
    /// File name of the default certificate.
    pub const DEFAULT_FILE: &'static str = "default.pem";
    /// Filter of the default certificate: a name that no client asks for. As the first line of the list it is still the
    /// certificate of clients without a known server name (2.2 to 3.4).
    pub const DEFAULT_FILTER: &'static str = "outrigger-default.invalid";
}

impl PartialEq for CertificateText {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.options == other.options && self.filters == other.filters
    }
}

impl Eq for CertificateText {}

impl std::fmt::Debug for CertificateText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CertificateText")
            .field("options", &self.options)
            .field("filters", &self.filters)
            .finish_non_exhaustive()
    }
}

/// All units. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    /// `haproxy.cfg` without the generation mark: global, defaults, frontends, fixed backends.
    pub main: Arc<str>,
    /// Backends of Services.
    pub backends: Backends,
    /// Files that the main text refers to; empty when the text was read back.
    pub main_assets: Vec<Asset>,
    /// The maps, in the order of [`MapId::ALL`].
    pub maps: [Map<Arc<str>, Arc<str>>; MapId::ALL.len()],
    /// File name in the patterns folder → patterns.
    pub lists: Map<Arc<str>, List>,
    /// File name in the certificate folder → certificate. Without the default certificate.
    pub certificates: Map<Arc<str>, Arc<CertificateText>>,
    /// The certificate for clients whose server name matches no other.
    pub default_certificate: Option<Arc<CertificateText>>,
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.main == other.main
            && self.backends == other.backends
            && self.maps == other.maps
            && self.lists == other.lists
            && self.certificates == other.certificates
            && self.default_certificate == other.default_certificate
    }
}

impl Eq for Texts {}

impl Texts {
    /// The files that texts refer to, each at least once.
    pub fn assets(&self) -> impl Iterator<Item = &Asset> {
        let certificates = self.certificates.values().flat_map(|text| &text.assets);
        self.main_assets
            .iter()
            .chain(self.backends.iter().flat_map(|(_, text)| &text.assets))
            .chain(certificates)
    }

    /// Whether the main text or a backend has this in it.
    pub fn mentions(&self, word: &str) -> bool {
        let servers = |text: &BackendText| text.servers.values().any(|server| server.contains(word));
        self.main.contains(word)
            || self.backends.iter().any(|(_, text)| text.header.contains(word) || servers(text))
    }

    /// The entries of a map.
    pub fn map(&self, id: MapId) -> &Map<Arc<str>, Arc<str>> {
        &self.maps[id as usize]
    }

    /// The entries of a map.
    pub fn map_mut(&mut self, id: MapId) -> &mut Map<Arc<str>, Arc<str>> {
        &mut self.maps[id as usize]
    }

    /// Takes a unit over from `wanted`: it runs now.
    pub fn adopt(&mut self, wanted: &Self, unit: &Unit) {
        match unit {
            Unit::Main => {
                self.main = wanted.main.clone();
                self.main_assets.clone_from(&wanted.main_assets);
            }
            Unit::Backend(name) => match wanted.backends.get(name) {
                Some(text) => self.backends.insert_mut(name.clone(), text.clone()),
                None => _ = self.backends.remove_mut(name),
            },
            Unit::Entry(id, key) => match wanted.map(*id).get(key) {
                Some(value) => self.map_mut(*id).insert_mut(key.clone(), value.clone()),
                None => _ = self.map_mut(*id).remove_mut(key),
            },
            Unit::Entries(id, keys) => {
                for key in keys {
                    self.adopt(wanted, &Unit::Entry(*id, key.clone()));
                }
            }
            Unit::List(file) => match wanted.lists.get(file) {
                Some(list) => self.lists.insert_mut(file.clone(), list.clone()),
                None => _ = self.lists.remove_mut(file),
            },
            Unit::Certificate(file) => match wanted.certificates.get(file) {
                Some(text) => self.certificates.insert_mut(file.clone(), text.clone()),
                None => _ = self.certificates.remove_mut(file),
            },
            Unit::DefaultCertificate => self.default_certificate.clone_from(&wanted.default_certificate),
        }
    }

    /// The files that hold a unit, in the order in which they are written when it is added or changed.
    pub fn files_of(unit: &Unit) -> Vec<super::FileId> {
        unit.files()
    }
}
