//! How clients reach us: trusted proxies, PROXY protocol, request ids.

use std::sync::Arc;

use ipnet::IpNet;

use super::Context;
use crate::cluster::{Kind, ObjectRef};
use crate::model::{Global, ListName};
use crate::options::Key;
use crate::options::rewriting::{PROXY_PROTOCOL, REQUEST_ID, TRUSTED_PROXIES};
use crate::translate::notes::Notes;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, global: &mut Global, notes: &mut Notes) {
    global.clients.trusted_proxies = list(context, &TRUSTED_PROXIES, notes);
    global.clients.proxy_protocol = list(context, &PROXY_PROTOCOL, notes);
    global.clients.request_id = context.get(&REQUEST_ID) == Some(true);
}

/// The list that the ConfigMap writes under a key.
fn list(context: &Context<'_>, key: &Key<Vec<IpNet>>, notes: &mut Notes) -> Option<ListName> {
    let networks = context.get(key)?;
    let object = ObjectRef { kind: Kind::ConfigMap, name: context.inputs.settings.config_map.clone()? };
    let name = ListName::of(&object, key.entry.name);
    let patterns = networks.iter().map(|network| Arc::from(network.to_string())).collect();
    notes.lists.insert(name.clone(), Arc::new(patterns));
    Some(name)
}
