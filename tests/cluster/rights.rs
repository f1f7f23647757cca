//! Least privilege: what the controllers of the chart ask of the API server is what they may, and nothing is granted in vain.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::release::{Release, application};
use crate::support::{DEADLINE, Node, until};

const CONTROLLER: &str = "system:serviceaccount:outrigger:outrigger";

/// `group/resource verb` of what the controllers asked for from this line of the audit log on, and what of it was refused.
fn asked(node: &Node, from: usize) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut all, mut refused) = (BTreeSet::new(), BTreeSet::new());
    let log = std::fs::read_to_string(node.audit_log()).unwrap();
    let events = log.lines().skip(from).filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for event in events.filter(|event| event["user"]["username"] == CONTROLLER) {
        let object = &event["objectRef"];
        let text = |key: &str| object[key].as_str().unwrap_or_default();
        let Some(verb) = event["verb"].as_str().filter(|_| !text("resource").is_empty()) else { continue };
        let subresource =
            if text("subresource").is_empty() { String::new() } else { format!("/{}", text("subresource")) };
        let request = format!("{}/{}{subresource} {verb}", text("apiGroup"), text("resource"));
        if event["responseStatus"]["code"] == 403 {
            refused.insert(format!("{request} in namespace `{}`", text("namespace")));
        }
        all.insert(request);
    }
    (all, refused)
}

/// The same of what the roles of the release grant.
fn granted(node: &Node) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let roles = [vec!["clusterrole", "outrigger"], vec!["role", "outrigger", "--namespace", "outrigger"]];
    for role in roles {
        let role = node.json(&role).unwrap();
        let texts = |value: &Value| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|text| Some(text.as_str()?.to_owned()))
                .collect()
        };
        for rule in role["rules"].as_array().unwrap() {
            for group in texts(&rule["apiGroups"]) {
                for resource in texts(&rule["resources"]) {
                    all.extend(texts(&rule["verbs"]).iter().map(|verb| format!("{group}/{resource} {verb}")));
                }
            }
        }
    }
    all
}

#[test]
fn every_right_is_used_and_none_is_missing() {
    let (node, _turn) = Node::alone();
    let release = Release::install(node, &[]);
    // Earlier releases lost their rights before their pods were gone.
    let installed = std::fs::read_to_string(node.audit_log()).unwrap().lines().count();
    let demo = application(node);
    release.answers("outrigger.test");
    // A certificate, and mistakes that come back: Events are created, and counted up.
    let mistake = |name: &str| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: {name}, annotations: {{haproxy.org/ssl-redirect: perhaps}}}}\n\
             spec:\n  ingressClassName: outrigger\n  tls: [{{hosts: [{name}.test], secretName: none}}]\n  rules: [{{host: {name}.test}}]\n"
        )
    };
    demo.apply(&mistake("mistake"));
    until("an Event about it", DEADLINE, || {
        let events = demo.kubectl(&["get", "events", "--field-selector=involvedObject.name=mistake"]);
        if events.contains("perhaps") { Ok(()) } else { Err(events) }
    });
    // Another mistake at the same place soon afterwards: the Event is counted up.
    demo.kubectl(&["annotate", "ingress", "mistake", "--overwrite", "haproxy.org/ssl-redirect=maybe"]);
    let unused = until("every right to be used", DEADLINE, || {
        let unused: BTreeSet<String> = granted(node).difference(&asked(node, 0).0).cloned().collect();
        if unused.is_empty() { Ok(unused) } else { Err(format!("unused: {unused:?}")) }
    });
    assert!(unused.is_empty());
    let (_, refused) = asked(node, installed);
    assert!(refused.is_empty(), "refused: {refused:?}");
}
