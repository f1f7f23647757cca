//! `outrigger options`: the registry of keys.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::output;
use super::version::Output;
use crate::options::{AnyKey, Entry, Scope, example, find, keys, scopes, suggestion};

/// Flags of `options`.
#[derive(Debug, Args)]
pub(super) struct OptionsArgs {
    #[command(subcommand)]
    command: OptionsCommand,
}

#[derive(Debug, Subcommand)]
enum OptionsCommand {
    /// One line per key: name, where it is written, default, and whether a change is live or needs a reload.
    List {
        /// Only keys that can be written there.
        #[arg(long, value_enum)]
        scope: Option<ScopeName>,
        /// Output format.
        #[arg(short, long, value_enum, default_value_t = Output::Text)]
        output: Output,
    },
    /// Everything about one key.
    Show {
        /// The key, with or without prefix.
        key: String,
        /// Output format.
        #[arg(short, long, value_enum, default_value_t = Output::Text)]
        output: Output,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "lower")]
enum ScopeName {
    Service,
    Ingress,
    ConfigMap,
}

pub(super) fn run(args: &OptionsArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        OptionsCommand::List { scope, output } => list(*scope, *output)?,
        OptionsCommand::Show { key, output } => show(key, *output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(scope: Option<ScopeName>, output: Output) -> anyhow::Result<()> {
    let scope = scope.map(|scope| match scope {
        ScopeName::Service => Scope::Service,
        ScopeName::Ingress => Scope::Ingress,
        ScopeName::ConfigMap => Scope::ConfigMap,
    });
    let entries = keys().iter().map(|key| key.entry());
    let entries: Vec<&Entry> =
        entries.filter(|entry| scope.is_none_or(|scope| entry.scopes.contains(&scope))).collect();
    let text = match output {
        Output::Text => table(&entries),
        Output::Json => {
            let keys: Vec<Value> = entries.into_iter().map(as_json).collect();
            format!("{}\n", json!({ "version": 1, "keys": keys }))
        }
    };
    output::data(text.as_bytes())
}

/// One line is one key; the default comes last, since it may be long.
fn table(entries: &[&Entry]) -> String {
    let places = |entry: &Entry| scopes(entry).replace(", ", ",");
    let width =
        |text: &dyn Fn(&Entry) -> usize| entries.iter().map(|entry| text(entry)).max().unwrap_or_default();
    let (names, where_written) = (width(&|entry| entry.name.len()), width(&|entry| places(entry).len()));
    let mut text = String::new();
    for entry in entries {
        // Markdown of the page is noise here.
        let default = entry.default.replace('`', "");
        let (name, places, effect) = (entry.name, places(entry), entry.effect.as_str());
        let _ = writeln!(text, "{name:names$}  {places:where_written$}  {effect:6}  {default}");
    }
    text
}

fn show(name: &str, output: Output) -> anyhow::Result<()> {
    let entry = known(name)?.entry();
    let text = match output {
        Output::Text => described(entry),
        Output::Json => {
            let mut value = as_json(entry);
            value["version"] = json!(1);
            format!("{value}\n")
        }
    };
    output::data(text.as_bytes())
}

/// The key of this name, with or without one of the prefixes.
fn known(written: &str) -> anyhow::Result<&'static dyn AnyKey> {
    let name =
        crate::options::PREFIXES.iter().find_map(|prefix| written.strip_prefix(prefix)).unwrap_or(written);
    find(name).ok_or_else(|| {
        let hint = match suggestion(name) {
            Some(close) => format!("did you mean `{close}`?"),
            None => "`outrigger options list` shows all keys".to_owned(),
        };
        anyhow::anyhow!("`{written}` is no key of this controller\n\nhint: {hint}")
    })
}

fn described(entry: &Entry) -> String {
    let mut text = format!("{}\n", entry.name);
    for line in wrapped(entry.docs) {
        let _ = writeln!(text, "  {line}");
    }
    text.push('\n');
    let aliases = entry.aliases.join(", ");
    let (scopes, effect) = (scopes(entry), entry.effect.as_str());
    for (label, value) in [
        ("aliases", aliases.as_str()),
        ("written on", &scopes),
        ("value", entry.allowed),
        ("default", entry.default),
        ("change", effect),
    ] {
        if !value.is_empty() {
            let _ = writeln!(text, "  {label:11} {value}");
        }
    }
    if entry.example.is_empty() {
        return text;
    }
    text.push_str("\n  example\n");
    for line in example(entry).lines() {
        let _ = writeln!(text, "    {line}");
    }
    text
}

/// Lines of at most 100 columns.
fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 100;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.extend([" ", word]);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn as_json(entry: &Entry) -> Value {
    let scopes: Vec<&str> = entry.scopes.iter().map(|scope| scope.as_str()).collect();
    json!({
        "name": entry.name,
        "aliases": entry.aliases,
        "chapter": entry.chapter.title(),
        "scopes": scopes,
        "allowed": entry.allowed,
        "default": entry.default,
        "docs": entry.docs,
        "example": entry.example,
        "effect": entry.effect.as_str(),
    })
}
