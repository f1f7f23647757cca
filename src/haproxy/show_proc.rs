//! `show proc`: which processes there are.

use std::time::Duration;

use super::Error;
use crate::model::Version;

/// The processes of one HAProxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processes {
    /// The master.
    pub master: MasterProcess,
    /// Workers in the order listed, old ones too.
    pub workers: Vec<WorkerProcess>,
}

/// The master process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterProcess {
    /// Process id, as HAProxy sees it (in a container often 1, also after a restart).
    pub pid: u32,
    /// Reloads so far, failed ones too.
    pub reloads: u32,
    /// Failed reloads since the last good one; not told before 2.5.
    pub failed: Option<u32>,
    /// How long it has been running, to the second.
    pub uptime: Duration,
    /// Version.
    pub version: Version,
    /// Version as HAProxy spells it, with the packager's suffix.
    pub version_text: String,
}

/// A worker process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProcess {
    /// Process id.
    pub pid: u32,
    /// Reloads since it was started.
    pub reloads: u32,
    /// How long it has been running.
    pub uptime: Duration,
    /// Listed under `# old workers`. After a failed reload that can be the worker that serves (2.2, 2.4, 3.2 to 3.4).
    pub listed_old: bool,
}

impl Processes {
    /// The worker that serves: the one with the fewest reloads. `@1` follows the same rule.
    pub fn current(&self) -> Option<&WorkerProcess> {
        self.workers.iter().min_by_key(|worker| worker.reloads)
    }

    /// Whether a worker with this id is listed.
    pub fn has_worker(&self, pid: u32) -> bool {
        self.workers.iter().any(|worker| worker.pid == pid)
    }

    /// Whether these are the processes of another start of HAProxy than `earlier`. Process ids alone do not tell: in a
    /// container they are the same after each restart.
    pub fn restarted_since(&self, earlier: &Self) -> bool {
        self.master.pid != earlier.master.pid
            || self.master.reloads < earlier.master.reloads
            || self.master.uptime < earlier.master.uptime
    }
}

/// Parses the answer of `show proc`, in both layouts: with the column "relative PID" (up to 2.4) and without.
///
/// The columns are found from the uptime, whose shape is unmistakable: reloads stand before it, the version behind.
pub fn parse_show_proc(text: &str) -> Result<Processes, Error> {
    let unreadable = || Error::Unreadable {
        command: "show proc".into(),
        answer: text.chars().take(200).collect::<String>(),
    };
    let mut master = None;
    let mut workers = Vec::new();
    let mut listed_old = false;
    for line in text.lines() {
        if let Some(section) = line.strip_prefix("# ") {
            listed_old = section.starts_with("old ");
            continue;
        }
        let Some(row) = Row::parse(line) else { continue };
        match row.kind {
            "master" => {
                master = Some(MasterProcess {
                    pid: row.pid,
                    reloads: row.reloads,
                    failed: row.failed,
                    uptime: row.uptime,
                    version: Version::parse(row.version).ok_or_else(unreadable)?,
                    version_text: row.version.to_owned(),
                });
            }
            "worker" => {
                workers.push(WorkerProcess {
                    pid: row.pid,
                    reloads: row.reloads,
                    uptime: row.uptime,
                    listed_old,
                });
            }
            _ => {}
        }
    }
    Ok(Processes { master: master.ok_or_else(unreadable)?, workers })
}

struct Row<'a> {
    pid: u32,
    kind: &'a str,
    reloads: u32,
    failed: Option<u32>,
    uptime: Duration,
    version: &'a str,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| parse_uptime(word).is_some())?;
        let before = words.get(2..at)?;
        let (failed, before) = match before {
            [before @ .., "[failed:", count] => (Some(count.strip_suffix(']')?.parse().ok()?), before),
            before => (None, before),
        };
        Some(Self {
            pid: words.first()?.parse().ok()?,
            kind: words.get(1)?,
            reloads: before.last()?.parse().ok()?,
            failed,
            uptime: parse_uptime(words.get(at)?)?,
            version: words.get(at + 1)?,
        })
    }
}

/// `1d02h03m04s`.
fn parse_uptime(text: &str) -> Option<Duration> {
    let (days, rest) = text.split_once('d')?;
    let (hours, rest) = rest.split_once('h')?;
    let (minutes, rest) = rest.split_once('m')?;
    let seconds = rest.strip_suffix('s')?;
    let mut total: u64 = 0;
    for (part, unit) in [(days, 86_400), (hours, 3_600), (minutes, 60), (seconds, 1)] {
        total = total.checked_add(part.parse::<u64>().ok()?.checked_mul(unit)?)?;
    }
    Some(Duration::from_secs(total))
}

#[cfg(test)]
mod tests;
