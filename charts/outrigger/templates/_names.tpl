{{/* Names and labels. */}}

{{- define "outrigger.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Name of every object: `outrigger` for a release of this name. 45: room for the longest suffix, `-default-backend`. */}}
{{- define "outrigger.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 45 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 45 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Objects without a namespace carry that of the release, so that two releases of one name do not share them. */}}
{{- define "outrigger.clusterName" -}}
{{- $full := include "outrigger.fullname" . }}
{{- if eq $full .Release.Namespace }}{{ $full }}{{ else }}{{ printf "%s-%s" .Release.Namespace $full }}{{ end }}
{{- end }}

{{- define "outrigger.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "outrigger.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* What Deployments, Services and budgets select pods by; never changes. Use: dict "root" $ "component" NAME. */}}
{{- define "outrigger.selector" -}}
app.kubernetes.io/name: {{ include "outrigger.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Of pods: nothing that another version of the chart alone would change, since that would replace them. */}}
{{- define "outrigger.podLabels" -}}
{{ include "outrigger.selector" . }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "outrigger.labels" -}}
{{ include "outrigger.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* name, namespace and labels of an object. Use: dict "root" $ "component" NAME ["name" NAME]. */}}
{{- define "outrigger.metadata" -}}
name: {{ default (include "outrigger.fullname" .root) .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "outrigger.labels" . | nindent 2 }}
{{- end }}

{{/* An image. `registry` takes the place of the registry in `repository`; a digest wins over a tag.
     Use: dict "image" VALUES "tag" DEFAULT. */}}
{{- define "outrigger.image" -}}
{{- $repository := .image.repository }}
{{- with .image.registry }}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $repository "") }}
{{- end }}
{{- if .image.digest }}
{{- printf "%s@%s" $repository .image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .tag (toString (default "" .image.tag))) }}
{{- end }}
{{- end }}

{{/* A value as text of a ConfigMap: numbers of YAML are floats for Helm, and 1000000 must not become 1e+06. */}}
{{- define "outrigger.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) }}{{ int64 . }}{{ else }}{{ toString . }}{{ end }}
{{- end }}
