{{/* The pod: init seeds, HAProxy serves, the controller drives. The init library knows the same folders and socket. */}}
{{- define "outrigger.pod" -}}
{{- $controller := .Values.controller -}}
metadata:
  labels:
    {{- include "outrigger.podLabels" (dict "root" . "component" "controller") | nindent 4 }}
    {{- with $controller.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $controller.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "outrigger.serviceAccountName" . }}
  # The token is mounted in the controller alone: what parses the traffic of clients has no access to the API.
  automountServiceAccountToken: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  terminationGracePeriodSeconds: {{ int $controller.terminationGracePeriodSeconds }}
  {{- if $controller.hostNetwork }}
  hostNetwork: true
  {{- end }}
  {{- with default (ternary "ClusterFirstWithHostNet" "" $controller.hostNetwork) $controller.dnsPolicy }}
  dnsPolicy: {{ . }}
  {{- end }}
  {{- with $controller.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext:
    {{- include "outrigger.podSecurityContext" . | nindent 4 }}
  initContainers:
    {{- include "outrigger.initContainer" . | nindent 4 }}
  containers:
    {{- include "outrigger.haproxyContainer" . | nindent 4 }}
    {{- include "outrigger.controllerContainer" . | nindent 4 }}
  volumes:
    {{- range $name := list "config" "state" "run" }}
    - name: {{ $name }}
      emptyDir: {{ include "outrigger.given" (index $controller.volumes $name) | fromYaml | toJson }}
    {{- end }}
    # What Kubernetes would mount into every container (ServiceAccount admission).
    - name: api-access
      projected:
        sources:
          - serviceAccountToken: {path: token, expirationSeconds: 3607}
          - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
          - downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}
  {{- with $controller.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $controller.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $controller.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if and (eq $controller.kind "Deployment") $controller.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- range $controller.topologySpreadConstraints }}
    {{- $own := dict "labelSelector" (dict "matchLabels" (include "outrigger.selector" (dict "root" $ "component" "controller") | fromYaml)) "matchLabelKeys" (list "pod-template-hash") }}
    - {{ merge (deepCopy .) (ternary dict $own (hasKey . "labelSelector")) | toYaml | nindent 6 | trim }}
    {{- end }}
  {{- end }}
{{- end }}

{{- define "outrigger.initContainer" -}}
{{- $healthz := include "outrigger.port.healthz" . -}}
- name: init
  image: {{ include "outrigger.image" (dict "image" .Values.init.image "tag" .Chart.AppVersion) }}
  imagePullPolicy: {{ .Values.init.image.pullPolicy }}
  {{- if ne $healthz "1042" }}
  args: [--healthz-port={{ $healthz }}]
  {{- end }}
  {{- with .Values.init.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "outrigger.given" .Values.init.securityContext | nindent 4 }}
  volumeMounts:
    - {name: config, mountPath: /etc/haproxy}
    - {name: state, mountPath: /var/lib/haproxy}
{{- end }}

{{- define "outrigger.haproxyContainer" -}}
{{- $haproxy := .Values.controller.haproxy }}
{{- $hostPorts := .Values.controller.hostPorts -}}
- name: haproxy
  image: {{ include "outrigger.image" (dict "image" $haproxy.image "tag" "3.2") }}
  imagePullPolicy: {{ $haproxy.image.pullPolicy }}
  command: [haproxy]
  args:
    - -W
    - -db
    - -S
    - /var/run/haproxy/master.sock,mode,660
    - -f
    - /etc/haproxy
    {{- with $haproxy.extraArgs }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  ports:
    - name: http
      containerPort: {{ include "outrigger.port.http" . }}
      {{- with $hostPorts.http }}
      hostPort: {{ int . }}
      {{- end }}
    - name: https
      containerPort: {{ include "outrigger.port.https" . }}
      {{- with $hostPorts.https }}
      hostPort: {{ int . }}
      {{- end }}
    - name: stat
      containerPort: {{ include "outrigger.port.stat" . }}
    - name: healthz
      containerPort: {{ include "outrigger.port.healthz" . }}
    {{- range .Values.controller.service.tcpPorts }}
    - name: tcp-{{ int .port }}
      containerPort: {{ int (default .port .targetPort) }}
    {{- end }}
  # A large configuration takes its time to load; nothing is killed or made ready before that.
  startupProbe:
    httpGet: {path: /healthz, port: healthz}
    periodSeconds: 1
    failureThreshold: 120
  livenessProbe:
    httpGet: {path: /healthz, port: healthz}
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 6
  # 200 once HAProxy serves a configuration that the controller has proven; it stays so when the controller or the API is away.
  readinessProbe:
    httpGet: {path: /readyz, port: healthz}
    periodSeconds: 2
    timeoutSeconds: 2
    failureThreshold: 3
  lifecycle:
    {{- default (dict "preStop" (dict "sleep" (dict "seconds" (int $haproxy.preStopSeconds)))) $haproxy.lifecycle | toYaml | nindent 4 }}
  {{- with $haproxy.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "outrigger.haproxySecurityContext" . | nindent 4 }}
  volumeMounts:
    - {name: config, mountPath: /etc/haproxy, readOnly: true}
    - {name: state, mountPath: /var/lib/haproxy, readOnly: true}
    - {name: run, mountPath: /var/run/haproxy}
{{- end }}

{{/* Environment of the controller's program: who it is, and what users add. */}}
{{- define "outrigger.controllerEnv" -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
{{- with .Values.controller.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "outrigger.controllerContainer" -}}
{{- $controller := .Values.controller }}
{{- $port := include "outrigger.port.controller" . -}}
- name: controller
  image: {{ include "outrigger.image" (dict "image" $controller.image "tag" .Chart.AppVersion) }}
  imagePullPolicy: {{ $controller.image.pullPolicy }}
  args:
    {{- include "outrigger.args" . | nindent 4 }}
  env:
    {{- include "outrigger.controllerEnv" . | nindent 4 }}
  {{- if ne $port "0" }}
  ports:
    - name: controller
      containerPort: {{ $port }}
  # Liveness only. Readiness is HAProxy's, so that an outage of the API never takes pods out of the Service.
  livenessProbe:
    httpGet: {path: /livez, port: controller}
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 6
  {{- end }}
  # Longer than HAProxy's, so that endpoints and certificates follow as long as requests come.
  lifecycle:
    {{- default (dict "preStop" (dict "sleep" (dict "seconds" (int $controller.preStopSeconds)))) $controller.lifecycle | toYaml | nindent 4 }}
  {{- with $controller.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "outrigger.given" $controller.securityContext | nindent 4 }}
  volumeMounts:
    - {name: config, mountPath: /etc/haproxy}
    - {name: state, mountPath: /var/lib/haproxy}
    - {name: run, mountPath: /var/run/haproxy}
    - {name: api-access, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
{{- end }}
