//! Values: lint, every file beside the chart, and that schema, values and versions say the same.

use std::fs;

use serde_json::Value;

use super::helm::{array, helm, render, repository, template, values_files};

#[test]
fn the_chart_and_every_values_file_pass_lint() {
    let files = values_files().into_iter().map(|file| Some(format!("--values={}", file.display())));
    for file in [None].into_iter().chain(files) {
        let output = helm()
            .args(["lint", "--strict", "--quiet"])
            .arg(repository("charts/outrigger"))
            .args(&file)
            .output()
            .unwrap();
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("ERROR"), "{file:?}: {said}");
    }
}

#[test]
fn no_option_is_needed() {
    let output = template(&[]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let objects = render(&[]);
    let names = objects.names();
    for name in [
        "Deployment outrigger",
        "Service outrigger",
        "ConfigMap outrigger",
        "IngressClass outrigger",
        "ServiceAccount outrigger",
        "ClusterRole outrigger",
        "Role outrigger",
        "PodDisruptionBudget outrigger",
        "Pod outrigger-test",
    ] {
        assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
    }
    assert!(
        !names.iter().any(|name| name.contains("default-backend") || name.contains("Monitor")),
        "{names:?}"
    );
}

#[test]
fn what_the_schema_allows_stands_in_the_values_with_its_default() {
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(repository("charts/outrigger/values.schema.json")).unwrap())
            .unwrap();
    let values: Value =
        serde_saphyr::from_str(&fs::read_to_string(repository("charts/outrigger/values.yaml")).unwrap())
            .unwrap();
    let mut missing = Vec::new();
    compare(&schema, &schema, &values, "", &mut missing);
    // Kubernetes' own security contexts have more than has a default here; `global` is Helm's.
    missing.retain(|path| !path.to_ascii_lowercase().contains("securitycontext.") && path != ".global");
    missing.retain(|path| !path.starts_with(".controller.volumes."));
    assert!(missing.is_empty(), "{missing:?}");
}

/// Properties of `schema` that `values` lacks.
fn compare(root: &Value, schema: &Value, values: &Value, path: &str, missing: &mut Vec<String>) {
    let definition = schema["$ref"].as_str().map(|name| name.replacen('#', "", 1));
    let schema = definition.map_or(schema, |pointer| root.pointer(&pointer).unwrap());
    let Some(properties) = schema["properties"].as_object() else { return };
    assert_eq!(schema["additionalProperties"], false, "`{path}` lets typos through");
    for (name, inner) in properties {
        let path = format!("{path}.{name}");
        match values.get(name) {
            Some(value) => compare(root, inner, value, &path, missing),
            None => missing.push(path),
        }
    }
}

#[test]
fn typos_and_wrong_types_are_refused_by_name() {
    for (flag, expected) in [
        ("controler.kind=Deployment", "'controler' not allowed"),
        ("controller.haproxy.image.tga=3.2", "'tga' not allowed"),
        ("controller.service.httpPort=80", "'httpPort' not allowed"),
        ("controller.haproxy.securityContext.runAsUsr=0", "'runAsUsr' not allowed"),
        ("controller.kind=StatefulSet", "must be one of 'Deployment', 'DaemonSet'"),
        ("controller.replicaCount=two", "got string, want integer"),
        ("controller.extraArgs=--pprof", "got string, want array"),
        // Flags and their values are one item, so that the chart sees which ones are written.
        ("controller.extraArgs[0]=debug", "does not match pattern"),
        // YAML makes 3 of 3.0.
        ("controller.haproxy.image.tag=3", "got number, want string"),
        ("controller.service.httpPorts[0].targetPort=80", "missing property 'port'"),
    ] {
        let said = super::helm::refusal(&["--set", flag]);
        assert!(said.contains(expected), "{flag}: {said}");
    }
}

#[test]
fn the_versions_are_those_of_the_crate() {
    let chart: Value =
        serde_saphyr::from_str(&fs::read_to_string(repository("charts/outrigger/Chart.yaml")).unwrap())
            .unwrap();
    assert_eq!(chart["appVersion"], env!("CARGO_PKG_VERSION"));
    assert_eq!(chart["version"], env!("CARGO_PKG_VERSION"));
    let objects = render(&[]);
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(objects.container("controller")["image"], format!("ghcr.io/outrigger-io/outrigger:{version}"));
    assert_eq!(objects.container("init")["image"], format!("ghcr.io/outrigger-io/outrigger-init:{version}"));
    assert_eq!(objects.container("haproxy")["image"], "docker.io/library/haproxy:3.2");
}

#[test]
fn a_registry_takes_the_place_of_another_and_a_digest_of_a_tag() {
    for (flags, expected) in [
        ("registry=mirror.example.com", "mirror.example.com/library/haproxy:3.2"),
        ("repository=localhost/haproxy,controller.haproxy.image.tag=test", "localhost/haproxy:test"),
        ("repository=localhost/haproxy,controller.haproxy.image.registry=a:5000", "a:5000/haproxy:3.2"),
        ("repository=team/haproxy,controller.haproxy.image.registry=a.example", "a.example/team/haproxy:3.2"),
    ] {
        let objects = render(&["--set", &format!("controller.haproxy.image.{flags}")]);
        assert_eq!(objects.container("haproxy")["image"], expected);
    }
}

#[test]
fn values_of_the_config_map_are_texts_as_they_were_written() {
    let objects = render(&[
        "--set",
        "controller.config.maxconn=1000000,controller.config.ssl-redirect=false,controller.config.timeout-client=50s",
        "--set-string",
        "controller.config.syslog-server=address:127.0.0.1\\, facility: local0",
    ]);
    let data = &objects.get("ConfigMap", "outrigger")["data"];
    assert_eq!(data["maxconn"], "1000000");
    assert_eq!(data["ssl-redirect"], "false");
    assert_eq!(data["timeout-client"], "50s");
    assert_eq!(data["syslog-server"], "address:127.0.0.1, facility: local0");
}

#[test]
fn every_object_has_its_namespace_and_labels() {
    for file in values_files() {
        let objects = render(&["--values", file.to_str().unwrap()]);
        for object in &objects.0 {
            let metadata = &object["metadata"];
            let is_global = ["ClusterRole", "ClusterRoleBinding", "IngressClass"]
                .contains(&object["kind"].as_str().unwrap());
            assert_eq!(metadata["namespace"].is_null(), is_global, "{metadata}");
            assert_eq!(metadata["labels"]["app.kubernetes.io/instance"], "outrigger", "{metadata}");
        }
        for account in objects.of("ServiceAccount") {
            assert_eq!(account["automountServiceAccountToken"], false);
        }
        assert!(array(&objects.pod()["spec"]["containers"]).len() == 2);
    }
}
