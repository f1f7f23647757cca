{{/* What the controller may see. */}}

{{/* The namespaces of namespaced mode; the release's own unless others are named. */}}
{{- define "outrigger.namespaces" -}}
{{- default (list .Release.Namespace) .Values.controller.scope.namespaces | uniq | sortAlpha | toYaml }}
{{- end }}

{{/* Objects that flags name, as a YAML map: flag → NAMESPACE/NAME, from values and from extraArgs. */}}
{{- define "outrigger.namedObjects" -}}
{{- range (include "outrigger.args" . | fromYamlArray) }}
{{- $flag := regexFind "^--(configmap|configmap-errorfiles?|configmap-patternfiles|configmap-tcp-services|default-ssl-certificate|default-backend-service|publish-service)=" . }}
{{- if $flag }}
{{ trimSuffix "=" $flag }}: {{ trimPrefix $flag . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* What a namespace must allow beyond what is watched everywhere, as a YAML map: namespace → {configmaps, secrets, services}.
     A watch of one object asks with a field selector for its name, which `resourceNames` allows. */}}
{{- define "outrigger.namedGrants" -}}
{{- $grants := dict }}
{{- $whole := ternary (include "outrigger.namespaces" . | fromYamlArray) list .Values.controller.scope.namespaced }}
{{- range $flag, $object := include "outrigger.namedObjects" . | fromYaml }}
{{- $namespace := splitList "/" $object | first }}
{{- $name := splitList "/" $object | last | splitList ":" | first }}
{{- $kind := hasPrefix "--configmap" $flag | ternary "configmaps" (eq $flag "--default-ssl-certificate" | ternary "secrets" "services") }}
{{- if or (eq $kind "configmaps") (and $.Values.controller.scope.namespaced (not (has $namespace $whole))) }}
{{- $grant := default dict (get $grants $namespace) }}
{{- $_ := set $grant $kind (append (default list (get $grant $kind)) $name | uniq | sortAlpha) }}
{{- $_ := set $grants $namespace $grant }}
{{- end }}
{{- end }}
{{- toYaml $grants }}
{{- end }}

{{/* Rules for all that is watched in a namespace, or everywhere. Each is there for a request that the controller makes. */}}
{{- define "outrigger.watchRules" -}}
# `get`: the uid of an object that gets an Event, the Service that publishes addresses, a Secret that is referred to.
- apiGroups: [""]
  resources: [services, secrets]
  verbs: [get, list, watch]
- apiGroups: [networking.k8s.io]
  resources: [ingresses]
  verbs: [get, list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
{{- if not (has "--disable-ingress-status-update" .Values.controller.extraArgs) }}
- apiGroups: [networking.k8s.io]
  resources: [ingresses/status]
  verbs: [patch]
{{- end }}
{{ include "outrigger.eventRules" . }}
{{- end }}

{{- define "outrigger.eventRules" -}}
# A Problem that comes again counts up the Event that is there (`patch`).
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{/* Status is written from the addresses of nodes when neither a Service nor addresses are given. */}}
{{- define "outrigger.readsNodes" -}}
{{- $args := include "outrigger.args" . | fromYamlArray }}
{{- $given := false }}
{{- range $args }}
{{- if or (hasPrefix "--publish-service" .) (hasPrefix "--publish-address" .) (eq "--disable-ingress-status-update" .) }}{{ $given = true }}{{ end }}
{{- end }}
{{- if not $given }}true{{ end }}
{{- end }}
