//! The reference page, and what is said about one key: made from the registry.

use std::fmt::Write as _;

use super::{Chapter, Effect, Entry, PREFIXES, Scope, keys};

impl Chapter {
    /// All of them, in the order of the page.
    pub const ALL: [Self; 7] =
        [Self::Routing, Self::Rewriting, Self::Tls, Self::Servers, Self::Access, Self::Global, Self::Raw];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Routing => "Routing",
            Self::Rewriting => "Headers, paths and redirects",
            Self::Tls => "TLS",
            Self::Servers => "Servers",
            Self::Access => "Access and limits",
            Self::Global => "HAProxy as a whole",
            Self::Raw => "Raw configuration",
        }
    }
}

impl Effect {
    /// One word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Reload => "reload",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Live => "A change is applied while HAProxy runs.",
            Self::Reload => "A change needs a reload of HAProxy.",
        }
    }
}

/// The names of scopes, in the order of lookup.
pub fn scopes(entry: &Entry) -> String {
    let names: Vec<&str> = entry.scopes.iter().map(|scope| scope.as_str()).collect();
    names.join(", ")
}

/// How the example is written: as an annotation, else as an entry of the ConfigMap. YAML.
pub fn example(entry: &Entry) -> String {
    let annotated = entry.scopes.iter().any(|scope| *scope != Scope::ConfigMap);
    let (parents, key) = if annotated {
        ("metadata:\n  annotations:\n", format!("{}{}", PREFIXES[1], entry.name))
    } else {
        ("data:\n", entry.name.to_owned())
    };
    let depth = if annotated { 4 } else { 2 };
    let mut text = format!("{parents}{:depth$}{key}: ", "");
    if entry.example.contains('\n') {
        text.push_str("|\n");
        for line in entry.example.lines() {
            let _ = writeln!(text, "{:width$}{line}", "", width = depth + 2);
        }
    } else {
        let quoted = entry.example.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t");
        let _ = writeln!(text, "\"{quoted}\"");
    }
    text
}

/// `docs/configuration.md`.
pub fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for chapter in Chapter::ALL {
        let of: Vec<&Entry> = entries(chapter).collect();
        if of.is_empty() {
            continue;
        }
        let names: Vec<String> = of.iter().map(|entry| format!("[`{0}`](#{0})", entry.name)).collect();
        let _ = writeln!(page, "- **{}**: {}", chapter.title(), names.join(", "));
    }
    for chapter in Chapter::ALL {
        for (index, entry) in entries(chapter).enumerate() {
            if index == 0 {
                let _ = writeln!(page, "\n## {}", chapter.title());
            }
            page.push_str(&section(entry));
        }
    }
    page
}

fn entries(chapter: Chapter) -> impl Iterator<Item = &'static Entry> {
    keys().iter().map(|key| key.entry()).filter(move |entry| entry.chapter == chapter)
}

fn section(entry: &Entry) -> String {
    let mut text = format!("\n### {}\n\n{}\n\n", entry.name, entry.docs);
    let _ = writeln!(text, "- Written on: {}", scopes(entry));
    if !entry.aliases.is_empty() {
        let aliases: Vec<String> = entry.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let _ = writeln!(text, "- Also called: {}", aliases.join(", "));
    }
    if entry.example.is_empty() {
        text.push_str("- Not supported: writing it has no effect and is reported.\n");
        return text;
    }
    let _ = writeln!(text, "- Value: {}", entry.allowed);
    let _ = writeln!(text, "- Default: {}", entry.default);
    let _ = writeln!(text, "- {}", entry.effect.sentence());
    let _ = writeln!(text, "\n```yaml\n{}```", example(entry));
    text
}

const INTRODUCTION: &str = "\
# Configuration

<!-- Made from the registry of keys in src/options; `UPDATE_EXPECTED=1 cargo test --test it pages` writes it anew. -->

Keys are annotations of Ingresses and Services, and entries of the ConfigMap that `--configmap` names.
`outrigger options list` shows all of them, `outrigger options show KEY` one.

**Names.** An annotation is `haproxy.org/KEY`; the prefixes `haproxy.com/` and `ingress.kubernetes.io/` mean the same, so
objects written for other HAProxy controllers work unchanged. `outrigger.dev/KEY` means the same, too, and counts before the
others on the same object: it says something to this controller that another one does not read. In the ConfigMap there is no
prefix. An unknown key with one of the prefixes has no effect and is reported.

**Lookup.** Of the objects that a key can be written on, the Service counts first, then the Ingress, then the ConfigMap, then
the default. A Secret of another namespace may only be named in the ConfigMap. Keys count per path: what one Ingress says about a Service does not change what another one gets from it.

**Mistakes.** A value that its key does not allow counts as if it were not written, and is reported with the object, the key,
what is allowed and an example. Everything else goes on. Keys that guard a path (lists, authentication, certificates of clients)
are the exception: with a value that is not allowed they close the path, and never open it. [Problems](problems.md) lists all reports.

**Units.** Booleans are `true`, `on`, `yes`, `enabled`, `1` and their opposites, in any case. Durations need a unit: `us`, `ms`,
`s`, `m`, `h`, `d`, also one behind the other (`1h30m`). A number without unit is refused, because HAProxy would read
milliseconds where other controllers read seconds. Sizes are bytes, or have a unit of 1024: `k`, `m`, `g` or `Ki`, `Mi`, `Gi`.

";
