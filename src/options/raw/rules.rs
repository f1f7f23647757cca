//! Which lines are refused: those that would leave their section, those that would keep HAProxy from being driven, and on
//! Services and Ingresses those that reach beyond the backend.

use super::line::Line;
use crate::problem::excerpt;

/// The section that lines are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Global,
    Frontend,
    Backend,
}

/// Keywords that open a section (2.2 to 3.4).
const SECTIONS: [&str; 23] = [
    "acme",
    "backend",
    "cache",
    "crt-store",
    "defaults",
    "dynamic-update",
    "fcgi-app",
    "frontend",
    "global",
    "healthcheck",
    "http-errors",
    "listen",
    "log-forward",
    "log-profile",
    "mailers",
    "namespace_list",
    "peers",
    "program",
    "resolvers",
    "ring",
    "traces",
    "userlist",
    "users",
];

/// Global settings that the container or the master CLI does not bear, or by which HAProxy is recognised.
const DRIVEN: [&str; 10] =
    ["chroot", "daemon", "description", "gid", "group", "master-worker", "nbproc", "pidfile", "uid", "user"];

/// Checks a line; gives the reason why it is refused.
pub(super) fn check(line: &Line<'_>, section: Section) -> Result<(), String> {
    let keyword = keyword(line)?;
    let refused = |list: &[&str]| list.contains(&keyword);
    if refused(&SECTIONS) {
        return Err(format!("`{keyword}` would open another section"));
    }
    match section {
        Section::Global if refused(&DRIVEN) => {
            Err(format!("`{keyword}` would keep HAProxy from being driven"))
        }
        Section::Backend if refused(&["server", "default-server", "server-template"]) => Err(format!(
            "`{keyword}` is not for snippets: the Service brings the servers, and keys such as `server-ssl`, `check` and \
             `pod-maxconn` say how they are used"
        )),
        _ => Ok(()),
    }
}

/// The keyword of a line. It must stand there as it is: HAProxy would take one in quotes or escapes, too (all versions).
fn keyword<'l>(line: &'l Line<'_>) -> Result<&'l str, String> {
    let mut written = line.text.split([' ', '\t']).filter(|word| !word.is_empty());
    let mut words = line.words.iter();
    loop {
        let (Some(word), Some(raw)) = (words.next(), written.next()) else {
            return Err("a line without keyword".to_owned());
        };
        // `.if` and the like would take the lines behind this one with them, to the end of the file (2.4+).
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if word != raw || word.starts_with('.') || !word.chars().all(plain) {
            return Err(format!("`{}` is no keyword of a section", raw.escape_debug()));
        }
        // Modifiers: what they stand before is the keyword.
        if word != "no" && word != "default" {
            return Ok(word);
        }
    }
}

/// Keywords that reach beyond the backend: pages that show and stop servers of others (`stats`), files and programs
/// (`filter`, `errorfile`, `external-check`), names and numbers that are taken in the whole configuration (`id`, `guid`),
/// another shape than the routes to it expect (`mode`).
const KEYWORDS: [&str; 8] =
    ["stats", "filter", "errorfile", "external-check", "id", "guid", "mode", "load-server-state-from-file"];

/// Words that do so wherever they stand: files, programs, services of HAProxy itself.
const WORDS: [&str; 8] =
    ["file", "lf-file", "errorfile", "external-check", "use-service", "-M", "ca-file", "crl-file"];

/// Actions and functions, with the parenthesis behind them: changes of the maps that route everybody's requests and of lists,
/// what reads files, and the environment.
const CALLS: [&str; 6] = ["set-map(", "del-map(", "add-acl(", "del-acl(", "env(", "(proc."];

/// Folders of HAProxy, of the container and of its service account.
const FOLDERS: [&str; 5] = ["/etc/haproxy/", "/var/lib/haproxy/", "/var/run/", "/run/secrets/", "/proc/"];

/// Checks the lines of somebody who shares HAProxy with others; gives the reason why they are refused.
pub fn tenant(lines: &[std::sync::Arc<str>]) -> Result<(), String> {
    for text in lines {
        let Ok(Some(line)) = Line::read(text) else { continue };
        tenant_line(&line).map_err(|reason| format!("`{}`: {reason}", excerpt(text, 60)))?;
    }
    Ok(())
}

fn tenant_line(line: &Line<'_>) -> Result<(), String> {
    let keyword = keyword(line)?;
    if KEYWORDS.contains(&keyword) {
        return Err(format!("`{keyword}` reaches beyond the backend"));
    }
    if line.expands {
        return Err("`$` in double quotes would read an environment variable".to_owned());
    }
    for (index, word) in line.words.iter().enumerate() {
        let lower = word.to_ascii_lowercase();
        if WORDS.contains(&word.as_str()) {
            return Err(format!("`{word}` reads a file, or runs something that is not of the backend"));
        }
        if word == "-f" && !line.words.get(index + 1).is_some_and(|file| is_pattern_file(file)) {
            return Err("`-f` takes pattern files only, for example `-f patterns/offices`".to_owned());
        }
        if let Some(call) = CALLS.iter().find(|call| lower.contains(*call)) {
            return Err(format!("`{call}` reaches beyond the backend"));
        }
        if calls_map(&lower) {
            return Err("maps are files".to_owned());
        }
        if let Some(folder) = folder(&lower) {
            return Err(format!("`{folder}` is a folder of HAProxy or of its container"));
        }
    }
    Ok(())
}

/// `patterns/FILE`, with a name that cannot lead out of the folder, nor to a list of ours (`ListName::OURS`).
fn is_pattern_file(word: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    word.strip_prefix("patterns/").is_some_and(|name| {
        !name.is_empty()
            && name.len() <= 253
            && !name.starts_with('.')
            && !name.starts_with("outrigger-")
            && name.bytes().all(allowed)
    })
}

/// `map(…)`, `map_beg(…)`, … as a converter.
fn calls_map(word: &str) -> bool {
    word.match_indices("map").any(|(at, _)| {
        let rest = &word[at + 3..];
        let name = rest.trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '_');
        name.starts_with('(') && (rest.starts_with(['(', '_']))
    })
}

/// Whether a word names a folder of [`FOLDERS`], however it is spelled; `..` leads anywhere.
fn folder(word: &str) -> Option<&'static str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let names = |path: &str| {
        let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        let path = parts.fold(String::new(), |path, part| path + "/" + part) + "/";
        if path.contains("/../") {
            Some("..")
        } else {
            FOLDERS.into_iter().find(|folder| path.starts_with(*folder))
        }
    };
    word.split(|c| !is_path(c)).filter(|path| path.contains('/')).find_map(names)
}
