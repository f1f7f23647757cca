//! What HAProxy says it runs, as texts: the difference to what should run is then a plan like any other.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::cluster::Map;
use crate::haproxy::{Running, ServerRunning};
use crate::model::Capabilities;
use crate::plan::{BackendText, CertificateText, Slot, Texts};

/// `expected` with everything that commands can change replaced by what was observed. Where both say the same, the text is
/// the expected one, so that nothing is planned for it.
pub(super) fn as_observed(expected: &Texts, observed: &Running, capabilities: Capabilities) -> Texts {
    let mut texts = expected.clone();
    let none = BTreeMap::new();
    for (name, text) in expected.backends.iter() {
        let servers = servers_as_observed(text, observed.servers.get(name).unwrap_or(&none), capabilities);
        if servers != text.servers {
            let text = BackendText { header: text.header.clone(), servers, assets: Vec::new() };
            texts.backends.insert_mut(name.clone(), Arc::new(text));
        }
    }
    for (id, entries) in &observed.maps {
        *texts.map_mut(*id) = entries_as_observed(expected.map(*id), entries);
    }
    for (file, patterns) in &observed.lists {
        if expected.lists.get(file).is_some_and(|list| **list != *patterns) {
            texts.lists.insert_mut(file.clone(), Arc::new(patterns.clone()));
        }
    }
    for (file, text) in &expected.certificates {
        match observed.list.get(file) {
            Some(filters) if *filters == text.filters => {}
            Some(filters) => {
                let text = CertificateText { filters: filters.clone(), ..text.as_ref().clone() };
                texts.certificates.insert_mut(file.clone(), Arc::new(text));
            }
            None => {
                texts.certificates.remove_mut(file);
            }
        }
    }
    for (file, filters) in &observed.list {
        if !expected.certificates.contains_key(file) && file.as_ref() != CertificateText::DEFAULT_FILE {
            let text = CertificateText {
                digest: [0; 32],
                pem: None,
                options: "".into(),
                filters: filters.clone(),
                assets: Vec::new(),
            };
            texts.certificates.insert_mut(file.clone(), Arc::new(text));
        }
    }
    texts
}

/// The servers of one backend as observed.
pub(super) fn servers_as_observed(
    expected: &BackendText,
    observed: &BTreeMap<Arc<str>, ServerRunning>,
    capabilities: Capabilities,
) -> BTreeMap<Arc<str>, Arc<str>> {
    observed
        .iter()
        .filter(|(name, _)| !expected.has_fixed(name))
        .map(|(name, server)| {
            let text = match expected.servers.get(name) {
                Some(text) if agrees(text, server) => text.clone(),
                Some(text) if !capabilities.dynamic_servers() => slot_text(text, server).into(),
                _ => "unknown".into(),
            };
            (name.clone(), text)
        })
        .collect()
}

/// Whether the text of a server says what was observed.
fn agrees(text: &str, server: &ServerRunning) -> bool {
    let mut words = text.split(' ');
    let socket = words.next().and_then(|word| word.parse::<SocketAddr>().ok());
    let (mut weight, mut disabled) = (1, false);
    while let Some(word) = words.next() {
        match word {
            "weight" => weight = words.next().and_then(|word| word.parse().ok()).unwrap_or(1),
            "disabled" => disabled = true,
            _ => {}
        }
    }
    if disabled && server.maintenance {
        return true;
    }
    socket.is_some_and(|socket| Some(socket.ip()) == server.address && socket.port() == server.port)
        && weight == server.weight
        && disabled == server.maintenance
}

/// The text of a slot as observed; what cannot be observed is as expected.
fn slot_text(expected: &str, server: &ServerRunning) -> String {
    let Some(slot) = Slot::parse(expected) else { return Slot::FREE.to_owned() };
    match server.address {
        Some(address) if !server.maintenance => slot.at(SocketAddr::new(address, server.port), server.weight),
        _ => slot.freed(),
    }
}

/// Reuses the expected map where it is right, so that an undisturbed map costs no copy.
fn entries_as_observed(
    expected: &Map<Arc<str>, Arc<str>>,
    observed: &BTreeMap<Arc<str>, Arc<str>>,
) -> Map<Arc<str>, Arc<str>> {
    if expected.iter().eq(observed.iter()) {
        return expected.clone();
    }
    observed.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::Version;

    fn server(address: &str, weight: u16, maintenance: bool) -> ServerRunning {
        let socket: SocketAddr = address.parse().unwrap();
        ServerRunning { address: Some(socket.ip()), port: socket.port(), weight, maintenance }
    }

    #[test]
    fn lists_are_as_they_were_seen() {
        let list = |patterns: &[&str]| patterns.iter().map(|p| Arc::from(*p)).collect::<BTreeSet<Arc<str>>>();
        let mut expected = Texts::default();
        for (file, patterns) in
            [("a.lst", list(&["1", "2"])), ("b.lst", list(&["1"])), ("unused", list(&["x"]))]
        {
            expected.lists.insert_mut(file.into(), Arc::new(patterns));
        }
        let mut observed = Running::default();
        observed.lists.insert("a.lst".into(), list(&["2", "3"]));
        observed.lists.insert("b.lst".into(), list(&["1"]));
        observed.lists.insert("gone.lst".into(), list(&["1"]));
        let texts = as_observed(&expected, &observed, Capabilities::of(Version::NEWEST).unwrap());
        assert_eq!(*texts.lists["a.lst"], list(&["2", "3"]));
        assert_eq!(*texts.lists["unused"], list(&["x"]), "what nothing refers to is not loaded");
        assert_eq!(texts.lists.size(), 3);
    }

    #[test]
    fn a_server_agrees_with_its_text_or_does_not() {
        assert!(agrees("10.0.0.1:80 id 7", &server("10.0.0.1:80", 1, false)));
        assert!(agrees("[fd00::1]:80 id 7 weight 0", &server("[fd00::1]:80", 0, false)));
        assert!(agrees(Slot::FREE, &server("10.9.9.9:80", 1, true)), "a free slot keeps its last address");
        assert!(!agrees("10.0.0.1:80 id 7", &server("10.0.0.2:80", 1, false)));
        assert!(!agrees("10.0.0.1:80 id 7", &server("10.0.0.1:81", 1, false)));
        assert!(!agrees("10.0.0.1:80 id 7", &server("10.0.0.1:80", 0, false)));
        assert!(!agrees("10.0.0.1:80 id 7", &server("10.0.0.1:80", 1, true)));
        assert!(!agrees(Slot::FREE, &server("127.0.0.1:1", 1, false)));
    }
}
