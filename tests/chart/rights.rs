//! Rights: what is granted is what the controller asks for (`src/watch`, `src/report`), and nothing more.

use std::collections::BTreeSet;

use serde_json::Value;

use super::helm::{Objects, array, render, texts, values_file};

/// `resource verb`, with `group/` and `=name` where there are any, of one role.
fn granted(role: &Value) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for rule in array(&role["rules"]) {
        for group in texts(&rule["apiGroups"]) {
            for resource in texts(&rule["resources"]) {
                for verb in texts(&rule["verbs"]) {
                    let group = if group.is_empty() { String::new() } else { format!("{group}/") };
                    let names = texts(&rule["resourceNames"]).join(",");
                    let names = if names.is_empty() { names } else { format!("={names}") };
                    assert!(all.insert(format!("{group}{resource}{names} {verb}")), "granted twice: {rule}");
                }
            }
        }
    }
    all
}

/// Rules as written here, for comparison: `resource verb verb`.
fn rules(lines: &[&str]) -> BTreeSet<String> {
    let each = |line: &&str| {
        let (resource, verbs) = line.split_once(' ').unwrap();
        verbs.split(' ').map(|verb| format!("{resource} {verb}")).collect::<Vec<_>>()
    };
    lines.iter().flat_map(each).collect()
}

const WATCHED: [&str; 6] = [
    "services get list watch",
    "secrets get list watch",
    "networking.k8s.io/ingresses get list watch",
    "networking.k8s.io/ingresses/status patch",
    "discovery.k8s.io/endpointslices list watch",
    "events.k8s.io/events create patch",
];
const LEASES: [&str; 2] =
    ["coordination.k8s.io/leases create", "coordination.k8s.io/leases=outrigger-leader get update"];

fn role<'a>(objects: &'a Objects, namespace: &str) -> &'a Value {
    let mut roles = objects.of("Role").filter(|role| role["metadata"]["namespace"] == namespace);
    roles.next().unwrap_or_else(|| panic!("no Role in {namespace}"))
}

#[test]
fn the_whole_cluster_is_watched_with_the_least_that_is_needed() {
    let objects = render(&[]);
    let everywhere = [&WATCHED[..], &["networking.k8s.io/ingressclasses list watch"]].concat();
    assert_eq!(granted(objects.get("ClusterRole", "outrigger")), rules(&everywhere));
    let own = [&LEASES[..], &["configmaps=outrigger list watch"]].concat();
    assert_eq!(granted(role(&objects, "outrigger")), rules(&own));
    assert_eq!(objects.of("Role").count(), 1);
    for binding in objects.of("ClusterRoleBinding").chain(objects.of("RoleBinding")) {
        let subject = &array(&binding["subjects"])[0];
        assert_eq!(subject["name"], "outrigger");
        assert_eq!(subject["namespace"], "outrigger");
    }
}

#[test]
fn nodes_are_read_only_for_their_addresses() {
    let reads_nodes = |flag: &str| {
        let objects = render(&["--set", flag]);
        granted(objects.get("ClusterRole", "outrigger")).contains("nodes list")
    };
    assert!(reads_nodes("controller.hostNetwork=true"));
    assert!(reads_nodes("controller.service.enabled=false"));
    for flag in [
        "controller.publishService=true",
        "controller.hostNetwork=true,controller.publishAddresses={192.0.2.1}",
        "controller.hostNetwork=true,controller.extraArgs={--disable-ingress-status-update}",
        "controller.hostNetwork=true,controller.extraArgs={--publish-service=a/b}",
    ] {
        assert!(!reads_nodes(flag), "{flag}");
    }
}

#[test]
fn who_does_not_write_status_may_not() {
    let objects = render(&["--set", "controller.extraArgs={--disable-ingress-status-update}"]);
    let granted = granted(objects.get("ClusterRole", "outrigger"));
    assert!(!granted.iter().any(|rule| rule.contains("status")), "{granted:?}");
}

#[test]
fn namespaced_mode_has_roles_only() {
    let objects = render(&[&values_file("namespaced")]);
    for kind in ["ClusterRole", "ClusterRoleBinding", "IngressClass"] {
        assert_eq!(objects.of(kind).count(), 0, "{kind}");
    }
    for namespace in ["shop", "blog"] {
        assert_eq!(granted(role(&objects, namespace)), rules(&WATCHED), "{namespace}");
    }
    let events = "events.k8s.io/events create patch";
    // The Service that publishes addresses is looked at by its name, its endpoints by its label.
    let own = [
        &LEASES[..],
        &["configmaps=outrigger list watch", "services=outrigger get list watch", events],
        &["discovery.k8s.io/endpointslices list watch"],
    ];
    assert_eq!(granted(role(&objects, "outrigger")), rules(&own.concat()));
    assert_eq!(granted(role(&objects, "pages")), rules(&["configmaps=errors list watch", events]));
    assert_eq!(granted(role(&objects, "certificates")), rules(&["secrets=wildcard get list watch", events]));
    assert_eq!(objects.of("Role").count(), 5);
    let args = texts(&objects.container("controller")["args"]);
    for flag in ["--namespace-whitelist=blog,shop", "--ingress-class=outrigger"] {
        assert!(args.contains(&flag), "{args:?}");
    }
    // Without names it is the release's own namespace.
    let objects = render(&["--set", "controller.scope.namespaced=true"]);
    let own = [&WATCHED[..], &LEASES[..], &["configmaps=outrigger list watch"]].concat();
    assert_eq!(granted(role(&objects, "outrigger")), rules(&own));
}

#[test]
fn config_maps_are_read_by_name_wherever_a_flag_names_them() {
    let objects = render(&[&values_file("everything")]);
    let names = |namespace| granted(role(&objects, namespace));
    assert!(names("outrigger").contains("configmaps=edge,pages watch"), "{:?}", names("outrigger"));
    assert_eq!(names("lists"), rules(&["configmaps=addresses list watch"]), "a flag in extraArgs");
    assert_eq!(names("edge"), rules(&["configmaps=tcp list watch"]));
    assert!(names("outrigger").contains("coordination.k8s.io/leases=edge-leader update"));
}

#[test]
fn rights_can_come_from_elsewhere() {
    let objects =
        render(&["--set", "rbac.create=false,serviceAccount.create=false,serviceAccount.name=ours"]);
    for kind in ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount"] {
        assert_eq!(objects.of(kind).count(), 0, "{kind}");
    }
    assert_eq!(objects.pod()["spec"]["serviceAccountName"], "ours");
}
