//! The values files for Helm: which flags and which ConfigMap the chart makes of them.

use std::path::Path;

use serde_json::Value;

use super::readme::{folder, read};

/// Values, as far as the controller hears of them.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// `controller.extraArgs` and `controller.configMaps`.
    pub(super) flags: Vec<String>,
    /// `controller.config`.
    pub(super) config: Vec<(String, String)>,
    pub(super) whole: Value,
}

/// `controller.configMaps` and the flags that the chart makes of it.
const CONFIG_MAPS: [(&str, &str); 3] = [
    ("errorfiles", "--configmap-errorfiles"),
    ("patternfiles", "--configmap-patternfiles"),
    ("tcpServices", "--configmap-tcp-services"),
];

impl Values {
    /// `examples/values/NAME`.
    pub(super) fn load(name: &str) -> Self {
        let whole: Value = serde_saphyr::from_str(&read(&folder().join("values").join(name))).unwrap();
        let controller = &whole["controller"];
        let text = |value: &Value| value.as_str().expect("texts, as the chart wants them").to_owned();
        let mut flags: Vec<String> =
            controller["extraArgs"].as_array().into_iter().flatten().map(text).collect();
        for (name, object) in controller["configMaps"].as_object().into_iter().flatten() {
            let (_, flag) =
                CONFIG_MAPS.iter().find(|(known, _)| known == name).expect("a ConfigMap of the chart");
            flags.push(format!("{flag}={}", text(object)));
        }
        let config = controller["config"].as_object().into_iter().flatten();
        let config = config.map(|(key, value)| (key.clone(), text(value))).collect();
        Self { flags, config, whole }
    }

    /// The ConfigMap that the chart makes.
    pub(super) fn config_map(&self) -> String {
        let data: serde_json::Map<String, Value> =
            self.config.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
        serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "outrigger", "namespace": "outrigger"}, "data": data,
        })
        .to_string()
    }
}

/// The file that a `helm` command names.
pub(super) fn named_by(command: &str) -> Option<&str> {
    let path =
        command.split_whitespace().find(|word| Path::new(word).extension().is_some_and(|e| e == "yaml"))?;
    path.strip_prefix("examples/values/")
}

#[test]
fn the_configmap_says_the_same_with_helm_and_without() {
    let manifest: Value = serde_saphyr::from_str(&read(&folder().join("configmap/configmap.yaml"))).unwrap();
    assert_eq!(manifest["data"], Values::load("configmap.yaml").whole["controller"]["config"]);
}

#[test]
fn every_values_file_belongs_to_an_example() {
    let page = read(&folder().join("README.md"));
    for entry in std::fs::read_dir(folder().join("values")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(page.contains(&format!("(values/{name})")), "examples/README.md does not name values/{name}");
        let example = name.trim_end_matches(".yaml");
        let commands = read(&folder().join(example).join("README.md"));
        assert!(commands.contains(&format!("-f examples/values/{name}")), "{example} does not use {name}");
    }
}

/// What Autopilot refuses, or changes so that the pod is not what was asked for.
#[test]
fn the_values_for_autopilot_ask_for_nothing_that_it_refuses() {
    let values = Values::load("gke-autopilot.yaml").whole;
    let controller = &values["controller"];
    for refused in ["/hostNetwork", "/haproxy/securityContext/sysctls", "/podSecurityContext/sysctls"] {
        assert_eq!(controller.pointer(refused), None, "{refused}");
    }
    for container in ["/resources", "/haproxy/resources"] {
        let requests = controller.pointer(&format!("{container}/requests")).unwrap();
        for resource in ["cpu", "memory", "ephemeral-storage"] {
            assert!(requests[resource].is_string(), "{container} requests no {resource}");
        }
    }
    // A load balancer reaches unprivileged ports just as well.
    assert_eq!(controller["service"]["type"], "LoadBalancer");
    assert_eq!(controller.pointer("/config/http-port"), None);
}
