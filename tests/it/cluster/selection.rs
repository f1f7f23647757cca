//! Which namespaces are served.

use super::lab::{self, BRANCH, pod};

#[test]
fn namespaces_are_chosen_by_flags() {
    lab::run(async |lab| {
        let one = pod("one").await;
        let names = ["red", "green", "blue"];
        let mut spaces = Vec::new();
        for name in names {
            let space = lab.space(name).await;
            space.app("app", &[&one]).await;
            space.ingress("app", &format!("{name}.test"), "app").await;
            spaces.push(space);
        }
        let mut beds = Vec::new();
        for (flags, served) in [
            (&["--watch-namespace=red"][..], &["red"][..]),
            (&["--namespace-whitelist=red", "--namespace-whitelist=green"], &["red", "green"]),
            (&["--namespace-blacklist=green"], &["red", "blue"]),
        ] {
            beds.push((lab.bed(BRANCH, flags).await, served));
        }
        // What comes later is chosen in the same way; `red` comes last and is served by all.
        for space in spaces.iter().rev() {
            space.ingress("later", &format!("later.{}.test", space.name), "app").await;
        }
        for (bed, served) in &beds {
            bed.until_name("later.red.test", "/", "one").await;
            for name in names {
                for host in [format!("{name}.test"), format!("later.{name}.test")] {
                    // Each namespace has a watch of its own: one may be a moment behind the other.
                    if served.contains(&name) {
                        bed.until_name(&host, "/", "one").await;
                    } else {
                        assert_eq!(bed.get(&host, "/").await.status, 404, "{host} with {served:?}");
                    }
                }
            }
            bed.check_after_test().await;
        }
    });
}
