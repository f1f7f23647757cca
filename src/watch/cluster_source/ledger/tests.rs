use super::*;
use crate::cluster::Secret;

fn name(name: &str) -> ObjectName {
    ObjectName::new("shop", name)
}

fn item(secret: &str, version: u64) -> Item {
    let data = [("k".into(), version.to_string().into())].into();
    let object = Some(Object::Secret(Secret { name: name(secret), data }));
    Item { name: name(secret), version: Some(version), object }
}

fn ledger(names: &[&str]) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.add(names.iter().map(|&n| name(n)).collect());
    ledger
}

fn upsert(secret: &str, version: u64) -> Option<Change> {
    item(secret, version).object.map(Change::Upsert)
}

/// Names and versions of a relist, and the names to fetch again.
fn relist(ledger: &mut Ledger, items: Vec<Item>) -> (Vec<String>, usize) {
    let (objects, unsure) = ledger.relist(items, |_| true);
    let text = |object: &Object| match object {
        Object::Secret(secret) => {
            format!("{}={}", secret.name.name, String::from_utf8_lossy(&secret.data["k"]))
        }
        other => panic!("{other:?}"),
    };
    (objects.iter().map(text).collect(), unsure.len())
}

#[test]
fn what_nobody_wants_is_dropped() {
    let mut ledger = ledger(&["a"]);
    assert_eq!(ledger.apply(item("b", 1)), None);
    assert_eq!(ledger.fetched(&name("b"), Some(item("b", 1))), None);
    assert_eq!(ledger.delete(&item("b", 2)), None);
    assert_eq!(relist(&mut ledger, vec![item("b", 1), item("a", 1)]).0, ["a=1"]);
    assert_eq!(ledger.release(&[name("a")].into()), [deleted(&name("a"))]);
    assert_eq!(ledger.release(&[name("a")].into()), []);
    assert_eq!(ledger.apply(item("a", 2)), None);
}

#[test]
fn only_new_names_are_to_be_fetched() {
    let mut ledger = ledger(&["a"]);
    assert_eq!(ledger.add([name("a"), name("b")].into()), [name("b")]);
    assert!(ledger.wanted().contains(&name("b")));
}

#[test]
fn a_fetch_that_the_watch_overtook_is_dropped() {
    let mut ledger = ledger(&["a"]);
    assert_eq!(ledger.apply(item("a", 7)), upsert("a", 7));
    assert_eq!(ledger.fetched(&name("a"), Some(item("a", 5))), None);
    assert_eq!(ledger.fetched(&name("a"), None), None);
    assert_eq!(ledger.fetched(&name("a"), Some(item("a", 8))), upsert("a", 8), "a newer one is not");
}

#[test]
fn a_fetch_does_not_bring_back_what_was_deleted() {
    let mut ledger = ledger(&["a"]);
    ledger.apply(item("a", 5));
    assert_eq!(ledger.delete(&item("a", 7)), Some(deleted(&name("a"))));
    assert_eq!(ledger.fetched(&name("a"), Some(item("a", 5))), None);
    assert_eq!(ledger.apply(item("a", 9)), upsert("a", 9), "created again");
}

#[test]
fn a_watch_that_is_behind_a_fetch_is_dropped_until_it_is_not() {
    let mut ledger = ledger(&["a"]);
    assert_eq!(ledger.fetched(&name("a"), Some(item("a", 8))), upsert("a", 8));
    assert_eq!(ledger.apply(item("a", 6)), None);
    assert_eq!(ledger.delete(&item("a", 7)), None);
    assert_eq!(ledger.apply(item("a", 8)), None, "the same again");
    assert_eq!(ledger.apply(item("a", 9)), upsert("a", 9));
}

#[test]
fn a_list_that_is_behind_a_fetch_does_not_take_it_back() {
    let mut ledger = ledger(&["a", "b", "c"]);
    ledger.fetched(&name("a"), Some(item("a", 8)));
    ledger.fetched(&name("b"), Some(item("b", 9)));
    ledger.fetched(&name("c"), Some(item("c", 3)));
    let (objects, unsure) = relist(&mut ledger, vec![item("a", 5), item("c", 4)]);
    assert_eq!(objects, ["a=8", "b=9", "c=4"]);
    assert_eq!(unsure, 2, "whether it was a new one or is gone, another fetch says");
    assert_eq!(ledger.fetched(&name("b"), None), Some(deleted(&name("b"))));
    assert_eq!(ledger.fetched(&name("a"), Some(item("a", 8))), upsert("a", 8));
}

#[test]
fn a_list_is_believed_even_when_versions_go_back() {
    let mut ledger = ledger(&["a", "b"]);
    ledger.apply(item("a", 100));
    ledger.apply(item("b", 101));
    assert_eq!(relist(&mut ledger, vec![item("a", 5)]), (vec!["a=5".to_owned()], 0));
    assert_eq!(ledger.apply(item("a", 6)), upsert("a", 6));
}

#[test]
fn a_list_of_one_namespace_leaves_the_others() {
    let mut ledger = ledger(&["a", "b"]);
    ledger.apply(item("a", 1));
    let (objects, unsure) = ledger.relist(vec![item("b", 2)], |n| *n == name("b"));
    assert_eq!((objects.len(), unsure.len()), (1, 0));
    assert_eq!(ledger.release(&[name("a")].into()).len(), 1, "it was told still");
}

#[test]
fn without_comparable_versions_the_watch_wins() {
    let mut ledger = ledger(&["a"]);
    let odd = |version| Item { version: None, ..item("a", version) };
    assert_eq!(ledger.fetched(&name("a"), Some(odd(2))), upsert("a", 2));
    assert_eq!(ledger.apply(odd(1)), upsert("a", 1));
    assert_eq!(ledger.fetched(&name("a"), Some(odd(3))), None);
}
