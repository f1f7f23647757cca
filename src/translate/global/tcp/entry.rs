//! An entry of the ConfigMap of TCP services, in the spelling of either HAProxy controller:
//! `namespace/service:port[:ssl]` or `namespace/service:port[:PROXY[:PROXY-V2[:secret]]]`.

use std::sync::Arc;

use crate::cluster::{ObjectName, PortRef};
use crate::model::policy::servers::ProxyProtocol;
use crate::options::value::{ObjectRef, object};
use crate::problem::excerpt;

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) service: ObjectName,
    pub(super) port: PortRef,
    pub(super) encryption: Encryption,
    /// Clients begin with a PROXY protocol header.
    pub(super) accept_proxy: bool,
    /// Servers get one.
    pub(super) send_proxy: Option<ProxyProtocol>,
}

/// TLS with clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Encryption {
    Off,
    /// With the certificates of the HTTPS listener.
    Listed,
    /// With the certificate of a Secret; the name alone is one beside the ConfigMap.
    Secret(Result<ObjectName, Arc<str>>),
}

/// Reads an entry; the error is the reason, fit for a message.
pub(super) fn parse(text: &str) -> Result<Entry, String> {
    let text = text.trim();
    let shown = |text: &str| excerpt(text, 60);
    let mut fields = text.split(':').map(str::trim);
    let Some(Ok(ObjectRef::Full(service))) = fields.next().map(object) else {
        return Err(format!("`{}` names no Service with its namespace", shown(text)));
    };
    let port = match fields.next() {
        None | Some("") => return Err(format!("no port of Service `{service}` is named")),
        Some(port) => port_ref(port).ok_or_else(|| format!("`{}` is no port of a Service", shown(port)))?,
    };
    // `ssl` may stand anywhere; the others have places.
    let (tls, rest): (Vec<&str>, Vec<&str>) = fields.partition(|field| field.eq_ignore_ascii_case("ssl"));
    let mut rest = rest.into_iter();
    let accept_proxy = match rest.next().unwrap_or_default() {
        "" => false,
        word if word.eq_ignore_ascii_case("PROXY") => true,
        other => return Err(format!("`{}` is neither `ssl` nor `PROXY`", shown(other))),
    };
    let send_proxy = match rest.next().unwrap_or_default().to_ascii_uppercase().as_str() {
        "" => None,
        "PROXY" | "PROXY-V2" => Some(ProxyProtocol::V2),
        "PROXY-V1" => Some(ProxyProtocol::V1),
        other => return Err(format!("`{}` is none of `PROXY`, `PROXY-V1` and `PROXY-V2`", shown(other))),
    };
    let encryption = match rest.next().unwrap_or_default() {
        "" if tls.is_empty() => Encryption::Off,
        "" => Encryption::Listed,
        secret => match object(secret) {
            Ok(ObjectRef::Full(name)) => Encryption::Secret(Ok(name)),
            Ok(ObjectRef::Here(name)) => Encryption::Secret(Err(name)),
            Err(_) => return Err(format!("`{}` names no Secret", shown(secret))),
        },
    };
    match rest.next().unwrap_or_default() {
        "" | "-" => {}
        _ => {
            return Err(
                "health checks are no part of an entry: write `check` and `check-interval` on the Service"
                    .to_owned(),
            );
        }
    }
    match rest.next() {
        None | Some("") => Ok(Entry { service, port, encryption, accept_proxy, send_proxy }),
        Some(_) => Err("client certificates are not supported for TCP services".to_owned()),
    }
}

/// A number, or a name (letters, digits and `-`, at most 15, as Kubernetes has it).
fn port_ref(text: &str) -> Option<PortRef> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok().filter(|port| *port > 0).map(PortRef::Number);
    }
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (text.len() <= 15 && text.bytes().all(allowed)).then(|| PortRef::Name(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings() {
        let plain = Entry {
            service: ObjectName::new("db", "pg"),
            port: PortRef::Number(5432),
            encryption: Encryption::Off,
            accept_proxy: false,
            send_proxy: None,
        };
        let secret = |name| Encryption::Secret(name);
        for (text, entry) in [
            ("db/pg:5432", plain.clone()),
            (" db/pg:5432:: ", plain.clone()),
            ("db/pg:sql", Entry { port: PortRef::Name("sql".into()), ..plain.clone() }),
            ("db/pg:5432:ssl", Entry { encryption: Encryption::Listed, ..plain.clone() }),
            ("db/pg:5432:PROXY", Entry { accept_proxy: true, ..plain.clone() }),
            ("db/pg:5432::PROXY-V1", Entry { send_proxy: Some(ProxyProtocol::V1), ..plain.clone() }),
            (
                "db/pg:5432:PROXY:PROXY:tls/pg:-",
                Entry {
                    accept_proxy: true,
                    send_proxy: Some(ProxyProtocol::V2),
                    encryption: secret(Ok(ObjectName::new("tls", "pg"))),
                    ..plain.clone()
                },
            ),
            ("db/pg:5432:::pg-tls", Entry { encryption: secret(Err("pg-tls".into())), ..plain.clone() }),
            (
                "db/pg:5432:ssl::proxy-v2",
                Entry { encryption: Encryption::Listed, send_proxy: Some(ProxyProtocol::V2), ..plain },
            ),
        ] {
            assert_eq!(parse(text), Ok(entry), "{text}");
        }
    }

    #[test]
    fn bad_entries() {
        for text in [
            "",
            "pg:5432",
            "db/pg",
            "db/pg:",
            "db/pg:0",
            "db/pg:65536",
            "db/pg:a b",
            "db/pg:5432:tls",
            "db/pg:5432:PROXY-V2",
            "db/pg:5432:PROXY:v2",
            "db/pg:5432:::a/b/c",
            "db/pg:5432::::2s",
            "db/pg:5432:::pg:-:ca",
            "db/pg\nbackend x:5432",
            "db/pg:5432\n:ssl x",
            "a/b/c:1",
            "%[x]/y:1",
            "db/\0:1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
