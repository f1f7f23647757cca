//! Global settings: flags, the ConfigMap, and what routes need of the main text. Family by family, as in `model::global`.

mod clients;
mod defaults;
mod error_pages;
mod listeners;
mod logs;
mod patterns;
mod process;
mod snippets;
mod stats;
mod tcp;
mod tls;

pub(super) use patterns::lines as pattern_lines;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::backends::Target;
use super::notes::Notes;
use super::routes::Inputs;
use crate::cluster::{Kind, ObjectName, Origin};
use crate::model::{Global, Policy};
use crate::options::{DEFAULT_SERVERS_INCREMENT, Key, SERVERS_INCREMENT};

/// Everything that global settings depend on.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// Snapshot, settings, the ConfigMap.
    pub(super) inputs: Inputs<'a>,
}

/// What was read.
pub(super) struct Read {
    /// Global settings but for what routes need.
    pub(super) global: Global,
    /// Backends that they need.
    pub(super) targets: Vec<Target>,
    /// Services that they depend on, whether they exist or not.
    pub(super) services: BTreeSet<ObjectName>,
}

impl Context<'_> {
    /// The value of a key, `None` for the default.
    pub(super) fn get<T>(&self, key: &Key<T>) -> Option<T> {
        self.inputs.config.get(key)
    }

    /// Where a key is written.
    pub(super) fn origin<T>(&self, key: &Key<T>) -> Option<Origin> {
        let name = self.inputs.settings.config_map.clone()?;
        Some(Origin::object(Kind::ConfigMap, name).at(self.inputs.config.written_as(key)?.clone()))
    }
}

pub(super) use stats::size_notes;

/// Global settings but for what routes need.
pub(super) fn global_of(context: &Context<'_>, plain: &Arc<Policy>, notes: &mut Notes) -> Read {
    let slots = context.get(&SERVERS_INCREMENT).unwrap_or(DEFAULT_SERVERS_INCREMENT);
    let mut read = Read {
        global: Global::new(context.inputs.settings.listeners.clone(), slots),
        targets: Vec::new(),
        services: BTreeSet::new(),
    };
    let global = &mut read.global;
    global.plain = plain.clone();
    listeners::read(context, global, notes);
    process::read(context, global, notes);
    defaults::read(context, global, notes);
    logs::read(context, global, notes);
    stats::read(context, global, notes);
    clients::read(context, global, notes);
    tls::read(context, global, notes);
    snippets::read(context, global, notes);
    error_pages::read(context, global, notes);
    tcp::read(context, &mut read, notes);
    patterns::read(context, notes);
    read
}
