//! Runtime commands for the current worker: the spelling of every [`Command`] and the check of every answer.

mod certificates;
mod maps;
mod servers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use outrigger_init::Volumes;
use tokio::time::Instant;

use super::answers::Good;
use super::{
    CommandError, Error, Master, Request, Running, ServerRunning, parse_certificates, parse_crt_list,
    parse_list, parse_lists, parse_map, parse_servers_state,
};
use crate::model::{BackendName, Capabilities};
use crate::plan::{Command, MapId};

pub use servers::Dying;

/// How long one command may take. Tens of microseconds are usual; a worker that is stopped or starved needs more.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many servers or patterns make an answer of some kilobytes.
const SHORT: usize = 50;

/// Says [`Command`]s to the current worker. Not for use while a reload is under way: a command would reach the worker that is
/// about to stop.
#[derive(Debug)]
pub struct Worker {
    master: Master,
    volumes: Volumes,
    dying: BTreeMap<(BackendName, Arc<str>), Dying>,
    /// `del server` would make this release crash: what is taken out stays in maintenance until the next reload.
    keeps_servers: bool,
}

impl Worker {
    /// Paths in commands are exactly those of the configuration, which names maps, lists and certificates by these volumes.
    pub fn new(master: Master, volumes: Volumes, capabilities: Capabilities) -> Self {
        Self { master, volumes, dying: BTreeMap::new(), keeps_servers: !capabilities.deletes_servers() }
    }

    /// Runs one command and checks its answer.
    pub async fn run(&mut self, command: &Command) -> Result<(), CommandError> {
        match command {
            Command::AddServer { backend, server, line } => self.add_server(backend, server, line).await,
            Command::RemoveServer { backend, server, line } => {
                self.remove_server(backend, server, line).await
            }
            Command::SetMode { backend, server, mode } => self.set_mode(backend, server, *mode).await,
            Command::SetWeight { backend, server, weight } => self.set_weight(backend, server, *weight).await,
            Command::SetMaximum { backend, server, maximum } => {
                self.set_maximum(backend, server, *maximum).await
            }
            Command::MakeCookies { backend } => {
                let request = Request::worker("enable dynamic-cookie backend").word(backend.as_str())?;
                self.say(request, &Good::Empty).await
            }
            Command::SetAddress { backend, server, address, port } => {
                let request = servers::name(Request::worker("set server"), backend, server)?
                    .word("addr")?
                    .word(&address.to_string())?
                    .word("port")?
                    .word(&port.to_string())?;
                self.say(request, &Good::Address).await
            }
            Command::AddMapEntry { map, key, value } => {
                let request = self.map("add map", *map)?.word(key)?.word(value)?;
                self.say(request, &Good::Empty).await
            }
            Command::SetMapEntry { map, key, value } => {
                let request = self.map("set map", *map)?.word(key)?.word(value)?;
                self.say(request, &Good::Empty).await
            }
            Command::DeleteMapEntry { map, key } => {
                self.say(self.map("del map", *map)?.word(key)?, &Good::Empty).await
            }
            Command::ReplaceMap { map, entries } => self.replace_map(*map, entries).await,
            Command::AddPattern { list, pattern } => {
                self.say(self.patterns("add acl", list)?.word(pattern)?, &Good::Empty).await
            }
            Command::DeletePattern { list, pattern } => {
                self.say(self.patterns("del acl", list)?.word(pattern)?, &Good::Empty).await
            }
            Command::AddCertificate { file, pem } => self.add_certificate(file, pem).await,
            Command::SetCertificate { file, pem } => self.set_certificate(file, pem).await,
            Command::DeleteCertificate { file } => self.delete_certificate(file).await,
            Command::AddToList { file, filters } => self.add_to_list(file, filters).await,
            Command::RemoveFromList { file } => self.remove_from_list(file).await,
        }
    }

    /// Everything that commands can change, read back from the worker. Servers that are only finishing their last requests
    /// ([`Worker::dying`]) are left out.
    pub async fn running(&self) -> Result<Running, Error> {
        let mut servers = parse_servers_state(&self.read_back(Request::worker("show servers state")).await?)?;
        for (backend, server) in self.dying.keys() {
            if let Some(servers) = servers.get_mut(backend) {
                servers.remove(server);
            }
        }
        let mut maps = BTreeMap::new();
        for id in MapId::ALL {
            let answer = self.read_back(self.map("show map", id)?).await?;
            // A map that nothing refers to is not loaded.
            if !answer.starts_with("Unknown map identifier") {
                maps.insert(id, parse_map(&answer)?);
            }
        }
        let mut lists = BTreeMap::new();
        let answer = self.read_back(Request::worker("show acl")).await?;
        for (file, count) in parse_lists(&answer, &self.volumes.patterns()) {
            let request = self.patterns("show acl", &file)?;
            let answer = if count.is_some_and(|count| count <= SHORT) {
                self.master.send(request, Instant::now() + PATIENCE).await?.text
            } else {
                self.read_back(request).await?
            };
            lists.insert(file, parse_list(&answer)?);
        }
        let list = self.volumes.crt_list();
        let list = Request::worker("show ssl crt-list -n").word(&list.to_string_lossy())?;
        Ok(Running {
            servers,
            maps,
            lists,
            certificates: parse_certificates(
                &self.read_back(Request::worker("show ssl cert")).await?,
                &self.volumes.certificates(),
            ),
            list: parse_crt_list(&self.read_back(list).await?, &self.volumes.certificates()),
        })
    }

    /// The servers of one backend, read back from the worker; dying ones are left out. `expected` of them: a long answer
    /// must not come over the kept connection.
    pub async fn servers_of(
        &self,
        backend: &BackendName,
        expected: usize,
    ) -> Result<BTreeMap<Arc<str>, ServerRunning>, Error> {
        let request = Request::worker("show servers state").word(backend.as_str())?;
        let answer = if expected + self.dying.len() > SHORT {
            self.read_back(request).await?
        } else {
            self.master.send(request, Instant::now() + PATIENCE).await?.text
        };
        let mut servers = parse_servers_state(&answer)?.remove(backend).unwrap_or_default();
        servers.retain(|server, _| !self.dying.contains_key(&(backend.clone(), server.clone())));
        Ok(servers)
    }

    fn map(&self, words: &'static str, map: MapId) -> Result<Request, Error> {
        Request::worker(words).word(&self.volumes.maps().join(map.file()).to_string_lossy())
    }

    fn patterns(&self, words: &'static str, list: &str) -> Result<Request, Error> {
        Request::worker(words).word(&self.volumes.patterns().join(list).to_string_lossy())
    }

    /// Sends a command that must get a good answer.
    async fn say(&self, request: Request, good: &Good) -> Result<(), CommandError> {
        let command = request.command().to_owned();
        let answer = self.ask(request).await?;
        if good.accepts(&answer) { Ok(()) } else { Err(CommandError::Unexpected { command, answer }) }
    }

    /// Sends a command and returns its answer.
    async fn ask(&self, request: Request) -> Result<String, CommandError> {
        Ok(self.master.send(request, Instant::now() + PATIENCE).await?.text)
    }

    async fn read_back(&self, request: Request) -> Result<String, Error> {
        self.master.read_large(request, Instant::now() + PATIENCE).await
    }
}

#[cfg(test)]
mod tests;
