import type { Manifest } from '../../../../deploy/tools/chart/render.ts'
import { type Container, isWorkload, type PodSpec, type Probe, portNames } from './workloads.ts'

export interface Policy {
  readonly name: string
  readonly why: string
  /** Returns one line per violation. */
  readonly broken: (manifests: readonly Manifest[]) => readonly string[]
}

/** Creates a policy for each pod. */
const podPolicy = (name: string, why: string, holds: (pod: PodSpec) => boolean): Policy => ({
  name,
  why,
  broken: manifests =>
    manifests.filter(isWorkload).flatMap(each => (holds(each.spec.template.spec) ? [] : [each.metadata.name])),
})

/** Creates a policy for each container, including init containers. */
const containerPolicy = (name: string, why: string, holds: (container: Container) => boolean): Policy => ({
  name,
  why,
  broken: manifests =>
    manifests
      .filter(isWorkload)
      .flatMap(({ metadata, spec: { template } }) =>
        [...(template.spec.initContainers ?? []), ...template.spec.containers]
          .filter(container => !holds(container))
          .map(container => `${metadata.name}/${container.name}`),
      ),
})

const probes = (container: Container): readonly (Probe | undefined)[] => [
  container.livenessProbe,
  container.readinessProbe,
  container.startupProbe,
]
const bytes = (quantity = ''): number => {
  const [, number = 'NaN', unit = ''] = /^(\d+)(Ki|Mi|Gi)?$/.exec(quantity) ?? []
  return Number(number) * ({ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 }[unit] ?? 1)
}

/** Policies that one pod or container must satisfy. */
export const podPolicies: readonly Policy[] = [
  podPolicy(
    'run-as-non-root',
    'root in a container is root on the node once it gets out',
    ({ securityContext }) => securityContext?.['runAsNonRoot'] === true && securityContext['runAsUser'] === 65_532,
  ),
  containerPolicy(
    'read-only-root-fs',
    'nothing can be left behind or exchanged',
    ({ securityContext }) => securityContext?.['readOnlyRootFilesystem'] === true,
  ),
  containerPolicy(
    'no-privileges',
    'no way to more rights',
    ({ securityContext }) =>
      securityContext?.['allowPrivilegeEscalation'] === false && securityContext['privileged'] !== true,
  ),
  containerPolicy(
    'drop-capabilities',
    'it needs none',
    ({ securityContext }) =>
      securityContext?.capabilities?.drop?.includes('ALL') === true &&
      (securityContext.capabilities.add ?? []).length === 0,
  ),
  podPolicy(
    'seccomp',
    'no system calls beyond the usual ones',
    ({ securityContext }) => securityContext?.seccompProfile?.type === 'RuntimeDefault',
  ),
  podPolicy(
    'host-namespaces',
    'the node is none of its business',
    ({ hostNetwork, hostPID, hostIPC }) => !(hostNetwork || hostPID || hostIPC),
  ),
  podPolicy('host-path', 'nothing of the node is mounted', ({ volumes = [] }) =>
    volumes.every(({ hostPath }) => hostPath === undefined),
  ),
  containerPolicy('host-port', 'two pods must fit on one node', ({ ports = [] }) =>
    ports.every(({ hostPort }) => hostPort === undefined),
  ),
  podPolicy(
    'no-token',
    'it never asks the Kubernetes API',
    ({ automountServiceAccountToken, enableServiceLinks }) =>
      automountServiceAccountToken === false && enableServiceLinks === false,
  ),
  containerPolicy('fixed-image', 'the running image is known and can be deployed again', ({ image }) =>
    /(:(?!latest$)[^:/]+|@sha256:[0-9a-f]{64})$/.test(image),
  ),
  containerPolicy(
    'requests',
    'the scheduler has to know what it takes',
    ({ resources }) => resources?.requests?.['cpu'] !== undefined && resources.requests['memory'] !== undefined,
  ),
  containerPolicy(
    'memory-limit',
    'the same as requested, so that it is not killed for what others take',
    ({ resources }) =>
      bytes(resources?.limits?.['memory']) > 0 && resources?.limits?.['memory'] === resources?.requests?.['memory'],
  ),
  containerPolicy(
    'no-cpu-limit',
    'a throttled event loop misses heartbeats and times calls out',
    ({ resources }) => resources?.limits?.['cpu'] === undefined,
  ),
  containerPolicy('heap-limit', "Node's own limit goes beyond that of a small container", ({ env = [] }) =>
    env.some(
      ({ name, value }) =>
        name === 'NODE_OPTIONS' && /--max-old-space-size-percentage=([2-7]\d|80)\b/.test(value ?? ''),
    ),
  ),
  containerPolicy(
    'no-secret-in-environment',
    'the environment shows in crash reports, and cannot be rotated',
    ({ env = [], envFrom = [] }) =>
      envFrom.length === 0 &&
      env.every(({ name, valueFrom }) => valueFrom === undefined && !/(key|secret|token|password)$/i.test(name)),
  ),
  containerPolicy('no-subpath', 'a file mounted so is never updated', ({ volumeMounts = [] }) =>
    volumeMounts.every(({ subPath }) => subPath === undefined),
  ),
  containerPolicy('read-only-mounts', 'configuration and secrets are read', ({ volumeMounts = [] }) =>
    volumeMounts.filter(({ mountPath }) => mountPath.startsWith('/etc/')).every(({ readOnly }) => readOnly === true),
  ),
  containerPolicy(
    'last-words',
    'why it ended shows in the status of the pod',
    ({ terminationMessagePolicy }) => terminationMessagePolicy === 'FallbackToLogsOnError',
  ),
  containerPolicy('probe-ports', 'a probe of a port that is not there fails for ever', container =>
    probes(container).every(probe => probe === undefined || portNames(container).includes(probe.httpGet?.port)),
  ),
  containerPolicy(
    'no-exec-probe',
    'there is no shell, and no program to start every few seconds',
    container =>
      probes(container).every(probe => probe?.exec === undefined) && container.lifecycle?.preStop?.exec === undefined,
  ),
]
