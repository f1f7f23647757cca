{{/* Flags of the controller. */}}

{{/* NAMESPACE/NAME; without a namespace that of the release. Use: dict "root" $ "name" NAME. */}}
{{- define "outrigger.objectName" -}}
{{- if contains "/" .name }}{{ .name }}{{ else }}{{ printf "%s/%s" .root.Release.Namespace .name }}{{ end }}
{{- end }}

{{/* Status comes from the Service, unless it is not the way in. */}}
{{- define "outrigger.publishesService" -}}
{{- $publish := .Values.controller.publishService }}
{{- if .Values.controller.service.enabled }}
{{- if kindIs "invalid" $publish }}{{ if not .Values.controller.hostNetwork }}true{{ end }}
{{- else if $publish }}true{{ end }}
{{- end }}
{{- end }}

{{/* What values say, as a YAML list. */}}
{{- define "outrigger.valueArgs" -}}
{{- $controller := .Values.controller }}
{{- $own := printf "%s/%s" .Release.Namespace (include "outrigger.fullname" .) }}
- --configmap={{ $own }}
{{- range $flag, $name := dict "--configmap-errorfiles" $controller.configMaps.errorfiles "--configmap-patternfiles" $controller.configMaps.patternfiles "--configmap-tcp-services" $controller.configMaps.tcpServices "--default-ssl-certificate" $controller.defaultCertificate }}
{{- with $name }}
- {{ $flag }}={{ include "outrigger.objectName" (dict "root" $ "name" .) }}
{{- end }}
{{- end }}
{{- if include "outrigger.publishesService" . }}
- --publish-service={{ $own }}
{{- end }}
{{- range $controller.publishAddresses }}
- --publish-address={{ . }}
{{- end }}
- --election-id={{ include "outrigger.fullname" . }}-leader
{{- if $controller.scope.namespaced }}
- --namespace-whitelist={{ include "outrigger.namespaces" . | fromYamlArray | join "," }}
- --ingress-class={{ $controller.ingressClass.name }}
{{- end }}
{{- if ne $controller.ingressClass.controller "outrigger.dev/ingress-controller" }}
- --controller-class={{ $controller.ingressClass.controller }}
{{- end }}
{{- if .Values.defaultBackend.enabled }}
- --default-backend-service={{ $own }}-default-backend:http
{{- end }}
{{- with $controller.containerPorts }}
{{- if ne (int .http) 8080 }}
- --http-bind-port={{ int .http }}
{{- end }}
{{- if ne (int .https) 8443 }}
- --https-bind-port={{ int .https }}
{{- end }}
{{- if ne (int .stat) 1024 }}
- --stats-bind-port={{ int .stat }}
{{- end }}
{{- if ne (int .healthz) 1042 }}
- --healthz-bind-port={{ int .healthz }}
{{- end }}
{{- if ne (int .controller) 6060 }}
- --controller-port={{ int .controller }}
{{- end }}
{{- if ne (int .defaultBackend) 6061 }}
- --default-backend-port={{ int .defaultBackend }}
{{- end }}
{{- end }}
{{- if $controller.prometheus.enabled }}
- --prometheus
{{- end }}
{{- if $controller.pprof.enabled }}
- --pprof
{{- end }}
- --log-level={{ $controller.logging.level }}
- --log-format={{ $controller.logging.format }}
{{- end }}

{{/* All of them. A flag in extraArgs takes the place of the one that the chart would write: given twice, it would be a mistake. */}}
{{- define "outrigger.args" -}}
{{- $given := dict }}
{{- range .Values.controller.extraArgs }}
{{- $_ := set $given (regexFind "^-+[A-Za-z0-9.-]*" .) true }}
{{- end }}
{{- $args := list }}
{{- range (include "outrigger.valueArgs" . | fromYamlArray) }}
{{- if not (hasKey $given (regexFind "^-+[A-Za-z0-9.-]*" .)) }}{{ $args = append $args . }}{{ end }}
{{- end }}
{{- toYaml (concat $args .Values.controller.extraArgs) }}
{{- end }}
