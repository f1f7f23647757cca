//! `auth-url`.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use crate::cluster::PortRef;
use crate::options::{Chapter, Effect, Entry, Key, Scope, Wrong};

/// Who is asked whether a request may pass; `None`: nobody.
pub static AUTH_URL: Key<Option<AuthUrl>> = Key {
    entry: Entry {
        name: "auth-url",
        aliases: &[],
        chapter: Chapter::Access,
        scopes: &[Scope::Service, Scope::Ingress, Scope::ConfigMap],
        allowed: "a URL such as `http://NAME.NAMESPACE.svc:PORT/PATH`, `svc://NAMESPACE/NAME:PORT/PATH` or `https://HOST/PATH`, \
                  or `off`",
        default: "`off`",
        docs: "Asks a service about every request to the path, without the body, before anything is rewritten. An answer of 2xx \
               lets the request pass; 401 and 403 go to the client (see `auth-signin`); anything else, no answer within \
               `auth-timeout`, a missing Service, and a value that is not allowed close the path: it answers 503. A host \
               `NAME.NAMESPACE.svc` is a Service, also of another namespace, reached at its endpoints, in clear text unless \
               keys of that Service say otherwise. Other hosts are resolved by DNS; with `https` their certificate must \
               be valid for the host (2.2 cannot verify it and answers 503). `off` on an Ingress frees it from an `auth-url` of the ConfigMap. HAProxy must be \
               built with Lua, as the official images and Debian's packages are.",
        example: "http://oauth2-proxy.auth.svc.cluster.local:4180/oauth2/auth",
        effect: Effect::Reload,
    },
    parse,
};

/// Who is asked, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthUrl {
    /// Where.
    pub place: AuthPlace,
    /// Over TLS.
    pub tls: bool,
    /// The Host header.
    pub host: Arc<str>,
    /// Path and query.
    pub path: Arc<str>,
}

/// Where the service is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthPlace {
    /// A Service; without namespace in that of the object that says so.
    Service {
        /// Namespace.
        namespace: Option<Arc<str>>,
        /// Name.
        name: Arc<str>,
        /// Port of the Service.
        port: PortRef,
    },
    /// A DNS name, lower case.
    Name(Arc<str>, u16),
    /// An address.
    Address(IpAddr, u16),
}

/// What may stand in a URL (RFC 3986); no braces, which mark placeholders, and no fragment.
pub(super) fn is_url_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()*+,;=%".contains(&byte)
}

fn parse(text: &str) -> Result<Option<AuthUrl>, Wrong> {
    const LONGEST: usize = 2048;
    if text.eq_ignore_ascii_case("off") {
        return Ok(None);
    }
    if text.len() > LONGEST {
        return Err(Wrong::because("it is longer than 2048 bytes"));
    }
    if text.contains('$') {
        return Err(Wrong::because(
            "it cannot hold variables; the original URL is in the header `X-Original-URL`",
        ));
    }
    if let Some(byte) = text.bytes().find(|byte| !is_url_byte(*byte)) {
        return Err(Wrong::because(format!("`{}` is not allowed in it", byte.escape_ascii())));
    }
    let (scheme, rest) = text.split_once("://").ok_or(Wrong::PLAIN)?;
    if scheme == "svc" {
        return service(rest).map(Some);
    }
    let tls = match scheme {
        "http" => false,
        "https" => true,
        _ => return Err(Wrong::PLAIN),
    };
    let (authority, path) = split_path(rest);
    if authority.contains('@') {
        return Err(Wrong::because("it cannot hold a user and a password"));
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, number(port)?),
        _ => (authority, if tls { 443 } else { 80 }),
    };
    let place = place(&host.to_ascii_lowercase(), port)?;
    if tls && matches!(place, AuthPlace::Address(..)) {
        return Err(Wrong::because("with `https` its host must be a name: HAProxy verifies no addresses"));
    }
    Ok(Some(AuthUrl { place, tls, host: authority.to_ascii_lowercase().into(), path }))
}

/// `NAMESPACE/NAME:PORT/PATH` or `NAME:PORT/PATH`.
fn service(text: &str) -> Result<AuthUrl, Wrong> {
    let before_port = text.split(':').next().unwrap_or(text);
    let (namespace, rest) = match before_port.split_once('/') {
        Some((namespace, _)) => (Some(namespace), &text[namespace.len() + 1..]),
        None => (None, text),
    };
    let (authority, path) = split_path(rest);
    let (name, port) = authority.split_once(':').ok_or_else(|| Wrong::because("the port is missing"))?;
    if !namespace.is_none_or(is_label) || !is_label(name) {
        return Err(Wrong::PLAIN);
    }
    let port_ref = match port.parse() {
        Ok(0) => return Err(Wrong::PLAIN),
        Ok(number) => PortRef::Number(number),
        Err(_) if is_label(port) && !port.bytes().all(|b| b.is_ascii_digit()) => PortRef::Name(port.into()),
        Err(_) => return Err(Wrong::PLAIN),
    };
    // The name of a port is none of a Host header.
    let host = match (namespace, &port_ref) {
        (Some(namespace), PortRef::Number(_)) => format!("{name}.{namespace}.svc:{port}"),
        (Some(namespace), PortRef::Name(_)) => format!("{name}.{namespace}.svc"),
        (None, PortRef::Number(_)) => format!("{name}:{port}"),
        (None, PortRef::Name(_)) => name.to_owned(),
    };
    let place =
        AuthPlace::Service { namespace: namespace.map(Into::into), name: name.into(), port: port_ref };
    Ok(AuthUrl { place, tls: false, host: host.into(), path })
}

fn split_path(text: &str) -> (&str, Arc<str>) {
    let end = text.find(['/', '?']).unwrap_or(text.len());
    let (authority, path) = text.split_at(end);
    (authority, if path.starts_with('/') { path.into() } else { format!("/{path}").into() })
}

fn number(text: &str) -> Result<u16, Wrong> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|port| digits && *port > 0)
        .ok_or_else(|| Wrong::because("the port is no number from 1 to 65535"))
}

fn place(host: &str, port: u16) -> Result<AuthPlace, Wrong> {
    if let Some(literal) = host.strip_prefix('[') {
        let literal = literal.strip_suffix(']').and_then(|text| text.parse::<Ipv6Addr>().ok());
        return literal.map(|v6| AuthPlace::Address(v6.into(), port)).ok_or(Wrong::PLAIN);
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(AuthPlace::Address(address, port));
    }
    let labels: Vec<&str> = host.split('.').collect();
    if host.len() > 253 || !labels.iter().all(|label| is_label(label)) {
        return Err(Wrong::because("its host is no name and no address"));
    }
    match labels.as_slice() {
        ["localhost"] => Ok(AuthPlace::Name(host.into(), port)),
        [name, namespace, "svc"] | [name, namespace, "svc", "cluster", "local"] => Ok(AuthPlace::Service {
            namespace: Some((*namespace).into()),
            name: (*name).into(),
            port: PortRef::Number(port),
        }),
        [_] => Err(Wrong::because("a Service is written as `NAME.NAMESPACE.svc`")),
        // A resolver may take an address in such a spelling for one (RFC 3986 section 7.4).
        [.., last] if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") => {
            Err(Wrong::because("its host is no name and no address"))
        }
        _ => Ok(AuthPlace::Name(host.into(), port)),
    }
}

/// A label of a DNS name (RFC 1123), lower case.
fn is_label(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty()
        && text.len() <= 63
        && text.bytes().all(allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let Some(AuthUrl { place, tls, host, path }) = parse(text).unwrap() else { return "off".to_owned() };
        let place = match place {
            AuthPlace::Service { namespace, name, port } => {
                format!("{}/{name} {port:?}", namespace.as_deref().unwrap_or("."))
            }
            AuthPlace::Name(name, port) => format!("{name} {port}"),
            AuthPlace::Address(address, port) => format!("{address} {port}"),
        };
        format!("{place} {host} {path}{}", if tls { " tls" } else { "" })
    }

    #[test]
    fn urls() {
        for (text, expected) in [
            ("off", "off"),
            ("http://a.b.svc.cluster.local:4180/x?y=z", "b/a Number(4180) a.b.svc.cluster.local:4180 /x?y=z"),
            ("http://a.b.svc", "b/a Number(80) a.b.svc /"),
            ("svc://b/a:4180/x", "b/a Number(4180) a.b.svc:4180 /x"),
            ("svc://b/a:http", "b/a Name(\"http\") a.b.svc /"),
            ("svc://a:80?q", "./a Number(80) a:80 /?q"),
            ("svc://a:80/x/y:z", "./a Number(80) a:80 /x/y:z"),
            ("https://SSO.example.org/check", "sso.example.org 443 sso.example.org /check tls"),
            ("http://192.0.2.1:8080", "192.0.2.1 8080 192.0.2.1:8080 /"),
            ("http://[2001:db8::1]:8443/", "2001:db8::1 8443 [2001:db8::1]:8443 /"),
            ("http://[::1]/", "::1 80 [::1] /"),
            ("http://localhost:1/", "localhost 1 localhost:1 /"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn wrong_values() {
        let long = format!("http://a.b/{}", "x".repeat(3000));
        for text in [
            "",
            "a.b.svc",
            "ftp://a.b",
            "http://",
            "http:///x",
            "http://a",
            "http://a b.c/",
            "http://a.b:0/",
            "http://a.b:+1/",
            "http://a.b:99999/",
            "http://a.b:/",
            "http://u:p@a.b/",
            "http://a.b/\n",
            "http://a.b/#x",
            "http://a.b/$host",
            "http://a.b/\"",
            "http://a.b/%\0",
            "http://a_b.c/",
            "http://-a.b/",
            "http://ä.b/",
            "http://1.2/",
            "http://0x7f.0x1/",
            "http://2130706433/",
            "https://192.0.2.1/",
            "https://[::1]/",
            "http://[::1/",
            "http://[fe80::1%25eth0]/",
            "svc://a/b",
            "svc://A/b:80",
            "svc://a/b:0",
            "svc://a/b:80000",
            "svc:///b:80",
            "http://a.b/{x}",
            "http-request deny",
            &long,
        ] {
            assert!(parse(text).is_err(), "{text}: {:?}", parse(text));
        }
    }
}
