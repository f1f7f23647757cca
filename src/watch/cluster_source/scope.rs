//! Which objects one watch covers, and how that is asked of the API server.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use kube::runtime::watcher;

use super::ClusterOptions;
use crate::cluster::{Kind, ObjectName, Origin};
use crate::watch::convert::SERVICE_LABEL;

/// Objects per page of a list: bounds the memory for the text of an answer, at the cost of a request each.
const PAGE: u32 = 500;
/// A watch starts anew after this time. That is when a connection that died silently (a failed node, a load balancer that forgot it)
/// or a role that was taken away is noticed; the API server sends a bookmark before, so nothing is listed again.
const WATCH_SECONDS: u32 = 60;

/// What one watch covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// All namespaces (or a cluster-scoped kind).
    All,
    /// One namespace.
    Namespace(Arc<str>),
    /// One object.
    Object(ObjectName),
    /// The slices of one Service.
    SlicesOf(ObjectName),
}

/// One watch: a kind and what it covers of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scope {
    pub(super) kind: Kind,
    pub(super) extent: Extent,
}

impl Scope {
    pub(super) fn object(kind: Kind, name: &ObjectName) -> Self {
        Self { kind, extent: Extent::Object(name.clone()) }
    }

    /// The namespace to ask in.
    pub(super) fn namespace(&self) -> Option<&str> {
        match &self.extent {
            Extent::All => None,
            Extent::Namespace(namespace) => Some(namespace),
            Extent::Object(name) | Extent::SlicesOf(name) => Some(&name.namespace),
        }
    }

    /// A list of this scope is all there is of the kind in the namespace; else it says nothing about other objects.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.extent, Extent::All | Extent::Namespace(_))
    }

    /// Where problems of this watch are said to be.
    pub(super) fn origin(&self) -> Origin {
        let name = match &self.extent {
            Extent::All => ObjectName::cluster("*"),
            Extent::Namespace(namespace) => ObjectName::new(namespace.clone(), "*"),
            Extent::Object(name) | Extent::SlicesOf(name) => name.clone(),
        };
        Origin::object(self.kind, name)
    }

    /// What to ask for. A list is a consistent read (not one from any cache): after the loss of a watch an older state
    /// must not come back.
    pub(super) fn config(&self, blacklist: &BTreeSet<String>) -> watcher::Config {
        let mut fields = Vec::new();
        if self.extent == Extent::All && self.kind != Kind::IngressClass {
            fields.extend(blacklist.iter().map(|namespace| format!("metadata.namespace!={namespace}")));
        }
        if let Extent::Object(name) = &self.extent {
            fields.push(format!("metadata.name={}", name.name));
        } else if self.kind == Kind::Secret {
            fields.push("type!=helm.sh/release.v1".to_owned());
        }
        let mut config = watcher::Config::default().page_size(PAGE).timeout(WATCH_SECONDS);
        if !fields.is_empty() {
            config = config.fields(&fields.join(","));
        }
        if let Extent::SlicesOf(service) = &self.extent {
            config = config.labels(&format!("{SERVICE_LABEL}={}", service.name));
        }
        config
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin().fmt(f)
    }
}

/// Which namespaces are watched.
#[derive(Debug, Clone)]
pub(super) struct Namespaces {
    listed: Option<BTreeSet<String>>,
    blacklist: BTreeSet<String>,
}

impl Namespaces {
    pub(super) fn new(options: &ClusterOptions) -> Self {
        Self { listed: options.namespaces.clone(), blacklist: options.blacklist.clone() }
    }

    pub(super) fn contains(&self, namespace: &str) -> bool {
        self.listed.as_ref().is_none_or(|listed| listed.contains(namespace))
            && !self.blacklist.contains(namespace)
    }

    /// One extent for all namespaces, or one for each.
    pub(super) fn extents(&self) -> Vec<Extent> {
        match &self.listed {
            None => vec![Extent::All],
            Some(listed) => listed
                .difference(&self.blacklist)
                .map(|namespace| Extent::Namespace(Arc::from(namespace.as_str())))
                .collect(),
        }
    }
}
