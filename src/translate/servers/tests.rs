//! Ids of servers.

use super::*;

fn key(last: u8) -> ServerKey {
    ServerKey { address: IpAddr::from([10, 0, 0, last]), port: 8080 }
}

#[test]
fn ids_are_stable_and_in_range() {
    let ids: Vec<u32> = (0..=255).map(|i| id_of(key(i), &mut BTreeSet::new())).collect();
    assert!(ids.iter().all(|id| (1..=2_147_483_647).contains(id)));
    // The value must never change: replicas and reloads have to agree.
    assert_eq!(ids[1], id_of(key(1), &mut BTreeSet::new()));
    assert_eq!(
        id_of(key(1), &mut BTreeSet::new()),
        u32::try_from(fnv1a(b"10.0.0.1:8080") % 0x7fff_ffff).unwrap_or(0) + 1
    );
}

#[test]
fn a_collision_is_hashed_again() {
    let first = id_of(key(1), &mut BTreeSet::new());
    let mut taken = BTreeSet::from([first]);
    let second = id_of(key(1), &mut taken);
    assert_ne!(first, second);
    assert_eq!(second, id_of(key(1), &mut BTreeSet::from([first])));
    assert_eq!(taken.len(), 2);
}
