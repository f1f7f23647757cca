//! Raw configuration: snippets. [`line`] reads a line as HAProxy does, [`rules`] says which are refused.

pub mod line;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use rules::tenant;

use super::{Chapter, Effect, Entry, Family, Key, Scope, Wrong};
use line::Line;
use rules::Section;

/// Lines of raw configuration: each is one line in its section and nothing else, without comments.
pub type Lines = Vec<Arc<str>>;

/// The keys of this file.
pub(super) static KEYS: Family =
    &[&GLOBAL_CONFIG_SNIPPET, &FRONTEND_CONFIG_SNIPPET, &STATS_CONFIG_SNIPPET, &BACKEND_CONFIG_SNIPPET];

/// What all of them allow.
const ALLOWED: &str = "lines of HAProxy configuration that stay in their section";

/// Raw lines of the global section.
pub static GLOBAL_CONFIG_SNIPPET: Key<Lines> = Key {
    entry: Entry {
        name: "global-config-snippet",
        aliases: &[],
        chapter: Chapter::Raw,
        scopes: &[Scope::ConfigMap],
        allowed: ALLOWED,
        default: "none",
        docs: "Raw lines at the end of the `global` section. What would keep HAProxy from being driven is refused: `chroot`, \
               `user`, `group`, `uid`, `gid`, `daemon`, `pidfile`, `master-worker`, `nbproc` and `description`. A line that \
               HAProxy does not accept takes out this snippet alone, and a Problem says what HAProxy said. Off with \
               `--disable-config-snippets=global`.",
        example: "tune.bufsize 32768",
        effect: Effect::Reload,
    },
    parse: |text| parse(text, Section::Global),
};

/// Raw lines of the frontends.
pub static FRONTEND_CONFIG_SNIPPET: Key<Lines> = Key {
    entry: Entry {
        name: "frontend-config-snippet",
        aliases: &[],
        chapter: Chapter::Raw,
        scopes: &[Scope::ConfigMap],
        allowed: ALLOWED,
        default: "none",
        docs: "Raw lines in the `http` and `https` frontends. They stand behind the rules that find the backend and before the \
               one that uses it, so they can read `txn.host`, `txn.path` and `txn.backend` and send a request elsewhere with \
               `use_backend`. A line that HAProxy does not accept takes out this snippet alone, in both frontends, and a \
               Problem says what HAProxy said. Off with `--disable-config-snippets=frontend`.",
        example: "http-request deny deny_status 429 if { path_beg /internal }",
        effect: Effect::Reload,
    },
    parse: |text| parse(text, Section::Frontend),
};

/// Raw lines of the frontend with the statistics.
pub static STATS_CONFIG_SNIPPET: Key<Lines> = Key {
    entry: Entry {
        name: "stats-config-snippet",
        aliases: &[],
        chapter: Chapter::Raw,
        scopes: &[Scope::ConfigMap],
        allowed: ALLOWED,
        default: "none",
        docs: "Raw lines at the end of the `stats` frontend, which serves the statistics page and HAProxy's metrics. A line that \
               HAProxy does not accept takes out this snippet alone, and a Problem says what HAProxy said. Off with \
               `--disable-config-snippets=frontend`.",
        example: "stats hide-version",
        effect: Effect::Reload,
    },
    parse: |text| parse(text, Section::Frontend),
};

/// Raw lines of backends.
pub static BACKEND_CONFIG_SNIPPET: Key<Lines> = Key {
    entry: Entry {
        name: "backend-config-snippet",
        aliases: &[],
        chapter: Chapter::Raw,
        scopes: &[Scope::Service, Scope::Ingress, Scope::ConfigMap],
        allowed: "lines of HAProxy configuration that stay in their section, without servers",
        default: "none",
        docs: "Raw lines at the end of the backend; those of the ConfigMap in every backend of a Service that does not bring its \
               own. Counts on Services and Ingresses only with `--enable-config-snippets`, and nowhere with \
               `--disable-config-snippets=backend`; a snippet that is off is a Problem. Servers are refused: the Service \
               brings them. A snippet that HAProxy does not accept is left out alone until it changes, and a Problem on its \
               object says what HAProxy said; requests are then served without it, so access rules belong in their own keys. \
               Before HAProxy 2.7, which does not say which line is wrong, new snippets wait a few seconds while the wrong one \
               is found. On Services and Ingresses also refused: `stats`, `filter`, `mode`, `id`, `guid`, programs, files \
               other than `-f patterns/FILE`, maps, changes of maps and lists, and environment variables. That does not make \
               tenants harmless: a snippet can still read and fill the tables of other backends, send health checks \
               anywhere, and use up HAProxy's memory and time. Whoever may write one should be trusted with HAProxy.",
        example: "http-request set-header X-Team shop",
        effect: Effect::Reload,
    },
    parse: |text| parse(text, Section::Backend),
};

fn parse(text: &str, section: Section) -> Result<Lines, Wrong> {
    const MOST_LINES: usize = 500;
    let mut lines: Lines = Vec::new();
    for (number, raw) in text.lines().enumerate() {
        let wrong = |reason: String| Wrong::because(format!("line {}: {reason}", number + 1));
        let Some(line) = Line::read(raw).map_err(|reason| wrong(reason.to_owned()))? else { continue };
        rules::check(&line, section).map_err(wrong)?;
        lines.push(line.text.into());
    }
    match lines.len() {
        0 => Err(Wrong::because("it has no line")),
        1..=MOST_LINES => Ok(lines),
        _ => Err(Wrong::because("it has more than 500 lines")),
    }
}
