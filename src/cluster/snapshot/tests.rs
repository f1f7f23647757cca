use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;
use crate::cluster::{Endpoint, Strings};

fn name(name: &str) -> ObjectName {
    ObjectName::new("shop", name)
}

fn service(service: &str, namespace: &str, annotation: &str) -> Object {
    Object::Service(Service {
        name: ObjectName::new(namespace, service),
        annotations: Strings::from([("haproxy.org/x".into(), annotation.into())]),
        external_name: None,
        publish_not_ready: false,
        ports: Vec::new(),
    })
}

fn slice(slice: &str, service: &str, host: u8) -> Object {
    Object::EndpointSlice(EndpointSlice {
        name: name(slice),
        service: service.into(),
        ports: Vec::new(),
        endpoints: vec![Endpoint {
            address: Ipv4Addr::new(10, 0, 0, host).into(),
            ready: true,
            serving: true,
            terminating: false,
            pod: None,
        }],
    })
}

fn secret(secret: &str, text: &str) -> Object {
    Object::Secret(Secret { name: name(secret), data: [("k".into(), text.to_owned().into())].into() })
}

/// Applies changes; returns what differs after each, as text.
fn apply(snapshot: &mut Snapshot, change: Change) -> Vec<String> {
    let mut changed = BTreeSet::new();
    snapshot.apply(change, &mut changed);
    changed.iter().map(ToString::to_string).collect()
}

fn relist(kind: Kind, namespace: Option<&str>, objects: Vec<Object>) -> Change {
    Change::Relist { kind, namespace: namespace.map(Arc::from), objects }
}

fn delete(kind: Kind, object: &str) -> Change {
    Change::Delete(ObjectRef { kind, name: name(object) })
}

#[test]
fn a_relist_is_one_change_of_what_differs() {
    let mut snapshot = Snapshot::default();
    let list = vec![service("a", "shop", "1"), service("b", "shop", "1"), service("c", "other", "1")];
    assert_eq!(apply(&mut snapshot, relist(Kind::Service, None, list.clone())).len(), 3);
    assert!(apply(&mut snapshot, relist(Kind::Service, None, list)).is_empty(), "a resync changes nothing");

    let list = vec![service("b", "shop", "2"), service("d", "shop", "1")];
    let changed = apply(&mut snapshot, relist(Kind::Service, Some("shop"), list));
    assert_eq!(changed, ["Service shop/a", "Service shop/b", "Service shop/d"]);
    assert!(
        snapshot.services.contains_key(&ObjectName::new("other", "c")),
        "another namespace is not touched"
    );
    assert!(apply(&mut snapshot, relist(Kind::Secret, None, Vec::new())).is_empty(), "nor is another kind");
    assert_eq!(apply(&mut snapshot, relist(Kind::Service, None, Vec::new())).len(), 3);
}

#[test]
fn a_slice_stands_for_its_service() {
    let mut snapshot = Snapshot::default();
    assert_eq!(apply(&mut snapshot, Change::Upsert(slice("web-1", "web", 1))), ["EndpointSlice shop/web"]);
    assert!(apply(&mut snapshot, Change::Upsert(slice("web-1", "web", 1))).is_empty());
    assert_eq!(apply(&mut snapshot, Change::Upsert(slice("web-2", "web", 2))), ["EndpointSlice shop/web"]);
    let hosts = |snapshot: &Snapshot, service: &str| -> Vec<String> {
        snapshot.slices_of(&name(service)).map(|slice| slice.endpoints[0].address.to_string()).collect()
    };
    assert_eq!(hosts(&snapshot, "web"), ["10.0.0.1", "10.0.0.2"]);

    let changed = apply(&mut snapshot, Change::Upsert(slice("web-1", "api", 1)));
    assert_eq!(changed, ["EndpointSlice shop/api", "EndpointSlice shop/web"], "both gained or lost");
    assert_eq!(
        (hosts(&snapshot, "web"), hosts(&snapshot, "api")),
        (vec!["10.0.0.2".into()], vec!["10.0.0.1".into()])
    );

    assert_eq!(apply(&mut snapshot, delete(Kind::EndpointSlice, "web-1")), ["EndpointSlice shop/api"]);
    assert!(snapshot.slices.get(&name("api")).is_none(), "nothing is left behind");
    assert_eq!(
        apply(&mut snapshot, relist(Kind::EndpointSlice, None, Vec::new())),
        ["EndpointSlice shop/web"]
    );
    assert_eq!(snapshot, Snapshot::default());
}

#[test]
fn a_relist_moves_slices_too() {
    let mut snapshot = Snapshot::default();
    apply(&mut snapshot, Change::Upsert(slice("s", "web", 1)));
    let changed = apply(&mut snapshot, relist(Kind::EndpointSlice, Some("shop"), vec![slice("s", "api", 1)]));
    assert_eq!(changed, ["EndpointSlice shop/api", "EndpointSlice shop/web"]);
    assert!(snapshot.slices_of(&name("web")).next().is_none());
}

#[test]
fn deletes_of_what_is_not_there_change_nothing() {
    let mut snapshot = Snapshot::default();
    for kind in
        [Kind::Ingress, Kind::IngressClass, Kind::Service, Kind::EndpointSlice, Kind::Secret, Kind::ConfigMap]
    {
        assert!(apply(&mut snapshot, delete(kind, "missing")).is_empty(), "{kind}");
    }
    apply(&mut snapshot, Change::Upsert(secret("cert", "1")));
    assert_eq!(apply(&mut snapshot, delete(Kind::Secret, "cert")), ["Secret shop/cert"]);
    assert_eq!(snapshot, Snapshot::default());
}

#[test]
fn a_clone_does_not_see_later_changes() {
    let mut snapshot = Snapshot::default();
    apply(&mut snapshot, Change::Upsert(slice("s", "web", 1)));
    let before = snapshot.clone();
    apply(&mut snapshot, delete(Kind::EndpointSlice, "s"));
    assert_eq!(before.slices_of(&name("web")).count(), 1);
}

/// Some object, in one of a few states.
fn object() -> impl Strategy<Value = Object> {
    let small = 0_u8..4;
    (0..3, small.clone(), small.clone(), small).prop_map(|(kind, object, owner, state)| match kind {
        0 => service(&format!("o{object}"), "shop", &state.to_string()),
        1 => secret(&format!("o{object}"), &state.to_string()),
        _ => slice(&format!("o{object}"), &format!("o{owner}"), state),
    })
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => object().prop_map(Change::Upsert),
        2 => object().prop_map(|object| Change::Delete(object.reference())),
        1 => (0_usize..3, prop::collection::vec(object(), 0..6)).prop_map(|(kind, objects)| {
            let kind = [Kind::Service, Kind::Secret, Kind::EndpointSlice][kind];
            // An API server lists an object once.
            let objects: BTreeMap<ObjectName, Object> = objects
                .into_iter()
                .filter(|object| object.reference().kind == kind)
                .map(|object| (object.reference().name, object))
                .collect();
            relist(kind, Some("shop"), objects.into_values().collect())
        }),
    ]
}

/// The last state of each object, kept in the simplest way.
fn reference(changes: &[Change]) -> BTreeMap<ObjectRef, Object> {
    let mut objects = BTreeMap::new();
    for change in changes.iter().cloned() {
        match change {
            Change::Upsert(object) => {
                objects.insert(object.reference(), object);
            }
            Change::Delete(reference) => {
                objects.remove(&reference);
            }
            Change::Relist { kind, objects: listed, .. } => {
                objects.retain(|reference, _| reference.kind != kind);
                objects.extend(listed.into_iter().map(|object| (object.reference(), object)));
            }
        }
    }
    objects
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the way to a state, the snapshot is the one that the last objects alone give, in any order.
    #[test]
    fn only_the_last_states_count(changes in prop::collection::vec(change(), 0..40), reversed: bool) {
        let mut snapshot = Snapshot::default();
        for change in changes.iter().cloned() {
            snapshot.apply(change, &mut BTreeSet::new());
        }
        let mut objects: Vec<Object> = reference(&changes).into_values().collect();
        if reversed {
            objects.reverse();
        }
        let mut direct = Snapshot::default();
        for object in objects {
            direct.apply(Change::Upsert(object), &mut BTreeSet::new());
        }
        prop_assert_eq!(snapshot, direct);
    }

    /// An object is said to have changed exactly when it differs; a slice when any slice of its Service does.
    #[test]
    fn what_changed_is_said(before in prop::collection::vec(change(), 0..20), change in change()) {
        let mut snapshot = Snapshot::default();
        for change in before {
            snapshot.apply(change, &mut BTreeSet::new());
        }
        let old = snapshot.clone();
        let mut changed = BTreeSet::new();
        snapshot.apply(change, &mut changed);
        let mut differing = BTreeSet::new();
        differing.extend(differences(&old.services, &snapshot.services, Kind::Service));
        differing.extend(differences(&old.secrets, &snapshot.secrets, Kind::Secret));
        differing.extend(differences(&old.slices, &snapshot.slices, Kind::EndpointSlice));
        prop_assert_eq!(changed, differing);
    }
}

fn differences<V: PartialEq>(
    old: &Map<ObjectName, V>,
    new: &Map<ObjectName, V>,
    kind: Kind,
) -> Vec<ObjectRef> {
    let names: BTreeSet<&ObjectName> = old.keys().chain(new.keys()).collect();
    let differing = names.into_iter().filter(|name| old.get(name) != new.get(name));
    differing.map(|name| ObjectRef { kind, name: name.clone() }).collect()
}
