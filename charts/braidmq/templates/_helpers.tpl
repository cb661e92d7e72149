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

{{- define "braidmq.bootstrap" -}}
{{ include "braidmq.name" . }}-bootstrap.{{ .Release.Namespace }}.svc:{{ include "braidmq.internalPort" .Values }}
{{- end }}
