//! Snapshot × settings → (Model, Problems), incrementally. Pure: no IO, no clock.
//!
//! A changed object says, through the indexes, which units (routes, backends, certificates, global settings) it touches.
//! Each touched unit is then computed anew by one function, from the snapshot and the indexes only, so that the result does
//! not depend on how it came about. The first update is the same with everything touched.
#![deny(clippy::disallowed_methods)]

mod backends;
mod certificates;
mod class;
mod facts;
mod host;
mod index;
mod key_pair;
mod pem;
mod problem_book;
mod routes;
mod servers;
mod translator;

pub use translator::{Translator, Update};

use bytes::Bytes;

use crate::cluster::{ObjectName, PortRef};
use crate::model::Listeners;

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
    /// Listeners.
    pub listeners: Listeners,
    /// Endpoint addresses in 127.0.0.0/8 and ::1 are allowed (manifest mode only).
    pub loopback_endpoints: bool,
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
            .field("listeners", &self.listeners)
            .field("loopback_endpoints", &self.loopback_endpoints)
            .finish_non_exhaustive()
    }
}

/// What the ConfigMap says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ConfigOptions {
    ssl_redirect: Option<bool>,
    server_slots: Option<u16>,
}

#[cfg(test)]
mod tests;
