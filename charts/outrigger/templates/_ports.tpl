{{/* Ports in the pod. */}}

{{/* The port that counts: what the ConfigMap says wins over the flag, as in the controller; a flag in extraArgs over the value.
     Use: dict "root" $ "key" CONFIG_KEY "flag" FLAG "value" PORT. */}}
{{- define "outrigger.port" -}}
{{- $port := .value }}
{{- range .root.Values.controller.extraArgs }}
{{- if hasPrefix (printf "%s=" $.flag) . }}{{ $port = trimPrefix (printf "%s=" $.flag) . }}{{ end }}
{{- end }}
{{- with .key }}{{ with index $.root.Values.controller.config . }}{{ $port = . }}{{ end }}{{ end }}
{{- int $port }}
{{- end }}

{{- define "outrigger.port.http" -}}
{{- include "outrigger.port" (dict "root" . "key" "http-port" "flag" "--http-bind-port" "value" .Values.controller.containerPorts.http) }}
{{- end }}

{{- define "outrigger.port.https" -}}
{{- include "outrigger.port" (dict "root" . "key" "https-port" "flag" "--https-bind-port" "value" .Values.controller.containerPorts.https) }}
{{- end }}

{{- define "outrigger.port.stat" -}}
{{- include "outrigger.port" (dict "root" . "key" "" "flag" "--stats-bind-port" "value" .Values.controller.containerPorts.stat) }}
{{- end }}

{{- define "outrigger.port.healthz" -}}
{{- include "outrigger.port" (dict "root" . "key" "" "flag" "--healthz-bind-port" "value" .Values.controller.containerPorts.healthz) }}
{{- end }}

{{- define "outrigger.port.controller" -}}
{{- include "outrigger.port" (dict "root" . "key" "" "flag" "--controller-port" "value" .Values.controller.containerPorts.controller) }}
{{- end }}

{{/* The kernel lets HAProxy open ports from here on: 0 for root and with the sysctl, else 1024. */}}
{{- define "outrigger.lowestPort" -}}
{{- $lowest := 1024 }}
{{- if include "outrigger.haproxyIsRoot" . }}{{ $lowest = 0 }}{{ end }}
{{- range (include "outrigger.sysctls" . | fromYamlArray) }}
{{- if eq .name "net.ipv4.ip_unprivileged_port_start" }}{{ $lowest = int .value }}{{ end }}
{{- end }}
{{- $lowest }}
{{- end }}

{{/* The names of the ports of a list: its kind for the first one, then KIND-PORT. */}}
{{- define "outrigger.servicePorts" -}}
{{- $kind := .kind }}
{{- range $at, $entry := .ports }}
- name: {{ default (ternary $kind (printf "%s-%d" $kind (int $entry.port)) (eq $at 0)) $entry.name }}
  port: {{ int $entry.port }}
  targetPort: {{ default $.target $entry.targetPort }}
  protocol: TCP
  {{- with $entry.appProtocol }}
  appProtocol: {{ . }}
  {{- end }}
  {{- with $entry.nodePort }}
  nodePort: {{ int . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Type of the Service: with hostNetwork the nodes themselves are the way in. */}}
{{- define "outrigger.serviceType" -}}
{{- default (ternary "ClusterIP" "NodePort" .Values.controller.hostNetwork) .Values.controller.service.type }}
{{- end }}

{{/* The statistics page has no password: it is not given to a load balancer unless that is asked for. */}}
{{- define "outrigger.statIsServed" -}}
{{- $enabled := .Values.controller.service.stat.enabled }}
{{- if kindIs "invalid" $enabled }}
{{- if ne (include "outrigger.serviceType" .) "LoadBalancer" }}true{{ end }}
{{- else if $enabled }}true{{ end }}
{{- end }}
