//! Snapshot × settings → (Model, Problems), incrementally. Pure: no IO, no clock.
//!
//! A changed object says, through the indexes, which units (routes, backends, certificates, global settings) it touches.
//! Each touched unit is then computed anew by one function, from the snapshot and the indexes only, so that the result does
//! not depend on how it came about. The first update is the same with everything touched.
#![deny(clippy::disallowed_methods)]

mod authority;
mod backends;
mod canary;
mod certificates;
mod class;
mod clients;
mod contest;
mod facts;
mod global;
mod host;
mod index;
mod key_pair;
mod notes;
mod passthrough;
mod pem;
mod policy;
mod problem_book;
mod routes;
mod servers;
mod translator;

pub use translator::{Translator, Update};

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::cluster::{ObjectName, Origin, PortRef};
use crate::model::Listeners;
use crate::problem::{Code, Problem, Severity};

/// What flags say about translation.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// `--controller-class`: `spec.controller` of the IngressClasses that are ours.
    pub controller_class: String,
    /// `--ingress-class`: serve only this class.
    pub ingress_class: Option<String>,
    /// `--empty-ingress-class`: serve Ingresses without class even when `--ingress-class` is set.
    pub empty_ingress_class: bool,
    /// `--default-backend-service`, with the port when given (else the first port of the Service).
    pub default_backend: Option<(ObjectName, Option<PortRef>)>,
    /// `--default-ssl-certificate`.
    pub default_certificate: Option<ObjectName>,
    /// PEM of the certificate used when `default_certificate` is not set or unusable.
    pub fallback_certificate: Bytes,
    /// `--configmap`.
    pub config_map: Option<ObjectName>,
    /// `--configmap-errorfiles`.
    pub error_files: Option<ObjectName>,
    /// `--configmap-patternfiles`.
    pub pattern_files: Option<ObjectName>,
    /// `--configmap-tcp-services`.
    pub tcp_services: Option<ObjectName>,
    /// `--publish-service`: its endpoints are the controllers that share the traffic.
    pub publish_service: Option<ObjectName>,
    /// ExternalName Services are served (not `--disable-service-external-name`).
    pub external_names: bool,
    /// Which configuration snippets count.
    pub snippets: SnippetRules,
    /// Listeners.
    pub listeners: Listeners,
    /// Endpoint addresses in 127.0.0.0/8 and ::1 are allowed (manifest mode only).
    pub loopback_endpoints: bool,
}

/// Which configuration snippets count (`--enable-config-snippets`, `--disable-config-snippets`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches, independent of each other")]
pub struct SnippetRules {
    /// `global-config-snippet`.
    pub global: bool,
    /// `frontend-config-snippet` and `stats-config-snippet`.
    pub frontend: bool,
    /// `backend-config-snippet` of the ConfigMap.
    pub backend: bool,
    /// `backend-config-snippet` of Services and Ingresses.
    pub tenants: bool,
}

impl Default for SnippetRules {
    /// What operators write counts, what tenants write does not.
    fn default() -> Self {
        Self { global: true, frontend: true, backend: true, tenants: false }
    }
}

/// A snippet that a flag switches off.
fn snippet_disabled(origin: Origin, kind: &str) -> Problem {
    Problem {
        origin,
        code: Code::SnippetDisabled,
        severity: Severity::Error,
        message: format!("the snippet has no effect: `--disable-config-snippets` switches `{kind}` off"),
        hint: format!(
            "remove `{kind}` (or `all`) from `--disable-config-snippets` in the chart value `controller.extraArgs`, or \
             remove the snippet"
        ),
    }
}

impl Settings {
    /// Settings where no flag says anything.
    pub fn new(controller_class: &str, listeners: Listeners, fallback_certificate: Bytes) -> Self {
        Self {
            controller_class: controller_class.to_owned(),
            ingress_class: None,
            empty_ingress_class: false,
            default_backend: None,
            default_certificate: None,
            fallback_certificate,
            config_map: None,
            error_files: None,
            pattern_files: None,
            tcp_services: None,
            publish_service: None,
            external_names: true,
            snippets: SnippetRules::default(),
            listeners,
            loopback_endpoints: false,
        }
    }

    /// The ConfigMaps that flags name.
    pub fn config_maps(&self) -> BTreeSet<ObjectName> {
        let named = [&self.config_map, &self.error_files, &self.pattern_files, &self.tcp_services];
        named.into_iter().flatten().cloned().collect()
    }
}

impl std::fmt::Debug for Settings {
    /// Without the fallback certificate, which holds a private key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("controller_class", &self.controller_class)
            .field("ingress_class", &self.ingress_class)
            .field("empty_ingress_class", &self.empty_ingress_class)
            .field("default_backend", &self.default_backend)
            .field("default_certificate", &self.default_certificate)
            .field("config_map", &self.config_map)
            .field("error_files", &self.error_files)
            .field("pattern_files", &self.pattern_files)
            .field("tcp_services", &self.tcp_services)
            .field("publish_service", &self.publish_service)
            .field("external_names", &self.external_names)
            .field("snippets", &self.snippets)
            .field("listeners", &self.listeners)
            .field("loopback_endpoints", &self.loopback_endpoints)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
