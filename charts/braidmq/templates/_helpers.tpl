{{- define "braidmq.name" -}}
{{ .Values.name | default .Release.Name }}
{{- end }}

{{- define "braidmq.labels" -}}
{{- $own := dict "app.kubernetes.io/name" "braidmq" "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/managed-by" .Release.Service "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version) -}}
{{- toYaml (merge $own .Values.commonLabels) }}
{{- end }}

{{- define "braidmq.testImage" -}}
{{ .Values.test.image | default .Values.cluster.image | default (printf "localhost/braidmq:%s" .Chart.AppVersion) }}
{{- end }}

{{/* Port of the first internal listener. */}}
{{- define "braidmq.internalPort" -}}
{{- $port := 9092 -}}
{{- $found := false -}}
{{- range .Values.cluster.listeners -}}
{{- if and (not $found) (eq (.type | default "internal") "internal") -}}
{{- $port = .port -}}
{{- $found = true -}}
{{- end -}}
{{- end -}}
{{ int $port }}
{{- end }}

{{- define "braidmq.bootstrap" -}}
{{ include "braidmq.name" . }}-bootstrap.{{ .Release.Namespace }}.svc:{{ include "braidmq.internalPort" . }}
{{- end }}
