{{/*
The pod fields that all parts (the services and the Job `prepare`) share. The templates `container`
and `volumes` below get the root context of the chart and the name of a part.
*/}}
{{- define "hookline.podSecurity" -}}
serviceAccountName: {{ include "hookline.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "hookline.container" -}}
{{- with .root -}}
image: {{ include "hookline.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- if eq (dig "delivery" "transport" "got" .Values.config) "undici" }}
# The HTTP client undici needs little memory. So the heap may grow more (200 instead of the 100 of
# the image), which saves CPU time for garbage collection.
command:
  - /app/bin/node
  - --max-semi-space-size=16
  - --heap-growing-percent=200
  - --no-allocation-site-pretenuring
  - /app/bin/hookline
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  privileged: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities:
    drop: [ALL]
terminationMessagePolicy: FallbackToLogsOnError
env:
  - name: NODE_OPTIONS
    value: --max-old-space-size-percentage={{ .Values.heapPercent }}
  {{- if .Values.strimzi.user.enabled }}
  - name: HOOKLINE_KAFKA_USER
    value: {{ include "hookline.kafkaUser" $ }}
  {{- end }}
  {{- $own := .Values.strimzi.user.enabled | ternary (list "NODE_OPTIONS" "HOOKLINE_KAFKA_USER") (list "NODE_OPTIONS") }}
  {{- range .Values.extraEnv }}
  {{- if has .name $own }}
  {{- fail (printf "extraEnv cannot set %s: the chart sets it" .name) }}
  {{- end }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumeMounts:
  # Mount whole directories. Kubernetes never updates a file that is mounted by subPath.
  - name: config
    mountPath: /etc/hookline/config
    readOnly: true
  - name: secrets
    mountPath: /etc/hookline/secrets
    readOnly: true
  {{- if .Values.strimzi.user.enabled }}
  - name: kafka
    mountPath: /etc/hookline/kafka
    readOnly: true
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "hookline.volumes" -}}
{{- with .root -}}
- name: config
  configMap:
    name: {{ include "hookline.fullname" . }}
- name: secrets
  secret:
    secretName: {{ include "hookline.secretName" $ }}
    defaultMode: 288 # 0440
{{- if .Values.strimzi.user.enabled }}
- name: kafka
  projected:
    defaultMode: 288 # 0440
    sources:
      - secret:
          name: {{ include "hookline.kafkaUser" $ }}
          items: [{ key: password, path: password }]
      - secret:
          name: {{ include "hookline.strimziCluster" . }}-cluster-ca-cert
          items: [{ key: ca.crt, path: ca.crt }]
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
{{- end -}}
