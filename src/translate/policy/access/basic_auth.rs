//! Basic authentication: users and hashes of a Secret.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Context, Notes, closed, crypt};
use crate::cluster::{Kind, Secret};
use crate::model::policy::access::{Access, Login};
use crate::model::{Need, Users};
use crate::options::access::{AUTH_REALM, AUTH_SECRET, AUTH_TYPE, DEFAULT_REALM};
use crate::problem::{Code, Problem, Severity};

/// The key of a Secret in ingress-nginx's form, with lines of `user:hash`.
const LINES: &str = "auth";

/// Reads `auth-type` and what belongs to it. Whatever is wrong closes the path.
pub(super) fn read(context: &Context<'_>, access: &mut Access, notes: &mut Notes) {
    let Some(kind) = context.said(&AUTH_TYPE) else {
        let said = context.said(&AUTH_SECRET).filter(|said| said.object.kind == Kind::Ingress);
        if let Some(said) = said.filter(|_| !context.layers.refuses(&AUTH_TYPE)) {
            notes.problems.push(Problem {
                origin: said.origin,
                code: Code::KeyIneffective,
                severity: Severity::Warning,
                message: "`auth-secret` has no effect without `auth-type`: everybody may".to_owned(),
                hint: "add `auth-type: basic-auth`".to_owned(),
            });
        }
        return;
    };
    let Some(said) = context.said(&AUTH_SECRET) else {
        access.closed = true;
        if !context.layers.refuses(&AUTH_SECRET) {
            let message = "`auth-type` needs users, and no `auth-secret` names them, so the path is closed";
            notes.problems.push(closed(context, kind.origin, message, "name a Secret in `auth-secret`"));
        }
        return;
    };
    let own = &said.object.name.namespace;
    let name = said.value.in_namespace(own);
    let mut fail = |code, message: String, hint: &str| {
        access.closed = true;
        let message = format!("{message}, so the path is closed");
        notes.problems.push(Problem { code, ..closed(context, said.origin.clone(), &message, hint) });
    };
    if name.namespace != *own && said.object.kind != Kind::ConfigMap {
        return fail(
            Code::SecretForbidden,
            format!("Secret `{name}` is in another namespace"),
            "copy the Secret into the namespace of the Ingress",
        );
    }
    notes.secrets.insert(name.clone());
    let Some(secret) = context.snapshot.secrets.get(&name) else {
        return fail(
            Code::SecretNotFound,
            format!("Secret `{name}` does not exist"),
            "create the Secret, or name one that exists",
        );
    };
    let (hashes, refused) = users_of(secret);
    let hint = "make hashes with `openssl passwd -6`, or lines of `user:hash` with `htpasswd -B`";
    if hashes.is_empty() {
        let why = refused.first().map(|first| format!(": {first}")).unwrap_or_default();
        return fail(Code::CredentialsInvalid, format!("Secret `{name}` has no usable user{why}"), hint);
    }
    if let Some(first) = refused.first() {
        let more = match refused.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        notes.problems.push(Problem {
            origin: said.origin.clone(),
            code: Code::CredentialsInvalid,
            severity: Severity::Error,
            message: format!("a user of Secret `{name}` cannot log in: {first}{more}"),
            hint: hint.to_owned(),
        });
    }
    notes.needs.insert(Need::Users(Users { secret: name.clone(), hashes }));
    let realm = context.get(&AUTH_REALM).unwrap_or_else(|| DEFAULT_REALM.into());
    access.login = Some(Login { secret: name, realm });
}

/// Users with their hashes, and what is wrong with the others; never a value.
fn users_of(secret: &Secret) -> (BTreeMap<Arc<str>, Arc<str>>, Vec<String>) {
    let (mut hashes, mut refused) = (BTreeMap::<Arc<str>, Arc<str>>::new(), Vec::new());
    let mut add = |user: &str, hash: &str| {
        let verdict = if is_user(user) { crypt::check(hash) } else { Err("its name cannot be a user") };
        match verdict {
            // The first line counts, as for `htpasswd`.
            Ok(()) => _ = hashes.entry(user.into()).or_insert_with(|| hash.into()),
            Err(reason) => refused.push(format!("`{}`: {reason}", user.escape_debug())),
        }
    };
    for (key, value) in &secret.data {
        let Ok(text) = std::str::from_utf8(value) else {
            add(key, "\0");
            continue;
        };
        if key.as_ref() == LINES && text.contains(':') {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            for (number, line) in lines.enumerate() {
                match line.split_once(':') {
                    Some((user, hash)) => add(user, hash),
                    None => add(&format!("line {}", number + 1), ""),
                }
            }
        } else {
            add(key, text.trim());
        }
    }
    (hashes, refused)
}

/// What a client can send as a user, and a line of the configuration can hold.
fn is_user(user: &str) -> bool {
    (1..=128).contains(&user.len()) && !user.contains(':') && !user.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::tests::secret_with;

    const HASH: &str = "$1$abc$cxuUzPBSwjcu7dZUf2yRi0";

    #[test]
    fn both_forms_of_a_secret_are_read() {
        let lines = format!("# us\nann:{HASH}\r\n\nbob:$apr1$x$y\nnonsense\nann:other\n: x\n");
        let secret =
            secret_with("a/b", &[("auth", &lines), ("carl", &format!("{HASH}\n")), ("dora", "secret")]);
        let (users, refused) = users_of(&secret);
        let names: Vec<&str> = users.keys().map(AsRef::as_ref).collect();
        assert_eq!(names, ["ann", "carl"]);
        assert!(users.values().all(|hash| hash.as_ref() == HASH));
        assert_eq!(refused.len(), 5, "{refused:?}");
        assert!(refused[0].starts_with("`bob`: ") && refused[4].starts_with("`dora`: "), "{refused:?}");
        assert!(!format!("{refused:?}").contains("secret"));
    }

    #[test]
    fn a_user_may_be_named_auth() {
        let (users, refused) = users_of(&secret_with("a/b", &[("auth", HASH)]));
        assert_eq!((users.len(), refused.len()), (1, 0));
    }
}
