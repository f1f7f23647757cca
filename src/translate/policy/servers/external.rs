//! Services of type ExternalName: a server outside of the cluster, which HAProxy resolves.

use std::net::IpAddr;

use super::super::Context;
use crate::cluster::{Kind, Origin};
use crate::model::Need;
use crate::model::policy::servers::{External, ExternalHost, ServerPolicy};
use crate::problem::{Code, Problem, Severity, excerpt};
use crate::translate::host::parse_host;
use crate::translate::notes::Notes;
use crate::translate::servers::refusal;

/// Reads `spec.externalName`.
pub(super) fn read(context: &Context<'_>, servers: &mut ServerPolicy, notes: &mut Notes) {
    let Some(path) = context.path else { return };
    let Some(name) = path.service.external_name.as_deref() else { return };
    let mut refuse = |code, message: String, hint: &str| {
        servers.refused = true;
        notes.problems.push(Problem {
            origin: Origin::object(Kind::Service, path.service.name.clone()).at("spec.externalName"),
            code,
            severity: Severity::Error,
            message: format!("{message}; requests are answered with 503"),
            hint: hint.to_owned(),
        });
    };
    if !context.settings.external_names {
        return refuse(
            Code::BackendNotSupported,
            format!("Service `{}` is of type ExternalName, which is switched off", path.service.name),
            "use a Service with endpoints, or start without `--disable-service-external-name`",
        );
    }
    match host(name, context.settings.loopback_endpoints) {
        Ok(host) => {
            if matches!(host, ExternalHost::Name(_)) {
                notes.needs.insert(Need::Resolvers);
            }
            servers.external = Some(External { host, port: path.port.port });
        }
        Err(reason) => refuse(
            Code::EndpointRefused,
            format!("`{}` gets no traffic: {reason}", excerpt(name, 60)),
            "write the DNS name of another host",
        ),
    }
}

/// A name or an address that does not lead HAProxy to itself, to the node, or to a metadata service.
fn host(text: &str, loopback: bool) -> Result<ExternalHost, String> {
    if let Ok(address) = text.parse::<IpAddr>() {
        let address = address.to_canonical();
        return match refusal(address, loopback) {
            Some(reason) => Err(format!("the address is {reason}")),
            None => Ok(ExternalHost::Address(address)),
        };
    }
    let host = parse_host(text.strip_suffix('.').unwrap_or(text))?;
    if host.starts_with("*.") {
        return Err("a wildcard is no host".to_owned());
    }
    let last = host.rsplit('.').next().unwrap_or_default();
    // `127.1` and `0x7f000001` are addresses to the C library.
    if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") {
        return Err("the end of a name is not a number".to_owned());
    }
    let local = ["localhost", "ip6-localhost", "ip6-loopback"];
    if !loopback && (local.contains(&last) || host.split('.').any(|label| label == "localhost")) {
        return Err("the name is loopback".to_owned());
    }
    Ok(ExternalHost::Name(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_outside() {
        for name in ["example.org", "a.b.svc.cluster.local", "Example.ORG.", "localhost.example.org.x"] {
            let expected = name.trim_end_matches('.').to_ascii_lowercase();
            let found = host(name, name.starts_with("localhost"));
            assert_eq!(found, Ok(ExternalHost::Name(expected.into())), "{name}");
        }
        assert_eq!(host("192.0.2.1", false), Ok(ExternalHost::Address(IpAddr::from([192, 0, 2, 1]))));
    }

    #[test]
    fn hosts_that_are_refused() {
        for name in [
            "",
            ".",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "localhost.localdomain",
            "127.0.0.1",
            "::1",
            "::ffff:127.0.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "127.1",
            "2130706433",
            "0x7f.0x1",
            "*.example.org",
            "a b",
            "a:80",
            "a\nserver x 127.0.0.1:1",
            "a#b",
            "${HOME}",
        ] {
            assert!(host(name, false).is_err(), "{name}");
        }
        assert!(host("localhost", true).is_ok(), "manifests may lead to this machine");
    }
}
