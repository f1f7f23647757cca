//! `auth-type`, `auth-secret`, `auth-realm`.

use std::sync::Arc;

use crate::options::value::{ObjectRef, object, word};
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// How clients say who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthType {
    /// User and password in every request (RFC 7617).
    Basic,
}

/// The realm when none is written.
pub const DEFAULT_REALM: &str = "Protected Content";

/// Switches authentication on.
pub static AUTH_TYPE: Key<AuthType> = Key {
    entry: Entry {
        name: "auth-type",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "`basic-auth`",
        default: "no authentication",
        docs: "Requests need user and password of the Secret that `auth-secret` names (HTTP basic authentication, also spelled \
               `basic`); others get 401. Without a usable Secret, or with a value that is not valid, the path is closed \
               (503). It cannot be where TLS is passed through: such a path is closed, too. Preflight requests of browsers \
               carry no password: with `cors-enable`, they are answered before.",
        example: "basic-auth",
        effect: Effect::Reload,
    },
    parse: |text| word(text, &[("basic-auth", AuthType::Basic), ("basic", AuthType::Basic)]),
};

/// The users.
pub static AUTH_SECRET: Key<ObjectRef> = Key {
    entry: Entry {
        name: "auth-secret",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "a Secret, as `namespace/name`, or `name` in the namespace of the object",
        default: "none",
        docs: "The Secret with the users of `auth-type`. Either each key is a user and its value a hash of the password, or the \
               key `auth` holds lines of `user:hash` as `htpasswd` writes them. Hashes are those that HAProxy can check \
               with the crypt(3) of every image: SHA-512 (`$6$`) and SHA-256 (`$5$`) with at most 20,000 rounds, bcrypt \
               (`$2y$`, `$2b$`, `$2a$`) up to cost 8, MD5 (`$1$`) and DES; HAProxy computes one for every request, and \
               other requests wait meanwhile. `openssl passwd -6` and `htpasswd -B` make such hashes. Others (clear text, \
               `$apr1$` of a plain `htpasswd`, `{SHA}`, yescrypt) leave their user out, with a problem that says why. A \
               Secret of another namespace counts only when the ConfigMap names it: an Ingress that does so is closed (503). Users that change are a reload.",
        example: "shop/users",
        effect: Effect::Reload,
    },
    parse: object,
};

/// What browsers show.
pub static AUTH_REALM: Key<Arc<str>> = Key {
    entry: Entry {
        name: "auth-realm",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Ingress, Scope::ConfigMap],
        allowed: "up to 200 printable ASCII characters without `\"` and `\\`",
        default: "`Protected Content`",
        docs: "The realm of `auth-type`: what browsers show when they ask for the password.",
        example: "Shop, back office",
        effect: Effect::Reload,
    },
    parse: realm,
};

fn realm(text: &str) -> Result<Arc<str>, Wrong> {
    // HAProxy puts it between quotes into the header as it is (2.2 to 3.4).
    let allowed = |b: u8| (b.is_ascii_graphic() || b == b' ') && !matches!(b, b'"' | b'\\');
    ((1..=200).contains(&text.len()) && text.bytes().all(allowed)).then(|| text.into()).ok_or(Wrong::PLAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types() {
        assert_eq!((AUTH_TYPE.parse)("basic-auth"), Ok(AuthType::Basic));
        assert_eq!((AUTH_TYPE.parse)("Basic"), Ok(AuthType::Basic));
        for text in ["", "digest", "true", "basic-auth\nbackend x", "basic auth"] {
            assert!((AUTH_TYPE.parse)(text).is_err(), "{text}");
        }
    }

    #[test]
    fn realms_fit_into_the_header() {
        for text in ["Protected Content", "a 100% 'b' [c] $HOME #d {e} %[src]"] {
            assert_eq!((AUTH_REALM.parse)(text).as_deref(), Ok(text));
        }
        let long = "x".repeat(201);
        for text in ["", "a\"b", "a\\b", "a\nb", "a\r\nb", "a\0", "gr\u{fc}n", &long] {
            assert!((AUTH_REALM.parse)(text).is_err(), "{text}");
        }
    }
}
