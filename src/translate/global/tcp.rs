//! TCP services, a port each: the ConfigMap that `--configmap-tcp-services` names.

mod entry;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::logs;
use super::{Context, Read};
use crate::cluster::{Kind, ObjectName, Origin};
use crate::model::global::tcp::{TcpService, Tls};
use crate::model::{Asset, AssetKind, Mode, Policy};
use crate::options::global::{LOG_FORMAT_TCP, tcp_log_line};
use crate::problem::{Code, Problem, Severity, excerpt};
use crate::translate::backends::{Target, resolve_service};
use crate::translate::key_pair::Parsed;
use crate::translate::notes::Notes;
use entry::{Encryption, Entry};

/// Code, message and hint of what is wrong with an entry.
type Wrong = (Code, String, String);

/// Reads the ConfigMap.
pub(super) fn read(context: &Context<'_>, read: &mut Read, notes: &mut Notes) {
    let Some(name) = &context.inputs.settings.tcp_services else { return };
    let Some(config_map) = context.inputs.snapshot.config_maps.get(name) else { return };
    let map = Origin::object(Kind::ConfigMap, name.clone());
    let mut formats = BTreeMap::new();
    let mut services: BTreeMap<u16, TcpService> = BTreeMap::new();
    for (key, value) in &config_map.data {
        let origin = map.at(key.clone());
        let done = match key.strip_prefix(LOG_FORMAT_TCP.entry.name) {
            Some(which) => format_of(which, value).map(|(port, line)| _ = formats.insert(port, line)),
            None => port_of(key, read, &services)
                .and_then(|port| Ok((port, service(context, read, &origin, value, notes)?)))
                .map(|(port, service)| _ = services.insert(port, service)),
        };
        if let Err((code, message, hint)) = done {
            notes.problems.push(Problem { origin, code, severity: Severity::Error, message, hint });
        }
    }
    for (port, service) in &mut services {
        let own = formats.get(&Some(*port)).or_else(|| formats.get(&None));
        service.log = own.cloned().map(logs::line);
    }
    read.global.tcp.services = services;
}

/// The port that a log format is for, `None` for all, and the format.
fn format_of(which: &str, text: &str) -> Result<(Option<u16>, crate::options::global::LogLine), Wrong> {
    let wrong = |message| {
        let hint = format!(
            "write for example `{}: \"{}\"`",
            LOG_FORMAT_TCP.entry.name, LOG_FORMAT_TCP.entry.example
        );
        (Code::ValueInvalid, message, hint)
    };
    let port = match which.strip_prefix('.') {
        None if which.is_empty() => None,
        Some(port) => Some(port.parse().map_err(|_| wrong(format!("`{}` is no port", port.escape_debug())))?),
        None => return Err(wrong("there is no such key".to_owned())),
    };
    let line = tcp_log_line(text.trim()).map_err(|because| {
        wrong(format!("the log format cannot be used: {}; `option tcplog` stays", because.0))
    })?;
    Ok((port, line))
}

/// The port that an entry is for.
fn port_of(key: &str, read: &Read, services: &BTreeMap<u16, TcpService>) -> Result<u16, Wrong> {
    let port = key.trim().parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(|| {
        let message = format!("`{}` is no port", excerpt(key, 60));
        (Code::TcpServiceInvalid, message, "name the entry by its port, for example `5432`".to_owned())
    })?;
    let listeners = &read.global.listeners;
    let ours = [listeners.http, listeners.https, Some(listeners.stats), Some(listeners.healthz)];
    if ours.contains(&Some(port)) || services.contains_key(&port) {
        return Err((
            Code::PortConflict,
            format!("port {port} belongs to another listener of HAProxy; the entry has no effect"),
            "choose a port that no other listener has".to_owned(),
        ));
    }
    Ok(port)
}

/// Reads an entry, and adds its backend.
fn service(
    context: &Context<'_>,
    read: &mut Read,
    origin: &Origin,
    value: &str,
    notes: &mut Notes,
) -> Result<TcpService, Wrong> {
    let entry = entry::parse(value).map_err(|reason| {
        let hint = "write `namespace/service:port`, with `:ssl` behind it for TLS".to_owned();
        (Code::TcpServiceInvalid, format!("the port is closed: {reason}"), hint)
    })?;
    let Entry { service: name, port, encryption, accept_proxy, send_proxy } = entry;
    read.services.insert(name.clone());
    let found = resolve_service(&name, Some(&port), context.inputs.snapshot)
        .map_err(|(code, message, hint)| (code, format!("{message}; the port is closed"), hint))?;
    let tls = match encryption {
        Encryption::Off => Tls::Off,
        Encryption::Listed => Tls::Listed,
        Encryption::Secret(secret) => Tls::Own(certificate(context, origin, &secret, notes)?),
    };
    let mut target = context.inputs.target(None, None, origin, found, notes);
    // Of what the Service says only the way to the servers counts: rules of HTTP mean nothing here.
    let mut servers = target.policy.servers.clone();
    servers.proxy_protocol = send_proxy.or(servers.proxy_protocol);
    let mut policy = Policy { mode: Mode::Tcp, servers, ..Policy::default() };
    policy.balance.clone_from(&target.policy.balance);
    target = Target { policy: Arc::new(policy), is_plain: false, ..target };
    let backend = target.name();
    read.targets.push(target);
    Ok(TcpService { origin: origin.clone(), backend, tls, accept_proxy, log: None })
}

/// The certificate of a Secret, as a file.
fn certificate(
    context: &Context<'_>,
    origin: &Origin,
    secret: &Result<ObjectName, Arc<str>>,
    notes: &mut Notes,
) -> Result<Asset, Wrong> {
    let name = match secret {
        Ok(name) => name.clone(),
        Err(here) => ObjectName::new(origin.object.name.namespace.clone(), here.clone()),
    };
    notes.secrets.insert(name.clone());
    let mut parsed = Parsed::default();
    parsed.refresh(context.inputs.snapshot.secrets.get(&name));
    match &parsed {
        Parsed::Missing => Err((
            Code::SecretNotFound,
            format!("Secret `{name}` does not exist; the port is closed"),
            "create the Secret (type `kubernetes.io/tls`)".to_owned(),
        )),
        Parsed::Read(_, Err(reason)) => Err((
            Code::CertificateInvalid,
            format!("Secret `{name}` cannot be used: {reason}; the port is closed"),
            "put the certificate chain into `tls.crt` and its private key into `tls.key`, both PEM"
                .to_owned(),
        )),
        Parsed::Read(_, Ok(pair)) => {
            let stem = format!("{}_{}", name.namespace, name.name);
            Ok(Asset::new(AssetKind::KeyPair, &stem, pair.pem.clone()))
        }
    }
}
