{{/* Values that cannot work, each with what to do instead. What is a matter of one value alone stands in values.schema.json. */}}
{{- define "outrigger.check" -}}
{{- $controller := .Values.controller }}
{{- if not $controller.haproxy.enabled }}
{{- fail "\ncontroller.haproxy.enabled=false asks for an HAProxy inside of the controller's container. There is none: the controller's image holds no HAProxy, it drives the unmodified one of the container beside it. Leave it true and choose that HAProxy with controller.haproxy.image.repository and .tag (2.2 or newer)." }}
{{- end }}
{{- /* Not `kubeVersion` of Chart.yaml: v1.20.0 is what a Helm says that was built without a version and speaks to no cluster. */}}
{{- $kubernetes := .Capabilities.KubeVersion.Version }}
{{- if and (semverCompare "<1.30.0-0" $kubernetes) (ne $kubernetes "v1.20.0") }}
{{- fail (printf "\nKubernetes %s is too old, 1.30 is needed: before, the kubelet cannot wait before it stops a container whose image has no shell." $kubernetes) }}
{{- end }}
{{- $longest := max (int $controller.preStopSeconds) (int $controller.haproxy.preStopSeconds) }}
{{- if le (int $controller.terminationGracePeriodSeconds) $longest }}
{{- fail (printf "\ncontroller.terminationGracePeriodSeconds (%d) has to be longer than controller.preStopSeconds and controller.haproxy.preStopSeconds (%d): Kubernetes counts them in, and HAProxy needs the rest to finish its requests." (int $controller.terminationGracePeriodSeconds) $longest) }}
{{- end }}
{{- if and $controller.hostNetwork (include "outrigger.sysctls" . | fromYamlArray) }}
{{- fail "\ncontroller.hostNetwork and sysctls exclude each other: Kubernetes sets net.* sysctls only for pods that have a network of their own. See docs/privileged-ports.md for other ways to ports below 1024." }}
{{- end }}
{{- if and $controller.hostNetwork (or $controller.hostPorts.http $controller.hostPorts.https) }}
{{- fail "\ncontroller.hostPorts lead a port of the node to the pod; with controller.hostNetwork the pod is on the node's network already. Leave one of them." }}
{{- end }}
{{- if and $controller.autoscaling.enabled (ne $controller.kind "Deployment") }}
{{- fail "\ncontroller.autoscaling scales a Deployment; a DaemonSet has one pod for each node. Leave controller.autoscaling.enabled false, or set controller.kind to Deployment." }}
{{- end }}
{{- if and $controller.autoscaling.enabled (gt (int $controller.autoscaling.minReplicas) (int $controller.autoscaling.maxReplicas)) }}
{{- fail "\ncontroller.autoscaling.minReplicas is above maxReplicas." }}
{{- end }}
{{- with $controller.podDisruptionBudget }}
{{- if and .enabled (not (kindIs "invalid" .minAvailable)) (not (kindIs "invalid" .maxUnavailable)) }}
{{- fail "\ncontroller.podDisruptionBudget takes minAvailable or maxUnavailable, not both." }}
{{- end }}
{{- end }}
{{- if and $controller.scope.namespaces (not $controller.scope.namespaced) }}
{{- fail "\ncontroller.scope.namespaces counts in namespaced mode only: set controller.scope.namespaced to true. To leave namespaces out while the role is for the whole cluster, use controller.extraArgs with --namespace-whitelist=A,B or --namespace-blacklist=A,B." }}
{{- end }}
{{- if and $controller.scope.namespaced (include "outrigger.readsNodes" .) }}
{{- fail "\ncontroller.scope.namespaced leaves no way to the addresses of the nodes, which have no namespace. Say what stands in the status of Ingresses: controller.publishService=true, controller.publishAddresses, or --disable-ingress-status-update in controller.extraArgs." }}
{{- end }}
{{- range $controller.extraArgs }}
{{- if hasPrefix "--external" . }}
{{- fail "\ncontroller.extraArgs holds --external, which makes the controller start an HAProxy of its own; its image holds none. The chart runs HAProxy in the container beside it." }}
{{- end }}
{{- end }}
{{- range $kind, $port := dict "http" (include "outrigger.port.http" .) "https" (include "outrigger.port.https" .) }}
{{- if or (lt (int $port) 1) (gt (int $port) 65535) }}
{{- fail (printf "\ncontroller.config.%s-port is no port between 1 and 65535." $kind) }}
{{- end }}
{{- end }}
{{- end }}
