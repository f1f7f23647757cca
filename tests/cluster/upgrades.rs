//! Upgrades of HAProxy and of the controller, and what becomes of requests meanwhile: two replicas, constant load.

use crate::support::Node;
use crate::support::release::serving;

#[test]
fn haproxy_and_the_controller_are_upgraded_apart_without_losing_a_request() {
    let (node, _turn) = Node::alone();
    let haproxy = |tag: &str| {
        format!("controller.haproxy.image.repository=localhost/haproxy,controller.haproxy.image.tag={tag}")
    };
    let (release, _demo) = serving(node, &["--set-string", &haproxy("2.6")]);

    let steps: [(&str, &dyn Fn()); 5] = [
        ("HAProxy 2.6 to 3.0", &|| release.upgrade(&["--set-string", &haproxy("3.0")])),
        ("HAProxy 3.0 to 3.2", &|| release.upgrade(&["--set-string", &haproxy("3.2")])),
        ("back to HAProxy 3.0", &|| release.rollback()),
        ("another image of the controller", &|| {
            let image = "controller.image.repository=localhost/outrigger,controller.image.tag=test2";
            release.upgrade(&["--set-string", image]);
        }),
        ("back to the controller before", &|| release.rollback()),
    ];
    for (what, step) in steps {
        let load = release.load();
        step();
        load.more(100);
        load.stop().assert_clean(what);
    }
}

#[test]
fn an_application_scales_and_restarts_without_losing_a_request_or_a_reload() {
    let (node, _turn) = Node::alone();
    let (release, demo) = serving(node, &[]);
    let before = release.reloads();
    let load = release.load();
    for replicas in ["1", "10", "2"] {
        demo.kubectl(&["scale", "deployment/echo", &format!("--replicas={replicas}")]);
        demo.rolled_out("deployment/echo");
        load.more(100);
    }
    demo.kubectl(&["rollout", "restart", "deployment/echo"]);
    demo.rolled_out("deployment/echo");
    load.more(100);
    load.stop().assert_clean("scaling and restarts");
    assert_eq!(release.reloads(), before, "{}", release.controllers_log());
}
