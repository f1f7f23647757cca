//! The pod: who may write what, who has a token, how it starts and ends.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::helm::{Objects, array, render, texts, values_file, values_files};

/// Mount path → whether it may be written.
fn mounts(container: &Value) -> BTreeMap<&str, bool> {
    let mounts = array(&container["volumeMounts"]).iter();
    mounts.map(|mount| (mount["mountPath"].as_str().unwrap(), mount["readOnly"] != true)).collect()
}

#[test]
fn the_shared_folders_are_mounted_with_the_access_of_the_design() {
    for file in values_files() {
        let objects = render(&["--values", file.to_str().unwrap()]);
        let (etc, lib, run) = ("/etc/haproxy", "/var/lib/haproxy", "/var/run/haproxy");
        let token = "/var/run/secrets/kubernetes.io/serviceaccount";
        assert_eq!(mounts(objects.container("init")), BTreeMap::from([(etc, true), (lib, true)]));
        assert_eq!(
            mounts(objects.container("haproxy")),
            BTreeMap::from([(etc, false), (lib, false), (run, true)])
        );
        assert_eq!(
            mounts(objects.container("controller")),
            BTreeMap::from([(etc, true), (lib, true), (run, true), (token, false)])
        );
        let spec = &objects.pod()["spec"];
        assert_eq!(spec["automountServiceAccountToken"], false);
        let (projected, shared): (Vec<_>, Vec<_>) =
            array(&spec["volumes"]).iter().partition(|volume| volume["projected"].is_object());
        assert_eq!((projected.len(), shared.len()), (1, 3));
        assert!(shared.iter().all(|volume| volume["emptyDir"].is_object()), "{shared:?}");
    }
}

#[test]
fn keys_of_certificates_stay_off_disks() {
    let objects = render(&[]);
    let volume = |name| {
        let mut all = array(&objects.pod()["spec"]["volumes"]).iter();
        all.find(|volume| volume["name"] == name).unwrap()["emptyDir"].clone()
    };
    assert_eq!(volume("state"), json!({"medium": "Memory"}));
    assert_eq!(volume("config"), json!({}));
}

#[test]
fn haproxy_runs_as_anybody_would_run_it_with_the_master_socket() {
    let haproxy = render(&["--set", "controller.haproxy.extraArgs={-dM}"]).container("haproxy").clone();
    assert_eq!(texts(&haproxy["command"]), ["haproxy"]);
    assert_eq!(
        texts(&haproxy["args"]).join(" "),
        "-W -db -S /var/run/haproxy/master.sock,mode,660 -f /etc/haproxy -dM"
    );
}

#[test]
fn readiness_is_haproxys_and_the_controller_has_liveness_only() {
    let objects = render(&["--set", "controller.containerPorts.healthz=1043"]);
    let probe = |container, probe: &str| objects.container(container)[probe]["httpGet"].clone();
    assert_eq!(probe("haproxy", "livenessProbe"), json!({"path": "/healthz", "port": "healthz"}));
    assert_eq!(probe("haproxy", "startupProbe"), json!({"path": "/healthz", "port": "healthz"}));
    assert_eq!(probe("haproxy", "readinessProbe"), json!({"path": "/readyz", "port": "healthz"}));
    assert_eq!(probe("controller", "livenessProbe"), json!({"path": "/livez", "port": "controller"}));
    for none in ["readinessProbe", "startupProbe"] {
        assert!(objects.container("controller")[none].is_null());
    }
    assert_eq!(texts(&objects.container("init")["args"]), ["--healthz-port=1043"]);
    let off = render(&["--set", "controller.containerPorts.controller=0"]);
    assert!(off.container("controller")["livenessProbe"].is_null(), "nobody listens");
}

#[test]
fn a_pod_waits_before_it_ends_and_the_controller_longer_than_haproxy() {
    let wait = |objects: &Objects, container: &str| {
        objects.container(container)["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64().unwrap()
    };
    let objects = render(&[]);
    assert_eq!(wait(&objects, "haproxy"), 10);
    assert!(wait(&objects, "controller") > 10);
    assert!(
        objects.pod()["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap()
            > wait(&objects, "controller")
    );
    let own = "controller.haproxy.lifecycle.preStop.httpGet.port=1042";
    let objects = render(&["--set", own]);
    assert_eq!(objects.container("haproxy")["lifecycle"], json!({"preStop": {"httpGet": {"port": 1042}}}));
}

#[test]
fn pods_are_replaced_without_a_gap_unless_they_own_ports_of_the_node() {
    let strategy = |objects: &Objects| {
        objects.of("Deployment").next().unwrap()["spec"]["strategy"]["rollingUpdate"].clone()
    };
    assert_eq!(strategy(&render(&[])), json!({"maxSurge": 1, "maxUnavailable": 0}));
    for flag in ["controller.hostNetwork=true", "controller.hostPorts.https=443"] {
        assert_eq!(
            strategy(&render(&["--set", flag])),
            json!({"maxSurge": 0, "maxUnavailable": 1}),
            "{flag}"
        );
    }
    let daemons = render(&["--set", "controller.kind=DaemonSet"]);
    let spec = &daemons.get("DaemonSet", "outrigger")["spec"];
    assert_eq!(spec["updateStrategy"]["rollingUpdate"], json!({"maxSurge": 1, "maxUnavailable": 0}));
    assert!(spec["replicas"].is_null() && spec["template"]["spec"]["topologySpreadConstraints"].is_null());
}

#[test]
fn a_new_version_of_the_chart_alone_replaces_no_pods() {
    for template in [render(&[]).pod(), render(&[]).get("Deployment", "outrigger")] {
        let labels = template["metadata"]["labels"].as_object().unwrap();
        let is_pod = template["kind"].is_null();
        assert_eq!(labels.contains_key("helm.sh/chart"), !is_pod, "{labels:?}");
    }
}

#[test]
fn users_may_be_left_to_the_cluster() {
    let objects = render(&[&values_file("openshift")]);
    let pod = objects.pod();
    assert_eq!(
        pod["spec"]["securityContext"],
        json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}})
    );
    for container in ["init", "haproxy", "controller"] {
        let context = objects.container(container)["securityContext"].clone();
        assert_eq!(
            context,
            json!({"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}}),
            "{container}"
        );
    }
}

#[test]
fn root_gets_the_one_capability_that_it_is_for() {
    let objects = render(&[&values_file("haproxy-root")]);
    let context = &objects.container("haproxy")["securityContext"];
    assert_eq!((&context["runAsUser"], &context["runAsNonRoot"]), (&json!(0), &json!(false)));
    assert_eq!(context["capabilities"], json!({"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}));
    assert_eq!(objects.container("controller")["securityContext"]["runAsUser"], 1000);
}

#[test]
fn flags_of_the_user_win_over_those_of_the_chart() {
    let objects = render(&[
        "--set",
        "controller.extraArgs={--prometheus,--log-level=debug,--election-id=mine,--publish-service=a/b}",
    ]);
    let args = texts(&objects.container("controller")["args"]);
    for flag in ["--prometheus", "--log-level", "--election-id", "--publish-service", "--configmap"] {
        let given = args.iter().filter(|arg| arg.split('=').next() == Some(flag)).count();
        assert_eq!(given, 1, "{flag} in {args:?}");
    }
    assert!(args.contains(&"--log-level=debug") && args.contains(&"--election-id=mine"), "{args:?}");
}
