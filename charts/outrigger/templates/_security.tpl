{{/* Security contexts. */}}

{{/* The sysctls of the pod as a YAML list. Those that guides put on the HAProxy container belong to the pod (Kubernetes has no sysctls
     on containers), as a list of name and value, as one name and value, or as a map of names. */}}
{{- define "outrigger.sysctls" -}}
{{- $all := dict }}
{{- $hoisted := default list .Values.controller.haproxy.securityContext.sysctls }}
{{- if kindIs "map" $hoisted }}
{{- if and (hasKey $hoisted "name") (hasKey $hoisted "value") }}
{{- $hoisted = list $hoisted }}
{{- else }}
{{- $listed := list }}
{{- range $name, $value := $hoisted }}{{ $listed = append $listed (dict "name" $name "value" $value) }}{{ end }}
{{- $hoisted = $listed }}
{{- end }}
{{- end }}
{{- range concat $hoisted (default list .Values.controller.podSecurityContext.sysctls) }}
{{- $_ := set $all .name (include "outrigger.text" .value) }}
{{- end }}
{{- range $name, $value := $all }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "outrigger.podSecurityContext" -}}
{{- $context := include "outrigger.given" (omit .Values.controller.podSecurityContext "sysctls") | fromYaml }}
{{- $sysctls := include "outrigger.sysctls" . | fromYamlArray }}
{{- if $sysctls }}{{ $_ := set $context "sysctls" $sysctls }}{{ end }}
{{- toYaml $context }}
{{- end }}

{{/* The HAProxy container's. Root needs two things that nobody else gets: to be allowed at all, and the one capability for which
     it was asked for. */}}
{{- define "outrigger.haproxySecurityContext" -}}
{{- $context := include "outrigger.given" (omit .Values.controller.haproxy.securityContext "sysctls") | fromYaml }}
{{- if include "outrigger.haproxyIsRoot" . }}
{{- $_ := set $context "runAsNonRoot" false }}
{{- $capabilities := default dict $context.capabilities }}
{{- if not $capabilities.add }}
{{- $_ := set $context "capabilities" (merge (dict "add" (list "NET_BIND_SERVICE")) $capabilities) }}
{{- end }}
{{- end }}
{{- toYaml $context }}
{{- end }}

{{- define "outrigger.haproxyIsRoot" -}}
{{- $user := .Values.controller.haproxy.securityContext.runAsUser }}
{{- if not (kindIs "invalid" $user) }}{{ if eq (int $user) 0 }}true{{ end }}{{ end }}
{{- end }}

{{/* A map without the keys that were set to null, which is how values take a default back. */}}
{{- define "outrigger.given" -}}
{{- $kept := dict }}
{{- range $key, $value := . }}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $kept $key $value }}{{ end }}
{{- end }}
{{- toYaml $kept }}
{{- end }}
