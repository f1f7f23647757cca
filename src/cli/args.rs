//! Flags, as typed; [`RunArgs`] is turned into typed settings before anything starts.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use clap::Args;

use crate::cluster::{ObjectName, PortRef};
use crate::translate::SnippetRules;

/// Where objects come from and which of them are served; shared by `run` and `render`.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// Read manifests (files or folders of YAML) instead of a cluster; they are watched while running.
    #[arg(long, num_args = 1.., value_name = "PATH", help_heading = "Sources", value_hint = clap::ValueHint::AnyPath)]
    pub manifests: Vec<PathBuf>,
    /// Kubeconfig file [default: $KUBECONFIG, ~/.kube/config, or the pod's service account].
    #[arg(long, value_name = "FILE", help_heading = "Sources", value_hint = clap::ValueHint::FilePath)]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig.
    #[arg(long, value_name = "NAME", help_heading = "Sources")]
    pub context: Option<String>,
    /// Watch one namespace only.
    #[arg(long, value_name = "NAMESPACE", help_heading = "Sources", conflicts_with = "namespace_whitelist")]
    pub watch_namespace: Option<String>,
    /// Watch only these namespaces (repeatable).
    #[arg(long, value_name = "NAMESPACE", help_heading = "Sources", value_delimiter = ',')]
    pub namespace_whitelist: Vec<String>,
    /// Watch all namespaces but these (repeatable).
    #[arg(long, value_name = "NAMESPACE", help_heading = "Sources", value_delimiter = ',')]
    pub namespace_blacklist: Vec<String>,
    /// The `spec.controller` of the IngressClasses to serve.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "outrigger.dev/ingress-controller",
        help_heading = "Sources"
    )]
    pub controller_class: String,
    /// Serve only this IngressClass (also the old class annotation).
    #[arg(long, alias = "ingress.class", value_name = "NAME", help_heading = "Sources")]
    pub ingress_class: Option<String>,
    /// With --ingress-class: serve Ingresses without any class, too.
    #[arg(long, help_heading = "Sources")]
    pub empty_ingress_class: bool,
    /// The ConfigMap with global settings.
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = object_name, help_heading = "Sources")]
    pub configmap: Option<ObjectName>,
    /// The ConfigMap with error pages: status → whole response, or the body of one.
    #[arg(long, alias = "configmap-errorfile", value_name = "NAMESPACE/NAME", value_parser = object_name, help_heading = "Sources")]
    pub configmap_errorfiles: Option<ObjectName>,
    /// The ConfigMap with pattern files, which lists and snippets name as `patterns/FILE`: file name → one pattern a line.
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = object_name, help_heading = "Sources")]
    pub configmap_patternfiles: Option<ObjectName>,
    /// The ConfigMap with TCP services: port → `namespace/service:port[:ssl]`.
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = object_name, help_heading = "Sources")]
    pub configmap_tcp_services: Option<ObjectName>,
    /// The Service that publishes the controllers: its endpoints share rate limits.
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = object_name, help_heading = "Sources")]
    pub publish_service: Option<ObjectName>,
    /// Answer paths to Services of type ExternalName with 503.
    #[arg(long, help_heading = "Sources")]
    pub disable_service_external_name: bool,
    /// Let Services and Ingresses bring raw HAProxy configuration (`backend-config-snippet`).
    #[arg(long, help_heading = "Sources")]
    pub enable_config_snippets: bool,
    /// Ignore raw configuration of these kinds, wherever it is written (repeatable).
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',', help_heading = "Sources")]
    pub disable_config_snippets: Vec<SnippetKind>,
    /// Service for requests that match nothing, in place of HAProxy's own 404.
    #[arg(long, value_name = "NAMESPACE/NAME[:PORT]", value_parser = service_port, help_heading = "Sources")]
    pub default_backend_service: Option<(ObjectName, Option<PortRef>)>,
    /// Secret with the certificate for clients whose server name matches no other [default: a self-signed one].
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = object_name, help_heading = "Sources")]
    pub default_ssl_certificate: Option<ObjectName>,
}

/// Kinds of raw configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SnippetKind {
    /// All of them.
    All,
    /// `global-config-snippet`.
    Global,
    /// `frontend-config-snippet` and `stats-config-snippet`.
    Frontend,
    /// `backend-config-snippet`.
    Backend,
}

impl SourceArgs {
    /// Which raw configuration counts: switching off wins over switching on.
    pub(super) fn snippet_rules(&self) -> SnippetRules {
        let off = |kind| self.disable_config_snippets.iter().any(|k| *k == kind || *k == SnippetKind::All);
        let backend = !off(SnippetKind::Backend);
        SnippetRules {
            global: !off(SnippetKind::Global),
            frontend: !off(SnippetKind::Frontend),
            backend,
            tenants: backend && self.enable_config_snippets,
        }
    }
}

/// Where HAProxy listens.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the command line")]
pub struct ListenerArgs {
    /// HTTP port.
    #[arg(long, value_name = "PORT", default_value_t = 8080, help_heading = "Listeners")]
    pub http_bind_port: u16,
    /// HTTPS port.
    #[arg(long, value_name = "PORT", default_value_t = 8443, help_heading = "Listeners")]
    pub https_bind_port: u16,
    /// Port of the statistics page (`/`) and HAProxy's exporter (`/metrics`).
    #[arg(long, value_name = "PORT", default_value_t = 1024, help_heading = "Listeners")]
    pub stats_bind_port: u16,
    /// Port of HAProxy's own health endpoint (`/healthz`, `/readyz`).
    #[arg(long, value_name = "PORT", default_value_t = 1042, help_heading = "Listeners")]
    pub healthz_bind_port: u16,
    /// IPv4 address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::UNSPECIFIED, help_heading = "Listeners")]
    pub ipv4_bind_address: Ipv4Addr,
    /// IPv6 address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv6Addr::UNSPECIFIED, help_heading = "Listeners")]
    pub ipv6_bind_address: Ipv6Addr,
    /// Do not listen on IPv4 [default: families that the machine has].
    #[arg(long, help_heading = "Listeners")]
    pub disable_ipv4: bool,
    /// Do not listen on IPv6 [default: families that the machine has].
    #[arg(long, help_heading = "Listeners")]
    pub disable_ipv6: bool,
    /// No HTTP listener.
    #[arg(long, help_heading = "Listeners")]
    pub disable_http: bool,
    /// No HTTPS listener.
    #[arg(long, help_heading = "Listeners")]
    pub disable_https: bool,
}

/// Flags of `run`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the command line")]
pub struct RunArgs {
    /// Objects.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Ports and addresses.
    #[command(flatten)]
    pub listeners: ListenerArgs,
    /// Start HAProxy here, as a child, instead of driving one in another container.
    #[arg(short, long, help_heading = "HAProxy")]
    pub external: bool,
    /// The HAProxy program for --external.
    #[arg(long, value_name = "PROGRAM", default_value = "haproxy", help_heading = "HAProxy")]
    pub program: PathBuf,
    /// Master CLI socket of the HAProxy to drive [default: RUNTIME_DIR/master.sock].
    #[arg(long, value_name = "PATH", help_heading = "HAProxy", conflicts_with = "external")]
    pub master_socket: Option<PathBuf>,
    /// Folder of the configuration [default: /etc/haproxy, /tmp/outrigger/etc with --external].
    #[arg(long, value_name = "DIR", help_heading = "HAProxy", value_hint = clap::ValueHint::DirPath)]
    pub config_dir: Option<PathBuf>,
    /// Folder of certificates and lists [default: /var/lib/haproxy, CONFIG_DIR/state with --external].
    #[arg(long, value_name = "DIR", help_heading = "HAProxy", value_hint = clap::ValueHint::DirPath)]
    pub state_dir: Option<PathBuf>,
    /// Folder of sockets [default: /var/run/haproxy, /tmp/outrigger/run with --external].
    #[arg(long, value_name = "DIR", help_heading = "HAProxy", value_hint = clap::ValueHint::DirPath)]
    pub runtime_dir: Option<PathBuf>,
    /// Shortest time between two reloads; live changes never wait.
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = duration, help_heading = "HAProxy")]
    pub reload_interval: std::time::Duration,
    /// With --external: how long HAProxy may finish its requests at the end.
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = duration, help_heading = "HAProxy")]
    pub grace_period: std::time::Duration,
    /// Address that Ingresses are reached at, for their status (repeatable) [default: those of --publish-service, else of the nodes].
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', help_heading = "Controller")]
    pub publish_address: Vec<String>,
    /// Do not write the status of Ingresses.
    #[arg(long, help_heading = "Controller")]
    pub disable_ingress_status_update: bool,
    /// Take addresses out of the status of Ingresses when the controller that leads stops.
    #[arg(long, help_heading = "Controller")]
    pub clear_status_on_exit: bool,
    /// Name of the Lease by which the controllers choose who writes status and Events.
    #[arg(long, value_name = "NAME", default_value = "outrigger-leader", help_heading = "Controller")]
    pub election_id: String,
    /// Name of this pod. Status and Events are written when it is given, or --publish-service or --publish-address.
    #[arg(long, value_name = "NAME", env = "POD_NAME", help_heading = "Controller")]
    pub pod_name: Option<String>,
    /// Namespace of this pod, where the Lease is [default: that of the kubeconfig].
    #[arg(long, value_name = "NAMESPACE", env = "POD_NAMESPACE", help_heading = "Controller")]
    pub pod_namespace: Option<String>,
    /// Show metrics of the controller on its port (`/metrics`).
    #[arg(long, help_heading = "Controller")]
    pub prometheus: bool,
    /// Show profiles of the controller on its port (`/debug/pprof/`, for `go tool pprof`).
    #[arg(long, help_heading = "Controller")]
    pub pprof: bool,
    /// Port of the controller's own endpoint (`/` for its state, `/livez`); 0 turns it off.
    #[arg(long, value_name = "PORT", default_value_t = 6060, help_heading = "Controller")]
    pub controller_port: u16,
    /// Port of the built-in default backend (404 page, `/healthz`); 0 turns it off.
    #[arg(long, value_name = "PORT", default_value_t = 6061, help_heading = "Controller")]
    pub default_backend_port: u16,
    /// Accepted and not needed: changes are applied when they happen, not periodically.
    #[arg(long, value_name = "DURATION", help_heading = "Controller")]
    pub sync_period: Option<String>,
    /// Log format.
    #[arg(long, value_enum, default_value_t = super::logging::Format::Text, help_heading = "Logging")]
    pub log_format: super::logging::Format,
    /// Log filter: error, warn, info, debug, trace, or per module as in RUST_LOG.
    #[arg(
        long,
        alias = "log",
        value_name = "FILTER",
        default_value = "info",
        env = "RUST_LOG",
        help_heading = "Logging"
    )]
    pub log_level: String,
}

impl std::ops::Deref for RunArgs {
    type Target = ListenerArgs;

    fn deref(&self) -> &ListenerArgs {
        &self.listeners
    }
}

/// A second signal: ends the process without order.
#[expect(clippy::exit, reason = "a second SIGTERM asks for exactly this")]
pub(super) fn end_at_once() -> ! {
    std::process::exit(130)
}

fn object_name(text: &str) -> Result<ObjectName, String> {
    ObjectName::parse(text).ok_or_else(|| "expected namespace/name, for example ingress/outrigger".to_owned())
}

fn service_port(text: &str) -> Result<(ObjectName, Option<PortRef>), String> {
    let (name, port) = match text.split_once(':') {
        None => (text, None),
        Some((name, port)) if !port.is_empty() => {
            (name, Some(port.parse().map_or_else(|_| PortRef::Name(port.into()), PortRef::Number)))
        }
        Some(_) => return Err("expected a port number or name behind the colon".to_owned()),
    };
    Ok((object_name(name)?, port))
}

/// Parses a duration with a unit: `500ms`, `20s`, `5m`.
fn duration(text: &str) -> Result<std::time::Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("expected a number with a unit (ms, s, m or h), for example 500ms".to_owned()),
    };
    let number: u64 =
        number.parse().map_err(|_| "expected a number with a unit, for example 500ms".to_owned())?;
    number.checked_mul(factor).map(std::time::Duration::from_millis).ok_or_else(|| "too long".to_owned())
}

/// Prints clap's message (help and version go to stdout) and ends with its code: 0 for help, 2 for mistakes.
pub(super) fn explain_and_exit(error: &clap::Error) -> ! {
    error.exit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("500ms"), Ok(std::time::Duration::from_millis(500)));
        assert_eq!(duration("5m"), Ok(std::time::Duration::from_mins(5)));
        for bad in ["5", "s", "", "-1s", "5 s", "99999999999999999999s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_default_backend_may_name_its_port() {
        let name = ObjectName::new("a", "b");
        assert_eq!(service_port("a/b"), Ok((name.clone(), None)));
        assert_eq!(service_port("a/b:80"), Ok((name.clone(), Some(PortRef::Number(80)))));
        assert_eq!(service_port("a/b:web"), Ok((name, Some(PortRef::Name("web".into())))));
        assert!(service_port("a/b:").is_err());
        assert!(service_port("b").is_err());
    }
}
