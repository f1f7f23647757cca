//! A simulated HAProxy: what runtime commands do to texts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::cluster::Map;
use crate::model::BackendName;
use crate::plan::*;

/// What the worker holds. Refuses what HAProxy would refuse.
pub(super) struct Simulated {
    main: Arc<str>,
    backends: BTreeMap<BackendName, BackendText>,
    maintenance: BTreeSet<(BackendName, Arc<str>)>,
    maps: [BTreeMap<Arc<str>, Arc<str>>; MapId::ALL.len()],
    lists: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    store: BTreeMap<Arc<str>, [u8; 32]>,
    list: Vec<(Arc<str>, Arc<str>)>,
}

impl Simulated {
    /// A worker that has just loaded these texts.
    pub(super) fn load(texts: &Texts) -> Self {
        let pairs = |map: &Map<Arc<str>, Arc<str>>| map.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        let tls = texts.main.contains(" crt-list ");
        let mut haproxy = Self {
            main: texts.main.clone(),
            backends: texts
                .backends
                .iter()
                .map(|(name, text)| {
                    let servers = text.servers.clone();
                    (
                        name.clone(),
                        BackendText { header: text.own_header().into(), servers, assets: Vec::new() },
                    )
                })
                .collect(),
            maintenance: BTreeSet::new(),
            maps: MapId::ALL.map(|id| {
                if texts.main.contains(id.file()) { pairs(texts.map(id)) } else { BTreeMap::new() }
            }),
            lists: texts.lists.iter().map(|(name, list)| (name.clone(), list.as_ref().clone())).collect(),
            store: BTreeMap::new(),
            list: Vec::new(),
        };
        if tls {
            let default =
                texts.default_certificate.iter().map(|text| (Arc::from("default.pem"), text.clone()));
            for (file, text) in default.chain(texts.certificates.iter().map(|(f, t)| (f.clone(), t.clone())))
            {
                haproxy.store.insert(file.clone(), text.digest);
                haproxy.list.push((file, text.filters.clone()));
            }
        }
        haproxy
    }

    pub(super) fn apply(&mut self, command: &Command) {
        match command.clone() {
            Command::AddServer { backend, server, line } => {
                let old = self.servers(&backend).insert(server.clone(), line);
                assert!(old.is_none(), "already exists: {command:?}");
                self.maintenance.insert((backend, server));
            }
            Command::RemoveServer { backend, server, .. } => {
                assert!(self.servers(&backend).remove(&server).is_some(), "unknown server: {command:?}");
                self.maintenance.remove(&(backend, server));
            }
            Command::SetMode { backend, server, mode } => {
                let slot = Slot::parse(self.server(&backend, &server)).is_some();
                let text = self.server(&backend, &server);
                if slot {
                    let enabled = text.trim_end_matches(" disabled").to_owned();
                    *text = match mode {
                        ServerMode::Ready => enabled.into(),
                        ServerMode::Maintenance => format!("{enabled} disabled").into(),
                    };
                } else if mode == ServerMode::Ready {
                    assert!(self.maintenance.remove(&(backend, server)), "was ready: {command:?}");
                } else {
                    self.maintenance.insert((backend, server));
                }
            }
            Command::SetWeight { backend, server, weight } => {
                let text = self.server(&backend, &server);
                let words: Vec<&str> = text.split(' ').collect();
                let at = words.iter().position(|word| *word == "weight").unwrap_or(words.len());
                let mut words: Vec<String> = words.iter().map(ToString::to_string).collect();
                words.drain(at..(at + 2).min(words.len()));
                if weight != 1 {
                    // In front of `disabled`, behind everything else.
                    let at = words.iter().position(|word| word == "disabled").unwrap_or(words.len());
                    words.insert(at, format!("weight {weight}"));
                }
                *text = words.join(" ").into();
            }
            Command::SetMaximum { backend, server, maximum } => {
                let text = self.server(&backend, &server);
                let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
                if let Some(at) = words.iter().position(|word| word == "maxconn") {
                    words.drain(at..at + 2);
                }
                if maximum != 0 {
                    let at = words.iter().position(|word| word == "weight" || word == "disabled");
                    words.insert(at.unwrap_or(words.len()), format!("maxconn {maximum}"));
                }
                *text = words.join(" ").into();
            }
            Command::MakeCookies { backend } => {
                assert!(self.backends[&backend].header.contains("dynamic-cookie-key"), "{command:?}");
            }
            Command::SetAddress { backend, server, address, port } => {
                let socket = std::net::SocketAddr::new(address, port);
                let text = self.server(&backend, &server);
                let rest = text.split_once(' ').map_or(String::new(), |(_, rest)| format!(" {rest}"));
                *text = format!("{socket}{rest}").into();
            }
            Command::AddMapEntry { map, key, value } => {
                self.check_value(map, &value);
                assert!(self.map(map).insert(key, value).is_none(), "exists: {command:?}");
            }
            Command::SetMapEntry { map, key, value } => {
                self.check_value(map, &value);
                assert!(self.map(map).insert(key, value).is_some(), "unknown: {command:?}");
            }
            Command::DeleteMapEntry { map, key } => {
                assert!(self.map(map).remove(&key).is_some(), "unknown: {command:?}");
            }
            Command::ReplaceMap { map, entries } => {
                for (_, value) in &entries {
                    self.check_value(map, value);
                }
                *self.map(map) = entries.into_iter().collect();
            }
            Command::AddPattern { list, pattern } => {
                assert!(self.list(&list).insert(pattern), "exists: {command:?}");
            }
            Command::DeletePattern { list, pattern } => {
                assert!(self.list(&list).remove(&pattern), "unknown: {command:?}");
            }
            Command::AddCertificate { file, pem } => {
                assert!(self.store.insert(file, digest(&pem)).is_none(), "exists: {command:?}");
            }
            Command::SetCertificate { file, pem } => {
                assert!(self.store.insert(file, digest(&pem)).is_some(), "unknown: {command:?}");
            }
            Command::DeleteCertificate { file } => {
                assert!(!self.list.iter().any(|(f, _)| *f == file), "in use: {command:?}");
                assert!(self.store.remove(&file).is_some(), "unknown: {command:?}");
            }
            Command::AddToList { file, filters } => {
                assert!(self.store.contains_key(&file), "unknown certificate: {command:?}");
                self.list.push((file, filters));
            }
            Command::RemoveFromList { file } => {
                let oldest =
                    self.list.iter().position(|(f, _)| *f == file).expect("a line of this certificate");
                assert!(oldest > 0, "the default certificate cannot go: {command:?}");
                self.list.remove(oldest);
            }
        }
    }

    /// Holds exactly what it would hold, had it loaded these texts.
    pub(super) fn assert_runs(&self, texts: &Texts) {
        let loaded = Self::load(texts);
        assert_eq!(self.main, loaded.main);
        assert_eq!(self.backends, loaded.backends);
        assert_eq!(self.maintenance, loaded.maintenance);
        assert_eq!(self.maps, loaded.maps);
        assert_eq!(self.store, loaded.store);
        let sorted = |list: &[(Arc<str>, Arc<str>)]| list.iter().cloned().collect::<BTreeSet<_>>();
        assert_eq!(sorted(&self.list), sorted(&loaded.list));
        assert_eq!(self.list.len(), loaded.list.len());
        assert_eq!(self.list.first(), loaded.list.first());
    }

    fn servers(&mut self, backend: &BackendName) -> &mut BTreeMap<Arc<str>, Arc<str>> {
        &mut self.backends.get_mut(backend).expect("a backend that runs").servers
    }

    fn server(&mut self, backend: &BackendName, server: &Arc<str>) -> &mut Arc<str> {
        self.servers(backend).get_mut(server).expect("a server that runs")
    }

    fn map(&mut self, id: MapId) -> &mut BTreeMap<Arc<str>, Arc<str>> {
        assert!(self.main.contains(id.file()), "no such map");
        &mut self.maps[id as usize]
    }

    fn list(&mut self, file: &str) -> &mut BTreeSet<Arc<str>> {
        self.lists.get_mut(file).expect("a list that is loaded")
    }

    fn check_value(&self, map: MapId, value: &str) {
        for name in map.backends_in(value).filter(|name| *name != "-") {
            let fixed = self.main.contains(&format!("backend {name} "));
            let fixed = fixed || self.main.contains(&format!("backend {name}\n"));
            assert!(fixed || self.backends.contains_key(&BackendName::parsed(name)), "no backend {name}");
        }
    }
}

fn digest(pem: &Bytes) -> [u8; 32] {
    Sha256::digest(pem).into()
}
