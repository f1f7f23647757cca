//! Secret and ConfigMap.

use std::sync::Arc;

use bytes::Bytes;
use k8s_openapi::api::core::v1 as api;

use super::{Convert, name_of, names::shared};
use crate::cluster::{ConfigMap, Object, Secret};

impl Convert for api::Secret {
    fn convert(self) -> Option<Object> {
        let data = self.data.into_iter().flatten().map(|(key, value)| (key, Bytes::from(value.0)));
        // The API server merges `stringData` into `data` and never returns it, so it only occurs in manifests.
        let texts = self.string_data.into_iter().flatten().map(|(key, value)| (key, Bytes::from(value)));
        Some(Object::Secret(Secret {
            name: name_of(&self.metadata),
            data: data.chain(texts).map(|(key, value)| (shared(&key), value)).collect(),
        }))
    }
}

impl Convert for api::ConfigMap {
    fn convert(self) -> Option<Object> {
        let data = self.data.into_iter().flatten();
        Some(Object::ConfigMap(ConfigMap {
            name: name_of(&self.metadata),
            data: data.map(|(key, value)| (shared(&key), Arc::from(value))).collect(),
        }))
    }
}
