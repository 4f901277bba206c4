import type { Manifest } from '../../../../deploy/tools/chart/render.ts'

/* The fields of Kubernetes workloads that the policies check. */

export interface Container {
  name: string
  image: string
  securityContext?: Record<string, unknown> & { capabilities?: { drop?: string[]; add?: string[] } }
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  livenessProbe?: Probe
  readinessProbe?: Probe
  startupProbe?: Probe
  ports?: { name?: string; containerPort: number; hostPort?: number }[]
  env?: { name: string; value?: string; valueFrom?: object }[]
  envFrom?: object[]
  terminationMessagePolicy?: string
  volumeMounts?: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[]
  lifecycle?: { preStop?: { sleep?: { seconds: number }; exec?: object } }
}
export interface Probe {
  httpGet?: { path: string; port: string | number }
  exec?: object
  periodSeconds?: number
  failureThreshold?: number
  timeoutSeconds?: number
}
export interface PodSpec {
  containers: Container[]
  initContainers?: Container[]
  securityContext?: Record<string, unknown> & { seccompProfile?: { type?: string } }
  volumes?: { name: string; hostPath?: object; configMap?: { name: string }; secret?: { secretName: string } }[]
  serviceAccountName?: string
  automountServiceAccountToken?: boolean
  enableServiceLinks?: boolean
  hostNetwork?: boolean
  hostPID?: boolean
  hostIPC?: boolean
  terminationGracePeriodSeconds?: number
  affinity?: { podAntiAffinity?: object }
  topologySpreadConstraints?: { topologyKey: string }[]
}
export interface Template {
  metadata: { labels: Record<string, string> }
  spec: PodSpec
}
export interface Workload extends Manifest {
  spec: {
    template: Template
    replicas?: number
    minReadySeconds?: number
    selector?: { matchLabels: Record<string, string> }
    strategy?: { rollingUpdate?: { maxSurge?: unknown; maxUnavailable?: unknown } }
  }
}

export const isWorkload = (manifest: Manifest): manifest is Workload =>
  ['Deployment', 'Job', 'StatefulSet'].includes(manifest.kind)
export const deploymentsIn = (manifests: readonly Manifest[]): readonly Workload[] =>
  manifests.filter((each): each is Workload => each.kind === 'Deployment')
export const ofKind = (manifests: readonly Manifest[], kind: string): readonly Manifest[] =>
  manifests.filter(each => each.kind === kind)

export const portNames = ({ ports = [] }: Container): readonly unknown[] =>
  ports.flatMap(({ name, containerPort }) => [name, containerPort])
/** Whether a selector matches these labels. */
export const matches = (
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>> = {},
): boolean => Object.entries(selector).every(([key, value]) => labels[key] === value)
