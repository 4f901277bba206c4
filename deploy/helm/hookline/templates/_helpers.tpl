{{/* Names are truncated so that the longest suffix fits into 63 characters. */}}
{{- define "hookline.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "hookline.fullname" -}}
{{- $name := include "hookline.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "hookline.selector" -}}
app.kubernetes.io/name: {{ include "hookline.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/*
Labels of pods. They do not contain the chart version, so that a new chart version alone does not
restart the pods.
*/}}
{{- define "hookline.podLabels" -}}
{{ include "hookline.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- define "hookline.labels" -}}
{{ include "hookline.podLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "hookline.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ printf "%s@%s" .repository .digest }}{{- else -}}{{ printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "hookline.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "hookline.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is required when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/*
The parts that run in pods: the services and the Job `prepare`. Each has its own Kafka user, and may
have its own Secret.
*/}}
{{- define "hookline.parts" -}}
{{- $parts := list -}}
{{- range $name, $_ := .Values.services -}}
{{- if include "hookline.runs" (dict "root" $ "service" $name) -}}{{- $parts = append $parts $name -}}{{- end -}}
{{- end -}}
{{- if .Values.prepare.enabled -}}{{- $parts = append $parts "prepare" -}}{{- end -}}
{{- dict "parts" $parts | toJson -}}
{{- end -}}

{{/*
The `secret` values of a part (a service or the Job `prepare`). Empty when the part has no separate
Secret.
*/}}
{{- define "hookline.ownSecret" -}}
{{- $values := eq .part "prepare" | ternary .root.Values.prepare (get .root.Values.services .part) -}}
{{- $values.secret | default dict | toJson -}}
{{- end -}}

{{/* The name of the Secret that a part (a service or the Job `prepare`) mounts. */}}
{{- define "hookline.secretName" -}}
{{- $own := include "hookline.ownSecret" . | fromJson -}}
{{- default .root.Values.secret.name $own.name -}}
{{- end -}}

{{/*
The name of the Kafka user of a part (a service or the Job `prepare`). Strimzi creates a Secret of
the same name for it.
*/}}
{{- define "hookline.kafkaUser" -}}
{{- include "hookline.fullname" .root -}}-kafka-{{ .part }}
{{- end -}}

{{- define "hookline.topicPrefix" -}}
{{- default "hookline" (.Values.config.topics).prefix -}}
{{- end -}}

{{- define "hookline.partitions" -}}
{{- default 12 (.Values.config.topics).partitions | int -}}
{{- end -}}

{{/*
Fails if a value below `at`, a path in the values, contains a secret as text, because everybody who
may read ConfigMaps could read the secret. Variables such as ${NAME} are permitted, but not with a
default. `secrets` is the list in files/secret-keys.yaml.
*/}}
{{- define "hookline.failOnPlainSecrets" -}}
{{- $in := . -}}
{{- if kindIs "slice" .value -}}
{{- range $index, $value := .value -}}
{{- include "hookline.failOnPlainSecrets" (dict "secrets" $in.secrets "at" (printf "%s[%d]" $in.at $index) "value" $value) -}}
{{- end -}}
{{- else if kindIs "map" .value -}}
{{- range $key, $value := .value -}}
{{- $at := printf "%s.%s" $in.at $key -}}
{{- if has (regexReplaceAll `\[[0-9]+\]` $at "" | trimPrefix "config.") $in.secrets -}}
{{- range kindIs "slice" $value | ternary $value (list $value) -}}
{{- if regexReplaceAll `\$\{[A-Za-z_][A-Za-z0-9_]*(:-)?\}` (toString .) "" -}}
{{- fail (printf "%s is a secret, and the chart would write it into a ConfigMap. Put it into a file of a Secret, and set %sFile to the name of the file, for example ../secrets/NAME" $at $at) -}}
{{- end -}}
{{- end -}}
{{- else -}}
{{- include "hookline.failOnPlainSecrets" (dict "secrets" $in.secrets "at" $at "value" $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails if a value of the configuration has a variable: the chart cannot replace it. */}}
{{- define "hookline.failOnVariables" -}}
{{- $in := . -}}
{{- range $key, $value := .values -}}
{{- if contains "${" (toString $value) -}}
{{- fail (printf "%s needs %s.%s without variables, because only Hookline replaces them: %v" $in.for $in.at $key $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The configuration file: `config` and the values that the chart sets. */}}
{{- define "hookline.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- if .Values.strimzi.user.enabled -}}
{{- $sasl := dict "mechanism" "scram-sha-512" "username" "${HOOKLINE_KAFKA_USER}" "passwordFile" "../kafka/password" -}}
{{- $_ := set $config "kafka" (merge (dict "sasl" $sasl "tls" (dict "caFile" "../kafka/ca.crt")) $config.kafka) -}}
{{- end -}}
{{- if include "hookline.hasOperator" . -}}
{{- $_ := set $config "operator" (merge (dict "listen" "0.0.0.0:8090") $config.operator) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Whether a service has pods. Without operator keys, the operator service has none. */}}
{{- define "hookline.runs" -}}
{{- $isEnabled := (get .root.Values.services .service).enabled -}}
{{- if and $isEnabled (or (ne .service "operator") (dig "operator" "keys" list .root.Values.config)) -}}yes{{- end -}}
{{- end -}}

{{/* Whether the operator API listens. */}}
{{- define "hookline.hasOperator" -}}
{{- include "hookline.runs" (dict "root" . "service" "operator") -}}
{{- end -}}

{{/* Hash of the configuration that running processes do not reload. Its change restarts the pods. */}}
{{- define "hookline.restartChecksum" -}}
{{- $config := include "hookline.config" . | fromYaml -}}
{{- range (.Files.Get "files/live-keys.yaml" | fromYaml).keys -}}
{{- $_ := unset $config . -}}
{{- end -}}
{{- if dig "operator" "encryptionKeyFile" "" .Values.config -}}
{{- $_ := set $config "hasConfigTopic" true -}}
{{- end -}}
{{- $config | toJson | sha256sum -}}
{{- end -}}

{{- define "hookline.strimziNamespace" -}}
{{- default .Release.Namespace .Values.strimzi.namespace -}}
{{- end -}}

{{- define "hookline.strimziCluster" -}}
{{- required "strimzi.cluster is required: the name of the Kafka resource" .Values.strimzi.cluster -}}
{{- end -}}

{{/* A duration in its largest whole unit, as in the names of retry topics. */}}
{{- define "hookline.canonicalDuration" -}}
{{- if not (regexMatch "^[0-9]+(ms|s|m|h)$" .) -}}
{{- fail (printf "config.delivery.schedule: retry topics are named after the delays, so %q must be a plain duration such as 30s" .) -}}
{{- end -}}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 -}}
{{- $ms := mul (regexFind "^[0-9]+" . | int64) (get $units (regexFind "[a-z]+$" .)) -}}
{{- if eq (mod $ms 3600000) 0 -}}{{ div $ms 3600000 }}h
{{- else if eq (mod $ms 60000) 0 -}}{{ div $ms 60000 }}m
{{- else if eq (mod $ms 1000) 0 -}}{{ div $ms 1000 }}s
{{- else -}}{{ $ms }}ms
{{- end -}}
{{- end -}}
