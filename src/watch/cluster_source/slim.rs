//! Objects that are made slim while the answer of the API server is parsed: one object exists in full at a time, so a list
//! of thousands costs its text and the slim objects. kube's watcher sees them as the resource that they come from.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::cluster::{Object, ObjectName};
use crate::watch::convert::{Convert, name_of};

/// What is kept of one object in an answer.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Namespace and name.
    pub(super) name: ObjectName,
    /// `metadata.resourceVersion` when it is a number, which Kubernetes guarantees from 1.35 on and etcd always gave.
    pub(super) version: Option<u64>,
    /// The slim object; `None` when it is of no use.
    pub(super) object: Option<Object>,
}

/// An [`Item`] that passes for a `K`.
pub(super) struct Slim<K> {
    /// Only the resource version, from which the watcher resumes.
    meta: ObjectMeta,
    item: Item,
    kind: PhantomData<fn() -> K>,
}

impl<K> Slim<K> {
    pub(super) fn into_item(self) -> Item {
        self.item
    }
}

impl<'de, K> Deserialize<'de> for Slim<K>
where
    K: Convert + Resource<DynamicType = ()> + DeserializeOwned,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut full = K::deserialize(deserializer)?;
        let resource_version = full.meta_mut().resource_version.take();
        let item = Item {
            name: name_of(full.meta()),
            version: resource_version.as_deref().and_then(|version| version.parse().ok()),
            object: full.convert(),
        };
        let meta = ObjectMeta { resource_version, ..ObjectMeta::default() };
        Ok(Self { meta, item, kind: PhantomData })
    }
}

impl<K: Resource<DynamicType = ()>> Resource for Slim<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn kind(dt: &()) -> Cow<'_, str> {
        K::kind(dt)
    }

    fn group(dt: &()) -> Cow<'_, str> {
        K::group(dt)
    }

    fn version(dt: &()) -> Cow<'_, str> {
        K::version(dt)
    }

    fn plural(dt: &()) -> Cow<'_, str> {
        K::plural(dt)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

impl<K> Clone for Slim<K> {
    fn clone(&self) -> Self {
        Self { meta: self.meta.clone(), item: self.item.clone(), kind: PhantomData }
    }
}

impl<K> fmt::Debug for Slim<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.item.fmt(f)
    }
}
