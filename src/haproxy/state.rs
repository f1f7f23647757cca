//! Reading back what runs: parsers of the worker's `show` answers.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use super::Error;
use crate::model::BackendName;
use crate::plan::MapId;

/// Everything that runtime commands can change, in pieces that compare with [`Texts`](crate::plan::Texts).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Running {
    /// Backend → server name → what it does.
    pub servers: BTreeMap<BackendName, BTreeMap<Arc<str>, ServerRunning>>,
    /// The maps that are loaded.
    pub maps: BTreeMap<MapId, BTreeMap<Arc<str>, Arc<str>>>,
    /// The lists of patterns that are loaded: file name in the patterns folder → patterns.
    pub lists: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// Loaded certificates by file name in the certificate folder, the default certificate too.
    pub certificates: BTreeSet<Arc<str>>,
    /// The list of the HTTPS listener: file name in the certificate folder → server names, space-separated. The default
    /// certificate has none.
    pub list: BTreeMap<Arc<str>, Arc<str>>,
}

/// A server as it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerRunning {
    /// Address; `None` when HAProxy has none.
    pub address: Option<IpAddr>,
    /// Port.
    pub port: u16,
    /// Weight as set by commands, else as written.
    pub weight: u16,
    /// In maintenance.
    pub maintenance: bool,
}

/// `show info`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// `Pid` of the worker.
    pub pid: u32,
    /// `Maxconn`: what HAProxy made of the limits.
    pub maxconn: u64,
    /// `Ulimit-n`.
    pub ulimit_n: u64,
    /// Global `description`, which carries the generation mark (2.2 to 3.4).
    pub description: Option<String>,
    /// Everything, by the name HAProxy gives it.
    pub values: BTreeMap<String, String>,
}

/// Parses `show info`.
pub fn parse_info(text: &str) -> Result<Info, Error> {
    let values: BTreeMap<String, String> = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let number = |name: &str| values.get(name).and_then(|value| value.parse::<u64>().ok());
    let pid = number("Pid").and_then(|pid| u32::try_from(pid).ok());
    let pid = pid.ok_or_else(|| unreadable("show info", text))?;
    Ok(Info {
        pid,
        maxconn: number("Maxconn").unwrap_or(0),
        ulimit_n: number("Ulimit-n").unwrap_or(0),
        description: values.get("description").cloned(),
        values,
    })
}

/// Administrative states of a server that are some form of maintenance: forced, inherited, by name resolution. The keyword
/// `disabled` sets the first and a mark (0x04) that stays when the server is made ready.
const MAINTENANCE: u32 = 0x01 | 0x02 | 0x20;

/// Parses `show servers state`: backend → server → state. Columns are found by their names (2.2 has fewer).
pub fn parse_servers_state(
    text: &str,
) -> Result<BTreeMap<BackendName, BTreeMap<Arc<str>, ServerRunning>>, Error> {
    let bad = || unreadable("show servers state", text);
    let mut lines = text.lines();
    if lines.next().map(str::trim) != Some("1") {
        return Err(bad());
    }
    let header: Vec<&str> =
        lines.next().and_then(|line| line.strip_prefix("# ")).ok_or_else(bad)?.split(' ').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).ok_or_else(bad);
    let (backend, server, address) = (column("be_name")?, column("srv_name")?, column("srv_addr")?);
    let (admin, weight, port) = (column("srv_admin_state")?, column("srv_uweight")?, column("srv_port")?);
    let mut backends: BTreeMap<BackendName, BTreeMap<Arc<str>, ServerRunning>> = BTreeMap::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let word = |at: usize| words.get(at).copied().ok_or_else(bad);
        // 2.2 lists its own master as a server.
        if word(backend)? == "MASTER" {
            continue;
        }
        let running = ServerRunning {
            address: word(address)?.parse().ok(),
            port: word(port)?.parse().map_err(|_| bad())?,
            weight: word(weight)?.parse().map_err(|_| bad())?,
            maintenance: word(admin)?.parse::<u32>().map_err(|_| bad())? & MAINTENANCE != 0,
        };
        backends
            .entry(BackendName::parsed(word(backend)?))
            .or_default()
            .insert(word(server)?.into(), running);
    }
    Ok(backends)
}

/// Parses `show map NAME`: key → value, the first of several entries with one key, since lookups find that one.
pub fn parse_map(text: &str) -> Result<BTreeMap<Arc<str>, Arc<str>>, Error> {
    let mut entries = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let mut parts = line.splitn(3, ' ');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(pointer), Some(key), value) if pointer.starts_with("0x") => {
                entries.entry(key.into()).or_insert_with(|| value.unwrap_or_default().into());
            }
            _ => return Err(unreadable("show map", line)),
        }
    }
    Ok(entries)
}

/// Parses `show acl`: the names of the files in the patterns folder, with the number of their patterns where it is said (2.6).
pub fn parse_lists(text: &str, folder: &Path) -> BTreeMap<Arc<str>, Option<usize>> {
    let list = |line: &str| {
        let (path, rest) = line.split_once(" (")?.1.split_once(") ")?;
        let count = rest.rsplit_once("entry_cnt=").and_then(|(_, count)| count.trim().parse().ok());
        Some((file_in(path, folder)?, count))
    };
    text.lines().filter_map(list).collect()
}

/// Parses `show acl NAME`.
pub fn parse_list(text: &str) -> Result<BTreeSet<Arc<str>>, Error> {
    let pattern = |line: &str| match line.split_once(' ') {
        Some((pointer, pattern)) if pointer.starts_with("0x") => Ok(pattern.into()),
        _ => Err(unreadable("show acl", line)),
    };
    text.lines().filter(|line| !line.is_empty()).map(pattern).collect()
}

/// Parses `show ssl cert`: the names of files in the certificate folder. An open transaction (`*`) is not a certificate.
pub fn parse_certificates(text: &str, folder: &Path) -> BTreeSet<Arc<str>> {
    text.lines().filter_map(|line| file_in(line.trim(), folder)).collect()
}

/// Parses `show ssl crt-list -n`: file name in the certificate folder → server names. A file on several lines has the names of
/// all of them.
pub fn parse_crt_list(text: &str, folder: &Path) -> BTreeMap<Arc<str>, Arc<str>> {
    let mut files: BTreeMap<Arc<str>, Vec<&str>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (entry, rest) = line.split_once(' ').unwrap_or((line, ""));
        let Some((path, _line)) = entry.rsplit_once(':') else { continue };
        let Some(file) = file_in(path, folder) else { continue };
        let filters = match rest.strip_prefix('[') {
            Some(options) => options.split_once(']').map_or("", |(_, filters)| filters),
            None => rest,
        };
        files.entry(file).or_default().extend(filters.split_ascii_whitespace());
    }
    files.into_iter().map(|(file, filters)| (file, filters.join(" ").into())).collect()
}

fn file_in(path: &str, folder: &Path) -> Option<Arc<str>> {
    let file = Path::new(path).strip_prefix(folder).ok()?.to_str()?;
    (!file.is_empty()).then(|| file.into())
}

fn unreadable(command: &str, answer: &str) -> Error {
    Error::Unreadable { command: command.to_owned(), answer: answer.chars().take(200).collect::<String>() }
}

#[cfg(test)]
mod tests;
