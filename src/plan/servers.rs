//! The commands that bring the servers of a running backend to their wanted texts.

use std::sync::Arc;

use super::{BackendText, Command, ServerMode, Slot};
use crate::model::BackendName;

/// Dynamic servers (2.6+): first what is added, so that the backend is never without servers in between.
pub(super) fn dynamic(name: &BackendName, running: &BackendText, wanted: &BackendText) -> Vec<Command> {
    let mut commands = Vec::new();
    for (server, line) in &wanted.servers {
        let command = |weight| Command::SetWeight { backend: name.clone(), server: server.clone(), weight };
        match running.servers.get(server) {
            Some(old) if old == line => {}
            Some(old) => {
                let ((old_rest, _), (rest, weight)) = (split_weight(old), split_weight(line));
                if old_rest == rest {
                    commands.push(command(weight));
                } else {
                    // The name is taken until the old one is gone.
                    commands.push(Command::RemoveServer {
                        backend: name.clone(),
                        server: server.clone(),
                        line: old.clone(),
                    });
                    add(&mut commands, name, server, line);
                }
            }
            None => add(&mut commands, name, server, line),
        }
    }
    let gone = running.servers.iter().filter(|(server, _)| !wanted.servers.contains_key(*server));
    commands.extend(gone.map(|(server, line)| Command::RemoveServer {
        backend: name.clone(),
        server: server.clone(),
        line: line.clone(),
    }));
    commands
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

/// A server's text without its weight, and the weight (1 when there is none).
fn split_weight(line: &str) -> (String, u16) {
    let Some((before, after)) = line.split_once(" weight ") else { return (line.to_owned(), 1) };
    let (weight, rest) = after.split_once(' ').map_or((after, None), |(weight, rest)| (weight, Some(rest)));
    match weight.parse() {
        Ok(weight) => (rest.map_or_else(|| before.to_owned(), |rest| format!("{before} {rest}")), weight),
        Err(_) => (line.to_owned(), 1),
    }
}

/// Slots (before 2.6); `None` when a text is no slot, or the slots are not the same. Slots that get a server come before
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
        change(if new.is_free() { &mut freed } else { &mut commands }, name, server, old, new);
    }
    commands.append(&mut freed);
    Some(commands)
}

fn change(commands: &mut Vec<Command>, backend: &BackendName, server: &Arc<str>, old: Slot, new: Slot) {
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
