//! Replacing a map as a whole.

use std::sync::Arc;

use super::Worker;
use crate::haproxy::answers::{Good, last_line};
use crate::haproxy::{CommandError, Error, Request};
use crate::plan::MapId;

impl Worker {
    /// Puts the entries into a new version of the map, in this order, and takes it into use: no lookup sees anything but the old
    /// entries or the new ones (2.4 to 3.4). What fails leaves the old version as it is.
    pub(super) async fn replace_map(
        &mut self,
        map: MapId,
        entries: &[(Arc<str>, Arc<str>)],
    ) -> Result<(), CommandError> {
        let request = self.map("prepare map", map)?;
        let command = request.command().to_owned();
        let answer = self.ask(request).await?;
        let version = last_line(&answer).strip_prefix("New version created: ");
        let Some(version) = version.and_then(|version| version.parse::<u32>().ok()) else {
            return Err(CommandError::Unexpected { command, answer });
        };
        let version = format!("@{version}");
        let outcome = self.fill(map, &version, entries).await;
        if outcome.is_err() {
            // Its own answer does not matter: a version that is never committed goes with the next one.
            let _ = self.ask(self.versioned("clear map", &version, map)?).await;
        }
        outcome
    }

    async fn fill(
        &self,
        map: MapId,
        version: &str,
        entries: &[(Arc<str>, Arc<str>)],
    ) -> Result<(), CommandError> {
        for (key, value) in entries {
            self.say(self.versioned("add map", version, map)?.word(key)?.word(value)?, &Good::Empty).await?;
        }
        self.say(self.versioned("commit map", version, map)?, &Good::Empty).await
    }

    fn versioned(&self, words: &'static str, version: &str, map: MapId) -> Result<Request, Error> {
        let path = self.volumes.maps().join(map.file());
        Request::worker(words).word(version)?.word(&path.to_string_lossy())
    }
}
