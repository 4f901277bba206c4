import type { Manifest } from '../../../../deploy/tools/chart/render.ts'
import { type Container, isWorkload, type PodSpec, type Probe, portNames } from './workloads.ts'

export interface Policy {
  readonly name: string
  readonly why: string
  /** Returns one line per violation. */
  readonly broken: (manifests: readonly Manifest[]) => readonly string[]
}

const podPolicy = (name: string, why: string, holds: (pod: PodSpec) => boolean): Policy => ({
  name,
  why,
  broken: manifests =>
    manifests.filter(isWorkload).flatMap(each => (holds(each.spec.template.spec) ? [] : [each.metadata.name])),
})

/** Creates a policy for every container, including init containers. */
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

export const podPolicies: readonly Policy[] = [
  podPolicy(
    'run-as-non-root',
    'a process that leaves its container must not be root on the node',
    ({ securityContext }) => securityContext?.['runAsNonRoot'] === true && securityContext['runAsUser'] === 65_532,
  ),
  containerPolicy(
    'read-only-root-fs',
    'an attacker cannot add or replace files',
    ({ securityContext }) => securityContext?.['readOnlyRootFilesystem'] === true,
  ),
  containerPolicy(
    'no-privileges',
    'a process cannot gain more rights',
    ({ securityContext }) =>
      securityContext?.['allowPrivilegeEscalation'] === false && securityContext['privileged'] !== true,
  ),
  containerPolicy(
    'drop-capabilities',
    'Hookline needs no capabilities',
    ({ securityContext }) =>
      securityContext?.capabilities?.drop?.includes('ALL') === true &&
      (securityContext.capabilities.add ?? []).length === 0,
  ),
  podPolicy(
    'seccomp',
    'only the usual system calls are allowed',
    ({ securityContext }) => securityContext?.seccompProfile?.type === 'RuntimeDefault',
  ),
  podPolicy(
    'host-namespaces',
    'a pod does not share the namespaces of its node',
    ({ hostNetwork, hostPID, hostIPC }) => !(hostNetwork || hostPID || hostIPC),
  ),
  podPolicy('host-path', 'a pod mounts no files of its node', ({ volumes = [] }) =>
    volumes.every(({ hostPath }) => hostPath === undefined),
  ),
  containerPolicy('host-port', 'two pods must fit on one node', ({ ports = [] }) =>
    ports.every(({ hostPort }) => hostPort === undefined),
  ),
  podPolicy(
    'no-token',
    'Hookline does not use the Kubernetes API',
    ({ automountServiceAccountToken, enableServiceLinks }) =>
      automountServiceAccountToken === false && enableServiceLinks === false,
  ),
  containerPolicy('fixed-image', 'the running image is known and can be deployed again', ({ image }) =>
    /(:(?!latest$)[^:/]+|@sha256:[0-9a-f]{64})$/.test(image),
  ),
  containerPolicy(
    'requests',
    'the scheduler needs the resources of a pod',
    ({ resources }) => resources?.requests?.['cpu'] !== undefined && resources.requests['memory'] !== undefined,
  ),
  containerPolicy(
    'memory-limit',
    'equal to the request, so that the memory of others does not evict the pod',
    ({ resources }) =>
      bytes(resources?.limits?.['memory']) > 0 && resources?.limits?.['memory'] === resources?.requests?.['memory'],
  ),
  containerPolicy(
    'no-cpu-limit',
    'a throttled process misses heartbeats and deadlines',
    ({ resources }) => resources?.limits?.['cpu'] === undefined,
  ),
  containerPolicy('heap-limit', "Node's default heap limit can exceed the memory of a container", ({ env = [] }) =>
    env.some(
      ({ name, value }) =>
        name === 'NODE_OPTIONS' && /--max-old-space-size-percentage=([2-7]\d|80)\b/.test(value ?? ''),
    ),
  ),
  containerPolicy(
    'no-secret-in-environment',
    'crash reports show the environment, which cannot be rotated',
    ({ env = [], envFrom = [] }) =>
      envFrom.length === 0 &&
      env.every(({ name, valueFrom }) => valueFrom === undefined && !/(key|secret|token|password)$/i.test(name)),
  ),
  containerPolicy('no-subpath', 'Kubernetes never updates a file that is mounted by subPath', ({ volumeMounts = [] }) =>
    volumeMounts.every(({ subPath }) => subPath === undefined),
  ),
  containerPolicy('read-only-mounts', 'configuration and secrets are never written', ({ volumeMounts = [] }) =>
    volumeMounts.filter(({ mountPath }) => mountPath.startsWith('/etc/')).every(({ readOnly }) => readOnly === true),
  ),
  containerPolicy(
    'termination-message',
    'the status of the pod shows why a container ended',
    ({ terminationMessagePolicy }) => terminationMessagePolicy === 'FallbackToLogsOnError',
  ),
  containerPolicy('probe-ports', 'a probe of a missing port always fails', container =>
    probes(container).every(probe => probe === undefined || portNames(container).includes(probe.httpGet?.port)),
  ),
  containerPolicy(
    'no-exec-probe',
    'the image has no shell, and starting Node for each probe costs CPU',
    container =>
      probes(container).every(probe => probe?.exec === undefined) && container.lifecycle?.preStop?.exec === undefined,
  ),
]
