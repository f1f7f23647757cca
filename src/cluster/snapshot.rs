//! The [`Snapshot`]: everything the cluster says, immutable and cheap to clone.
//!
//! The maps are persistent (they share structure), so a clone and one change cost no copy of everything.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{ConfigMap, EndpointSlice, Ingress, IngressClass, Kind, ObjectName, ObjectRef, Secret, Service};

/// An ordered persistent map.
pub type Map<K, V> = rpds::RedBlackTreeMapSync<K, V>;

/// An object of any kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Object {
    /// An Ingress.
    Ingress(Ingress),
    /// An IngressClass.
    IngressClass(IngressClass),
    /// A Service.
    Service(Service),
    /// An EndpointSlice.
    EndpointSlice(EndpointSlice),
    /// A Secret.
    Secret(Secret),
    /// A ConfigMap.
    ConfigMap(ConfigMap),
}

impl Object {
    /// Kind and name.
    pub fn reference(&self) -> ObjectRef {
        let (kind, name) = match self {
            Self::Ingress(o) => (Kind::Ingress, o.name.clone()),
            Self::IngressClass(o) => (Kind::IngressClass, ObjectName::cluster(o.name.clone())),
            Self::Service(o) => (Kind::Service, o.name.clone()),
            Self::EndpointSlice(o) => (Kind::EndpointSlice, o.name.clone()),
            Self::Secret(o) => (Kind::Secret, o.name.clone()),
            Self::ConfigMap(o) => (Kind::ConfigMap, o.name.clone()),
        };
        ObjectRef { kind, name }
    }
}

/// One change of the cluster, as a source reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The object exists and looks like this.
    Upsert(Object),
    /// The object is gone.
    Delete(ObjectRef),
    /// All objects of this kind in this namespace (`None`: in all namespaces) are exactly these: one change, however
    /// many objects; what is not listed is gone.
    Relist {
        /// The kind.
        kind: Kind,
        /// The namespace, `None` for all.
        namespace: Option<Arc<str>>,
        /// The objects.
        objects: Vec<Object>,
    },
}

/// Everything the cluster says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Ingresses.
    pub ingresses: Map<ObjectName, Arc<Ingress>>,
    /// IngressClasses by name.
    pub classes: Map<Arc<str>, Arc<IngressClass>>,
    /// Services.
    pub services: Map<ObjectName, Arc<Service>>,
    /// EndpointSlices by Service, then by slice name.
    pub slices: Map<ObjectName, Map<Arc<str>, Arc<EndpointSlice>>>,
    /// Which Service a slice belongs to (a slice's label may change, and deletions carry only the name).
    slice_owner: Map<ObjectName, ObjectName>,
    /// Secrets that something refers to.
    pub secrets: Map<ObjectName, Arc<Secret>>,
    /// ConfigMaps that a flag names.
    pub config_maps: Map<ObjectName, Arc<ConfigMap>>,
}

impl Snapshot {
    /// Applies a change; adds to `changed` the objects that really differ now (a resync of equal objects adds none).
    ///
    /// For EndpointSlices the changed *Service* is added under [`Kind::EndpointSlice`]: the name in the reference is the
    /// Service's, since that is what every reader wants to know.
    pub fn apply(&mut self, change: Change, changed: &mut BTreeSet<ObjectRef>) {
        match change {
            Change::Upsert(object) => self.upsert(object, changed),
            Change::Delete(reference) => self.delete(&reference, changed),
            Change::Relist { kind, namespace, objects } => {
                let listed: BTreeSet<ObjectName> = objects.iter().map(|o| o.reference().name).collect();
                let gone: Vec<ObjectName> = self
                    .names(kind)
                    .into_iter()
                    .filter(|n| namespace.as_ref().is_none_or(|ns| *ns == n.namespace) && !listed.contains(n))
                    .collect();
                for name in gone {
                    self.delete(&ObjectRef { kind, name }, changed);
                }
                for object in objects {
                    self.upsert(object, changed);
                }
            }
        }
    }

    /// Names of all objects of a kind.
    pub fn names(&self, kind: Kind) -> Vec<ObjectName> {
        match kind {
            Kind::Ingress => self.ingresses.keys().cloned().collect(),
            Kind::IngressClass => self.classes.keys().map(|n| ObjectName::cluster(n.clone())).collect(),
            Kind::Service => self.services.keys().cloned().collect(),
            Kind::EndpointSlice => self.slice_owner.keys().cloned().collect(),
            Kind::Secret => self.secrets.keys().cloned().collect(),
            Kind::ConfigMap => self.config_maps.keys().cloned().collect(),
            Kind::File | Kind::Flag => Vec::new(),
        }
    }

    /// The slices of a Service, in order of their names.
    pub fn slices_of(&self, service: &ObjectName) -> impl Iterator<Item = &EndpointSlice> {
        self.slices.get(service).into_iter().flat_map(|slices| slices.values().map(AsRef::as_ref))
    }

    fn upsert(&mut self, object: Object, changed: &mut BTreeSet<ObjectRef>) {
        let reference = object.reference();
        let differs = match object {
            Object::Ingress(o) => put(&mut self.ingresses, o.name.clone(), o),
            Object::IngressClass(o) => put(&mut self.classes, o.name.clone(), o),
            Object::Service(o) => put(&mut self.services, o.name.clone(), o),
            Object::Secret(o) => put(&mut self.secrets, o.name.clone(), o),
            Object::ConfigMap(o) => put(&mut self.config_maps, o.name.clone(), o),
            Object::EndpointSlice(o) => {
                self.upsert_slice(o, changed);
                false
            }
        };
        if differs {
            changed.insert(reference);
        }
    }

    fn upsert_slice(&mut self, slice: EndpointSlice, changed: &mut BTreeSet<ObjectRef>) {
        let owner = ObjectName { namespace: slice.name.namespace.clone(), name: slice.service.clone() };
        if self.slice_owner.get(&slice.name).is_some_and(|old| *old != owner) {
            self.delete(&ObjectRef { kind: Kind::EndpointSlice, name: slice.name.clone() }, changed);
        }
        self.slice_owner.insert_mut(slice.name.clone(), owner.clone());
        let mut slices = self.slices.get(&owner).cloned().unwrap_or_default();
        if put(&mut slices, slice.name.name.clone(), slice) {
            self.slices.insert_mut(owner.clone(), slices);
            changed.insert(ObjectRef { kind: Kind::EndpointSlice, name: owner });
        }
    }

    fn delete(&mut self, reference: &ObjectRef, changed: &mut BTreeSet<ObjectRef>) {
        let name = &reference.name;
        let existed = match reference.kind {
            Kind::Ingress => self.ingresses.remove_mut(name),
            Kind::IngressClass => self.classes.remove_mut(&name.name),
            Kind::Service => self.services.remove_mut(name),
            Kind::Secret => self.secrets.remove_mut(name),
            Kind::ConfigMap => self.config_maps.remove_mut(name),
            Kind::EndpointSlice => {
                if let Some(owner) = self.slice_owner.get(name).cloned() {
                    self.slice_owner.remove_mut(name);
                    let mut slices = self.slices.get(&owner).cloned().unwrap_or_default();
                    slices.remove_mut(&name.name);
                    if slices.is_empty() {
                        self.slices.remove_mut(&owner);
                    } else {
                        self.slices.insert_mut(owner.clone(), slices);
                    }
                    changed.insert(ObjectRef { kind: Kind::EndpointSlice, name: owner });
                }
                false
            }
            Kind::File | Kind::Flag => false,
        };
        if existed {
            changed.insert(reference.clone());
        }
    }
}

/// Inserts; tells whether that changed anything.
fn put<K: Ord, V: PartialEq>(map: &mut Map<K, Arc<V>>, key: K, value: V) -> bool {
    if map.get(&key).is_some_and(|old| **old == value) {
        return false;
    }
    map.insert_mut(key, Arc::new(value));
    true
}

#[cfg(test)]
mod tests;
