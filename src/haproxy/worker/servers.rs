//! Servers: added in maintenance, removed when their last request is done.

use std::sync::Arc;

use super::super::answers::{Deletion, Good, deletion};
use super::super::{CommandError, Error, Request};
use super::Worker;
use crate::model::BackendName;
use crate::plan::ServerMode;

/// So many servers are kept in maintenance where they cannot be deleted; the next one is for a reload (some 5 kB each).
const KEPT_AT_MOST: usize = 1000;

/// A server in maintenance that still finishes its last requests; HAProxy refuses to delete it until they are done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dying {
    /// Address and keywords it was made with, weight included.
    pub line: Arc<str>,
}

impl Worker {
    /// Servers that wait for their last requests before they can be deleted.
    pub fn dying(&self) -> impl ExactSizeIterator<Item = (&BackendName, &Arc<str>)> {
        self.dying.keys().map(|(backend, server)| (backend, server))
    }

    /// Whether some of them can be deleted when their time has come.
    pub fn has_to_sweep(&self) -> bool {
        !self.keeps_servers && !self.dying.is_empty()
    }

    /// Tries once to delete each dying server; true when some are left and the next try is due in a while (250 ms).
    pub async fn sweep(&mut self) -> Result<bool, CommandError> {
        let waiting: Vec<_> = self.dying.keys().cloned().collect();
        for (backend, server) in waiting {
            self.delete(&backend, &server).await?;
        }
        Ok(self.has_to_sweep())
    }

    /// A new worker runs: it knows nothing of servers that were dying in the one before.
    pub fn forget_dying(&mut self) {
        self.dying.clear();
    }

    pub(super) async fn add_server(
        &mut self,
        backend: &BackendName,
        server: &Arc<str>,
        line: &Arc<str>,
    ) -> Result<(), CommandError> {
        let key = (backend.clone(), server.clone());
        if let Some(old) = self.dying.get(&key).map(|dying| dying.line.clone())
            && !self.delete(backend, server).await?
        {
            // A pod that came back before its last request was done, or where nothing is deleted. It is in maintenance like
            // a new one, and the command that makes it ready follows.
            let ((old, _, old_maximum), (new, weight, maximum)) = (split(&old), split(line));
            if old != new {
                return Err(CommandError::Busy { backend: backend.clone(), server: server.to_string() });
            }
            self.set_weight(backend, server, weight).await?;
            if old_maximum != maximum {
                self.set_maximum(backend, server, maximum).await?;
            }
            self.dying.remove(&key);
            return Ok(());
        }
        if self.keeps_servers && self.dying.len() >= KEPT_AT_MOST {
            return Err(CommandError::TooManyKept { count: self.dying.len() });
        }
        let mut request = name(Request::worker("add server"), backend, server)?;
        let words = words(line);
        for word in &words {
            request = request.word(word)?;
        }
        self.say(request, &Good::Last("New server registered.".to_owned())).await?;
        // The check of a dynamic server does not run by itself (2.6 to 3.4).
        if words.iter().any(|word| word == "check") {
            self.say(name(Request::worker("enable health"), backend, server)?, &Good::Empty).await?;
        }
        Ok(())
    }

    pub(super) async fn remove_server(
        &mut self,
        backend: &BackendName,
        server: &Arc<str>,
        line: &Arc<str>,
    ) -> Result<(), CommandError> {
        self.set_mode(backend, server, ServerMode::Maintenance).await?;
        // Out of service at once; deleting it can wait for the sweep, and what else changes need not wait for that.
        self.dying.insert((backend.clone(), server.clone()), Dying { line: line.clone() });
        Ok(())
    }

    pub(super) async fn set_mode(
        &self,
        backend: &BackendName,
        server: &str,
        mode: ServerMode,
    ) -> Result<(), CommandError> {
        let state = match mode {
            ServerMode::Ready => "ready",
            ServerMode::Maintenance => "maint",
        };
        let request = name(Request::worker("set server"), backend, server)?.word("state")?.word(state)?;
        self.say(request, &Good::Empty).await
    }

    pub(super) async fn set_weight(
        &self,
        backend: &BackendName,
        server: &str,
        weight: u16,
    ) -> Result<(), CommandError> {
        let request = name(Request::worker("set server"), backend, server)?
            .word("weight")?
            .word(&weight.to_string())?;
        self.say(request, &Good::Empty).await
    }

    pub(super) async fn set_maximum(
        &self,
        backend: &BackendName,
        server: &str,
        maximum: u32,
    ) -> Result<(), CommandError> {
        let request =
            name(Request::worker("set maxconn server"), backend, server)?.word(&maximum.to_string())?;
        self.say(request, &Good::Empty).await
    }

    /// One try to delete a dying server; true when it is gone.
    async fn delete(&mut self, backend: &BackendName, server: &Arc<str>) -> Result<bool, CommandError> {
        if self.keeps_servers {
            return Ok(false);
        }
        let request = name(Request::worker("del server"), backend, server)?;
        let command = request.command().to_owned();
        let answer = self.ask(request).await?;
        match deletion(&answer) {
            Deletion::Done => {
                self.dying.remove(&(backend.clone(), server.clone()));
                Ok(true)
            }
            Deletion::Busy => Ok(false),
            Deletion::Refused => Err(CommandError::Unexpected { command, answer }),
        }
    }
}

/// Adds the word `backend/server`.
pub(super) fn name(request: Request, backend: &BackendName, server: &str) -> Result<Request, Error> {
    request.word(&format!("{backend}/{server}"))
}

/// The words of a server line, its weight (1 when not written) and its maximum of connections (0, none, when not written): these
/// can be set at any time, the rest not. A backslash protects a space, as in files.
fn split(line: &str) -> (Vec<String>, u16, u32) {
    let (mut rest, mut weight, mut maximum) = (Vec::new(), 1, 0);
    let mut words = words(line).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "weight" => weight = words.next().and_then(|value| value.parse().ok()).unwrap_or(1),
            "maxconn" => maximum = words.next().and_then(|value| value.parse().ok()).unwrap_or(0),
            _ => rest.push(word),
        }
    }
    (rest, weight, maximum)
}

/// The words of a line as they stand in a file: a backslash protects what follows it.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (c, words.last_mut()) {
            (' ' | '\t', _) => words.push(String::new()),
            ('\\', Some(word)) => word.extend(characters.next()),
            (c, Some(word)) => word.push(c),
            (_, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod word_tests {
    use super::{split, words};

    #[test]
    fn words_of_a_line() {
        assert_eq!(words(r"1.2.3.4:1  ca-file /a\ b\\c check"), ["1.2.3.4:1", "ca-file", r"/a b\c", "check"]);
        let (rest, weight, maximum) = split("1.2.3.4:1 id 5 maxconn 7 weight 0");
        assert_eq!((rest.join(" ").as_str(), weight, maximum), ("1.2.3.4:1 id 5", 0, 7));
    }
}
