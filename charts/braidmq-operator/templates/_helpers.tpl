{{- define "braidmq-operator.name" -}}
{{- if contains "braidmq-operator" .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-braidmq-operator" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "braidmq-operator.selector" -}}
app.kubernetes.io/name: braidmq-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "braidmq-operator.labels" -}}
{{- $own := dict "app.kubernetes.io/name" "braidmq-operator" "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/managed-by" .Release.Service "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version) -}}
{{- toYaml (merge $own .Values.commonLabels) }}
{{- end }}

{{- define "braidmq-operator.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "braidmq-operator.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "braidmq-operator.name" .) }}
{{- end }}

{{/* The namespaces to work in, as a YAML list; none of them means all. */}}
{{- define "braidmq-operator.namespaces" -}}
{{- if .Values.watchAllNamespaces -}}
{{- if .Values.watchNamespaces -}}
{{- fail "watchAllNamespaces and watchNamespaces exclude each other; leave one of them out" -}}
{{- end -}}
[]
{{- else -}}
{{- $all := .Values.watchNamespaces | default (list .Release.Namespace) -}}
{{- if and .Values.cluster.enabled (not (has .Release.Namespace $all)) -}}
{{- fail (printf "cluster.enabled puts a cluster into namespace %q, which watchNamespaces does not have; add it" .Release.Namespace) -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}
{{- end }}

{{/* Seconds of the Lease, as the operator's flags. It ends at once with values that could let two of them lead. */}}
{{- define "braidmq-operator.lease" -}}
{{- with .Values.leaderElection -}}
{{- if le (int .leaseDurationSeconds) (int .renewDeadlineSeconds) -}}
{{- fail "leaderElection.leaseDurationSeconds must be greater than renewDeadlineSeconds" -}}
{{- end -}}
{{- if le (mul 10 (int .renewDeadlineSeconds)) (mul 22 (int .retryPeriodSeconds)) -}}
{{- fail "leaderElection.renewDeadlineSeconds must be more than 2.2 times retryPeriodSeconds" -}}
{{- end -}}
- --lease-duration={{ int .leaseDurationSeconds }}s
- --renew-deadline={{ int .renewDeadlineSeconds }}s
- --retry-period={{ int .retryPeriodSeconds }}s
{{- end -}}
{{- end }}

{{/* What the operator does in a namespace. Nothing else: a test runs it under exactly this and fails on any 403. */}}
{{- define "braidmq-operator.rules" -}}
- apiGroups: [braidmq.io]
  resources: [braidclusters, braidpools, topics]
  verbs: [list, watch, patch]
- apiGroups: [braidmq.io]
  resources: [braidclusters]
  verbs: [get]
- apiGroups: [braidmq.io]
  resources: [braidclusters/status, braidpools/status, topics/status]
  verbs: [patch]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [services, configmaps]
  verbs: [get, list, watch, create, patch, delete]
# By name only, and never changed: no list, no watch, no patch.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, create]
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, list, delete]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, delete]
# Why a pod does not come up.
- apiGroups: [""]
  resources: [events]
  verbs: [list]
# Whether it is going away: nothing can be made in it then.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [monitoring.coreos.com]
  resources: [podmonitors]
  verbs: [get, list, create, patch, delete]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}
