//! The commands that bring the servers of a running backend to their wanted texts.

use std::sync::Arc;

use super::{BackendText, Command, ServerMode, Slot};
use crate::model::{BackendName, Capabilities};

/// Dynamic servers (2.6+): first what is added, so that the backend is never without servers in between. `None` when HAProxy
/// cannot add such a server, or make room for it, while it runs.
pub(super) fn dynamic(
    name: &BackendName,
    running: &BackendText,
    wanted: &BackendText,
    capabilities: Capabilities,
) -> Option<Vec<Command>> {
    let mut commands = Vec::new();
    let mut added = false;
    for (server, line) in &wanted.servers {
        match running.servers.get(server) {
            Some(old) if old == line => {}
            Some(old) => {
                let (old_words, words) = (Words::of(old), Words::of(line));
                if old_words.rest == words.rest {
                    let (backend, server) = (|| name.clone(), || server.clone());
                    if old_words.weight != words.weight {
                        let weight = words.weight;
                        commands.push(Command::SetWeight { backend: backend(), server: server(), weight });
                    }
                    if old_words.maximum != words.maximum {
                        let maximum = words.maximum;
                        commands.push(Command::SetMaximum { backend: backend(), server: server(), maximum });
                    }
                    continue;
                }
                // The name is taken until the old one is gone.
                if !capabilities.deletes_servers() {
                    return None;
                }
                commands.push(Command::RemoveServer {
                    backend: name.clone(),
                    server: server.clone(),
                    line: old.clone(),
                });
                added |= true;
                add(&mut commands, name, server, line);
            }
            None => {
                added |= true;
                add(&mut commands, name, server, line);
            }
        }
    }
    if added && !can_add(wanted, capabilities) {
        return None;
    }
    if added && running.header.contains("\n  dynamic-cookie-key ") {
        // 2.6 gives a new server no cookie by itself; later versions do, and mind it not.
        commands.push(Command::MakeCookies { backend: name.clone() });
    }
    let gone = running.servers.iter().filter(|(server, _)| !wanted.servers.contains_key(*server));
    commands.extend(gone.map(|(server, line)| Command::RemoveServer {
        backend: name.clone(),
        server: server.clone(),
        line: line.clone(),
    }));
    Some(commands)
}

/// Whether HAProxy can add the servers of this backend while it runs.
pub(super) fn can_add(backend: &BackendText, capabilities: Capabilities) -> bool {
    capabilities.dynamic_server_cookies() || !backend.servers.values().any(|line| line.contains(" cookie "))
}

fn add(commands: &mut Vec<Command>, backend: &BackendName, server: &Arc<str>, line: &Arc<str>) {
    let (backend, server) = (backend.clone(), server.clone());
    commands.push(Command::AddServer {
        backend: backend.clone(),
        server: server.clone(),
        line: line.clone(),
    });
    commands.push(Command::SetMode { backend, server, mode: ServerMode::Ready });
}

/// A server's text: what commands can set, and the rest.
#[derive(Debug, PartialEq, Eq)]
struct Words<'a> {
    rest: Vec<&'a str>,
    /// 1 when it is not written.
    weight: u16,
    /// 0, for none, when it is not written.
    maximum: u32,
}

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Self {
        let mut found = Self { rest: Vec::new(), weight: 1, maximum: 0 };
        let mut words = line.split(' ');
        while let Some(word) = words.next() {
            match word {
                "weight" => found.weight = words.next().and_then(|word| word.parse().ok()).unwrap_or(1),
                "maxconn" => found.maximum = words.next().and_then(|word| word.parse().ok()).unwrap_or(0),
                word => found.rest.push(word),
            }
        }
        found
    }
}

/// Slots (before 2.6); `None` when a text is no slot, or the slots or what only a reload changes of them are not the same. Slots that get a server come before
/// those that lose theirs.
pub(super) fn slots(name: &BackendName, running: &BackendText, wanted: &BackendText) -> Option<Vec<Command>> {
    if !running.servers.keys().eq(wanted.servers.keys()) {
        return None;
    }
    let mut commands = Vec::new();
    let mut freed = Vec::new();
    for ((server, old), new) in
        running.servers.iter().zip(wanted.servers.values()).filter(|((_, old), new)| old != new)
    {
        let (old, new) = (Slot::parse(old)?, Slot::parse(new)?);
        if old.keywords() != new.keywords() {
            return None;
        }
        change(if new.is_free() { &mut freed } else { &mut commands }, name, server, &old, &new);
    }
    commands.append(&mut freed);
    Some(commands)
}

fn change(commands: &mut Vec<Command>, backend: &BackendName, server: &Arc<str>, old: &Slot, new: &Slot) {
    let (backend, server) = (|| backend.clone(), || server.clone());
    let mode = |mode| Command::SetMode { backend: backend(), server: server(), mode };
    let moves = (old.address(), old.port()) != (new.address(), new.port());
    // A server that gets another address goes through maintenance: that closes the idle connections to the old one.
    let stops = !old.is_free() && (moves || new.is_free());
    if stops {
        commands.push(mode(ServerMode::Maintenance));
    }
    if moves {
        let (address, port) = (new.address(), new.port());
        commands.push(Command::SetAddress { backend: backend(), server: server(), address, port });
    }
    if old.weight() != new.weight() {
        commands.push(Command::SetWeight { backend: backend(), server: server(), weight: new.weight() });
    }
    if !new.is_free() && (old.is_free() || stops) {
        commands.push(mode(ServerMode::Ready));
    }
}
