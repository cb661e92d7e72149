{{/*
The custom resources of a cluster as a YAML list. Takes a dict: name (of the BraidCluster), namespace, labels, values (cluster,
pools, topics). Shared with chart braidmq-operator: `make crds` copies this file, and a test finds drift.
*/}}
{{- define "braidmq.objects" -}}
{{- $in := . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$" .name) -}}
{{- fail (printf "the cluster's name %q is made into names of Services: at most 40 of a-z, 0-9 and '-', beginning with a letter; set `name`" .name) -}}
{{- end -}}
{{- $reference := dict "name" .name -}}
- apiVersion: braidmq.io/v1alpha1
  kind: BraidCluster
  metadata:
    name: {{ .name }}
    namespace: {{ .namespace }}
    labels: {{- toYaml .labels | nindent 6 }}
  spec: {{- toYaml (.values.cluster | default dict) | nindent 4 }}
{{- range $short, $spec := .values.pools }}
{{- /* null takes a pool of another values file away. */}}
{{- if not (kindIs "invalid" $spec) }}
{{- $name := printf "%s-%s" $in.name $short }}
{{- if gt (len $name) 40 }}
{{- fail (printf "the pool's name %q has more than 40 characters; shorten `name` or the pool's" $name) }}
{{- end }}
- apiVersion: braidmq.io/v1alpha1
  kind: BraidPool
  metadata:
    name: {{ $name }}
    namespace: {{ $in.namespace }}
    labels: {{- toYaml $in.labels | nindent 6 }}
  spec: {{- toYaml (merge (dict "clusterRef" $reference) $spec) | nindent 4 }}
{{- end }}
{{- end }}
{{- range $short, $spec := .values.topics }}
- apiVersion: braidmq.io/v1alpha1
  kind: Topic
  metadata:
    name: {{ printf "%s-%s" $in.name $short }}
    namespace: {{ $in.namespace }}
    labels: {{- toYaml $in.labels | nindent 6 }}
  spec: {{- toYaml (merge (dict "clusterRef" $reference) ($spec | default dict) (dict "topicName" $short)) | nindent 4 }}
{{- end }}
{{- end }}

{{/* Port of the first internal listener. Takes the values of a cluster, as the next one does. */}}
{{- define "braidmq.internalPort" -}}
{{- $port := 0 -}}
{{- range .cluster.listeners -}}
{{- if and (not $port) (eq (.type | default "internal") "internal") -}}
{{- $port = int .port -}}
{{- end -}}
{{- end -}}
{{ $port | default 9092 }}
{{- end }}

{{/* A topic for examples: one that is there, or one for which braidmq.makeExampleTopic has the words. */}}
{{- define "braidmq.exampleTopic" -}}
{{- $topic := "greetings" -}}
{{- if .topics -}}
{{- $short := keys .topics | sortAlpha | first -}}
{{- $topic = get (get .topics $short | default dict) "topicName" | default $short -}}
{{- end -}}
{{ $topic }}
{{- end }}

{{/* How to make it, where no topic is there and brokers make none by themselves. With values, cluster and namespace. */}}
{{- define "braidmq.makeExampleTopic" -}}
{{- if not (or .values.topics (eq (get (.values.cluster.config | default dict) "auto.create.topics.enable" | toString) "true")) }}

Make a topic first:

  echo '{"apiVersion": "braidmq.io/v1alpha1", "kind": "Topic", "metadata": {"name": "{{ include "braidmq.exampleTopic" .values }}"}, "spec": {"clusterRef": {"name": "{{ .cluster }}"}}}' | kubectl -n {{ .namespace }} apply -f -
{{- end }}
{{- end }}
