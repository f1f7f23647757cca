//! Statistics page and exporter.

use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::Context;
use crate::cluster::{Kind, Origin};
use crate::model::Global;
use crate::model::global::stats::{MANY_BACKENDS, Proof, Scope, Users};
use crate::options::Key;
use crate::options::global::{EXPORTER_SCOPE, ExporterScope, PROMETHEUS_ENDPOINT_AUTH_SECRET, STATS_AUTH};
use crate::options::value::ObjectRef;
use crate::problem::{Code, Problem, Severity};
use crate::translate::notes::Notes;

/// Above this number of backends the exporter of HAProxy before 3.0, which cannot choose metrics, leaves them out.
const MANY: usize = 1_000;

/// Reads the keys of this family.
pub(super) fn read(context: &Context<'_>, global: &mut Global, notes: &mut Notes) {
    let stats = &mut global.stats;
    stats.page = users(context, &STATS_AUTH, notes);
    stats.exporter = users(context, &PROMETHEUS_ENDPOINT_AUTH_SECRET, notes).or_else(|| stats.page.clone());
    stats.scope = match context.get(&EXPORTER_SCOPE) {
        None => Scope::Small,
        Some(ExporterScope::Frontends) => Scope::Frontends,
        Some(ExporterScope::Backends) => Scope::Backends,
        Some(ExporterScope::Servers) => Scope::Servers,
        Some(ExporterScope::All) => Scope::All,
    };
}

/// A value that changes while HAProxy runs, when there are many backends.
pub(in crate::translate) fn size_notes(backends: usize) -> Notes {
    let mut notes = Notes::default();
    if backends > MANY {
        let (key, value) = MANY_BACKENDS;
        notes.values.insert(key.into(), value.into());
    }
    notes
}

/// The users of the Secret that a key names; nobody when it cannot be used.
fn users(context: &Context<'_>, key: &Key<ObjectRef>, notes: &mut Notes) -> Option<Users> {
    let namespace = context.inputs.settings.config_map.as_ref()?.namespace.clone();
    let name = context.get(key)?.in_namespace(&namespace);
    let said = context.origin(key)?;
    notes.secrets.insert(name.clone());
    let mut problem = |origin, code, message, hint: &str| {
        let hint = hint.to_owned();
        notes.problems.push(Problem { origin, code, severity: Severity::Error, message, hint });
    };
    let mut users = Users::default();
    let Some(secret) = context.inputs.snapshot.secrets.get(&name) else {
        let message = format!("Secret `{name}` does not exist; nobody is let in");
        problem(said, Code::SecretNotFound, message, "create it with an entry for each user: name, password");
        return Some(users);
    };
    for (user, password) in &secret.data {
        match proof(user, password) {
            Ok(proof) => _ = users.0.insert(user.clone(), proof),
            Err(reason) => {
                let origin = Origin::object(Kind::Secret, name.clone()).at(user.clone());
                let message = format!("the user is not let in: {reason}");
                let hint = "store the password, or a hash of it (`openssl passwd -6`)";
                problem(origin, Code::UserInvalid, message, hint);
            }
        }
    }
    if users.0.is_empty() {
        let message = format!("Secret `{name}` holds no usable user; nobody is let in");
        problem(said, Code::UserInvalid, message, "add an entry for each user: name, password");
    }
    Some(users)
}

/// What proves the password of a user, or why there is none. Says nothing about the password itself.
fn proof(user: &str, password: &[u8]) -> Result<Proof, &'static str> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.@".contains(&b);
    if user.is_empty() || user.len() > 64 || !user.bytes().all(allowed) {
        return Err("a user name has letters, digits, `-`, `_`, `.` and `@`");
    }
    let password = std::str::from_utf8(password).map_err(|_| "the password is not text")?;
    let password = password.trim_end_matches(['\n', '\r']);
    if password.is_empty() || password.len() > 256 || password.chars().any(char::is_control) {
        return Err("the password is empty, longer than 256 bytes, or has control characters");
    }
    match hash_method(password) {
        Some("1" | "5" | "6") => {
            let allowed = |b: u8| b.is_ascii_alphanumeric() || b"./$=".contains(&b);
            if password.bytes().all(allowed) {
                Ok(Proof::Crypt(password.into()))
            } else {
                Err("the hash has characters that no hash has")
            }
        }
        Some(_) => Err("HAProxy images cannot all check this kind of hash; `$1$`, `$5$` and `$6$` work"),
        None => {
            let digest = Sha256::digest(format!("{user}:{password}"));
            let hex = digest.iter().fold(String::with_capacity(64), |mut text, byte| {
                // Writing to a String cannot fail.
                let _ = write!(text, "{byte:02X}");
                text
            });
            Ok(Proof::Digest(Arc::from(hex)))
        }
    }
}

/// The method of a hash in the form of crypt(3).
fn hash_method(text: &str) -> Option<&str> {
    let (method, _) = text.strip_prefix('$')?.split_once('$')?;
    let valid =
        (1..=8).contains(&method.len()) && method.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    valid.then_some(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_many_backends_are_worth_a_value() {
        assert_eq!(size_notes(1_000), Notes::default());
        assert_eq!(size_notes(1_001).values.len(), 1);
    }

    #[test]
    fn passwords_and_hashes() {
        let digest = |user, password: &str| match proof(user, password.as_bytes()) {
            Ok(Proof::Digest(digest)) => digest,
            _ => panic!("{password}"),
        };
        assert_eq!(digest("a", "b\n"), digest("a", "b"));
        assert_ne!(digest("a", "b"), digest("b", "b"));
        assert_eq!(digest("admin", "$ecret").len(), 64);
        for hash in ["$1$abc$xyz", "$5$rounds=1000$salt$hash", "$6$./Az09$x"] {
            assert!(matches!(proof("a", hash.as_bytes()), Ok(Proof::Crypt(_))), "{hash}");
        }
        for bad in [
            &b"$2y$10$abc"[..],
            b"$y$j9T$x",
            b"$apr1$x$y",
            b"$5$a b$c",
            b"$6$\"$x",
            b"",
            b"\n",
            b"a\0b",
            b"a\nb",
            b"\xff",
        ] {
            assert!(proof("a", bad).is_err(), "{bad:?}");
        }
        for user in ["", "a b", "a:b", "a\n", "\u{e4}", "a\"b"] {
            assert!(proof(user, b"x").is_err(), "{user}");
        }
    }
}
