//! Custom resources of haproxytech's controller: they are not read, and their authors are told what to use.

/// What takes the place of a custom resource of that controller (groups `core.haproxy.org`, `ingress.v1.haproxy.org`,
/// `ingress.v3.haproxy.org`); `None` when it is none.
pub(super) fn instead(version: &str, kind: &str) -> Option<&'static str> {
    let (group, _) = version.split_once('/')?;
    if group != "haproxy.org" && !group.ends_with(".haproxy.org") {
        return None;
    }
    Some(match kind {
        "Global" => {
            "write keys such as `maxconn` or `nbthread`, or `global-config-snippet`, into the ConfigMap"
        }
        "Defaults" => "write keys such as `timeout-client` or `http-connection-mode` into the ConfigMap",
        "Backend" => "write keys such as `load-balance` or `timeout-server` on the Service",
        "Frontend" => {
            "write keys such as `request-capture` on the Ingress, or `frontend-config-snippet` into the ConfigMap"
        }
        "TCP" => "write the port into the ConfigMap that `--configmap-tcp-services` names",
        "ValidationRules" => "use the keys that `outrigger options list` shows, or a snippet",
        _ => "`outrigger options list` shows what can be configured",
    })
}

#[cfg(test)]
mod tests {
    use super::instead;

    #[test]
    fn resources_of_that_controller_are_known_and_others_are_not() {
        assert!(instead("ingress.v3.haproxy.org/v3", "Backend").is_some_and(|hint| hint.contains("Service")));
        assert!(
            instead("ingress.v1.haproxy.org/v1", "TCP").is_some_and(|hint| hint.contains("tcp-services"))
        );
        assert!(instead("core.haproxy.org/v1alpha2", "Something").is_some());
        for (version, kind) in [("v1", "Backend"), ("example.org/v1", "Global"), ("notharoxy.org/v1", "TCP")]
        {
            assert_eq!(instead(version, kind), None, "{version}");
        }
    }
}
