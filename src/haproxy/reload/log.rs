//! What HAProxy says about a load: the answer of `reload` (2.7+) and `show startup-logs`.

use tokio::time::Instant;

use super::super::{Master, Processes, Request};
use crate::model::Capabilities;

/// Why HAProxy refused a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The log of the load; empty before 2.7, where only HAProxy's own output has it.
    pub log: String,
    /// The lines that HAProxy names as wrong.
    pub places: Vec<Place>,
}

/// A place that HAProxy names in an `[ALERT]` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// File, as it was given to HAProxy.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

pub(super) enum Verdict {
    Succeeded,
    Refused(Refusal),
    InProgress,
    /// No verdict: before 2.7, or the answer was lost.
    Silent,
}

/// Reads the answer of `reload`.
pub(super) fn verdict(answer: &str) -> Verdict {
    let (first, log) = answer.split_once('\n').unwrap_or((answer, ""));
    match first.trim() {
        "Success=1" => Verdict::Succeeded,
        "Success=0" if log.contains("Another reload is still in progress") => Verdict::InProgress,
        "Success=0" => Verdict::Refused(refusal(log.strip_prefix("--\n").unwrap_or(log))),
        _ => Verdict::Silent,
    }
}

/// The log of the last load where the master keeps it (2.7+).
pub(super) async fn startup_log(master: &Master, now: &Processes, deadline: Instant) -> Refusal {
    if !Capabilities::of(now.master.version).is_some_and(Capabilities::synchronous_reload) {
        return Refusal::default();
    }
    match master.send(Request::master("show startup-logs"), deadline).await {
        Ok(answer) => refusal(&answer.text),
        Err(_) => Refusal::default(),
    }
}

fn refusal(log: &str) -> Refusal {
    let mut places: Vec<Place> = Vec::new();
    for place in log.lines().filter_map(place) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    Refusal { log: log.trim_end().to_owned(), places }
}

/// The place in an `[ALERT]` line: `… parsing [/etc/haproxy/haproxy.cfg:20] : unknown keyword …` or
/// `Binding [/etc/haproxy/haproxy.cfg:12] for frontend f: cannot bind …`.
fn place(line: &str) -> Option<Place> {
    let alert = line.strip_prefix("[ALERT]")?;
    let (file, number, rest) = alert.match_indices('[').find_map(|(open, _)| {
        let (inside, rest) = alert[open + 1..].split_once(']')?;
        let (file, number) = inside.rsplit_once(':')?;
        Some((file, number.parse().ok()?, rest))
    })?;
    let message = rest.trim_start_matches([' ', ':']).trim_end();
    Some(Place { file: file.to_owned(), line: number, message: message.to_owned() })
}
