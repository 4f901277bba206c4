import { describe, expect, it } from '@jest/globals'
import { policies } from '../../support/deploy/manifests/chart-policies.ts'
import { at, inContainer, inPod, plus, type Spoil, without } from '../../support/deploy/manifests/manifest-mutations.ts'
import { everything, rendered } from '../../support/deploy/manifests/renderings.ts'

/** Each row: a policy, a part of the expected violation, and the change that causes it. */
const rows: readonly [string, string, Spoil][] = [
  ['run-as-non-root', 'not set', inPod('Deployment', 'securityContext.runAsNonRoot', undefined)],
  ['run-as-non-root', 'root', inPod('Job', 'securityContext.runAsUser', 0)],
  ['read-only-root-fs', 'writable', inContainer('Deployment', 'securityContext.readOnlyRootFilesystem', false)],
  [
    'read-only-root-fs',
    'an init container that is writable',
    inPod('Job', 'initContainers', [{ name: 'x', image: 'x:1' }]),
  ],
  ['no-privileges', 'may escalate', inContainer('Deployment', 'securityContext.allowPrivilegeEscalation', undefined)],
  ['no-privileges', 'is privileged', inContainer('Deployment', 'securityContext.privileged', true)],
  ['drop-capabilities', 'not all dropped', inContainer('Deployment', 'securityContext.capabilities.drop', ['NET_RAW'])],
  ['drop-capabilities', 'one added', inContainer('Deployment', 'securityContext.capabilities.add', ['NET_ADMIN'])],
  ['seccomp', 'none', inPod('Deployment', 'securityContext.seccompProfile', undefined)],
  ['host-namespaces', 'network', inPod('Deployment', 'hostNetwork', true)],
  ['host-namespaces', 'processes', inPod('Deployment', 'hostPID', true)],
  ['host-path', 'a volume', inPod('Deployment', 'volumes.0.hostPath', { path: '/' })],
  ['host-port', 'a port', inContainer('Deployment', 'ports.0.hostPort', 9464)],
  ['no-token', 'mounted', inPod('Deployment', 'automountServiceAccountToken', undefined)],
  ['no-token', 'variables of all Services', inPod('Deployment', 'enableServiceLinks', undefined)],
  ['service-account', 'the default one', inPod('Deployment', 'serviceAccountName', 'default')],
  ['service-account', 'no account', without('ServiceAccount')],
  ['fixed-image', 'latest', inContainer('Deployment', 'image', 'hookline:latest')],
  ['fixed-image', 'no tag', inContainer('Deployment', 'image', 'registry.example.com:5000/hookline')],
  ['requests', 'no CPU', inContainer('Deployment', 'resources.requests.cpu', undefined)],
  ['memory-limit', 'none', inContainer('Deployment', 'resources.limits', undefined)],
  ['memory-limit', 'more than requested', inContainer('Deployment', 'resources.limits.memory', '8Gi')],
  ['no-cpu-limit', 'one', inContainer('Deployment', 'resources.limits.cpu', '1')],
  ['heap-limit', 'none', inContainer('Deployment', 'env', [])],
  ['heap-limit', 'all of the memory', inContainer('Deployment', 'env.0.value', '--max-old-space-size-percentage=100')],
  ['no-secret-in-environment', 'as a value', inContainer('Deployment', 'env.0', { name: 'WRITE_KEY', value: 'x' })],
  [
    'no-secret-in-environment',
    'as a reference',
    inContainer('Deployment', 'env.0', { name: 'X', valueFrom: { secretKeyRef: {} } }),
  ],
  [
    'no-secret-in-environment',
    'all values of a Secret',
    inContainer('Deployment', 'envFrom', [{ secretRef: { name: 'hookline' } }]),
  ],
  ['no-subpath', 'a single file', inContainer('Deployment', 'volumeMounts.0.subPath', 'hookline.yaml')],
  ['read-only-mounts', 'writable', inContainer('Deployment', 'volumeMounts.1.readOnly', undefined)],
  ['termination-message', 'only from a file', inContainer('Deployment', 'terminationMessagePolicy', 'File')],
  ['probes', 'no readiness', inContainer('Deployment', 'readinessProbe', undefined)],
  ['probes', 'liveness depends on readiness', inContainer('Deployment', 'livenessProbe.httpGet.path', '/readyz')],
  ['probes', 'no startup probe', inContainer('Deployment', 'startupProbe', undefined)],
  ['probe-ports', 'an unknown port', inContainer('Deployment', 'livenessProbe.httpGet.port', 'metrics')],
  ['no-exec-probe', 'a program', inContainer('Deployment', 'livenessProbe.exec', { command: ['true'] })],
  [
    'no-exec-probe',
    'a command in preStop',
    inContainer('Deployment', 'lifecycle.preStop.exec', { command: ['sleep', '5'] }),
  ],
  ['time-to-drain', 'too short', inPod('Deployment', 'terminationGracePeriodSeconds', 20)],
  ['time-to-drain', 'too long in preStop', manifests => collector(manifests, 'lifecycle.preStop.sleep.seconds', 30)],
  ['wait-for-proxies', 'no wait', manifests => collector(manifests, 'lifecycle', undefined)],
  ['rolling-update', 'one pod unavailable', at('Deployment', 'spec.strategy.rollingUpdate.maxUnavailable', 1)],
  ['rolling-update', 'all pods together', at('Deployment', 'spec.strategy.rollingUpdate.maxSurge', '100%')],
  ['rolling-update', 'without a pause', at('Deployment', 'spec.minReadySeconds', 0)],
  ['replicas', 'one', at('Deployment', 'spec.replicas', 1)],
  ['replicas', 'scaled to zero', at('ScaledObject', 'spec.minReplicaCount', 0)],
  ['replicas', 'scaled to one', at('HorizontalPodAutoscaler', 'spec.minReplicas', 1)],
  ['spread', 'all on one node', inPod('Deployment', 'affinity', undefined)],
  ['spread', 'all in one zone', inPod('Deployment', 'topologySpreadConstraints', [])],
  ['disruption-budget', 'none', without('PodDisruptionBudget')],
  ['disruption-budget', 'a drain that never ends', at('PodDisruptionBudget', 'spec.maxUnavailable', 0)],
  [
    'disruption-budget',
    'blocked by unhealthy pods',
    at('PodDisruptionBudget', 'spec.unhealthyPodEvictionPolicy', undefined),
  ],
  ['mismatching-selector', 'matches no pod', at('Deployment', 'spec.selector.matchLabels.x', 'y')],
  [
    'mismatching-selector',
    'matches all pods',
    at('Deployment', 'spec.selector.matchLabels', { 'app.kubernetes.io/name': 'hookline' }),
  ],
  ['dangling-service', 'no pod', at('Service', 'spec.selector.x', 'y')],
  ['dangling-service', 'no port', at('Service', 'spec.ports.0.targetPort', 'https')],
  ['mounted-configuration', 'none', without('ConfigMap')],
  ['no-secret', 'one', plus('Secret')],
  ['no-rights', 'some', plus('ClusterRoleBinding')],
  ['labels', 'none', at('Service', 'metadata.labels', undefined)],
  ['scale-by-events', 'all topics of the group', at('ScaledObject', 'spec.triggers.0.metadata.topic', undefined)],
  ['unique-names', 'two Services', manifests => [...manifests, ...manifests.filter(({ kind }) => kind === 'Service')]],
]

/**
 * Changes the Deployment of the collector. `inContainer` changes the first manifest, so this
 * Deployment is moved to the front.
 */
const collector: (...args: [Parameters<Spoil>[0], string, unknown]) => ReturnType<Spoil> = (manifests, path, value) => {
  const [first, others] = [true, false].map(wanted =>
    manifests.filter(({ metadata }) => /-collector$/.test(metadata.name) === wanted),
  )
  return inContainer('Deployment', path, value)([...first!, ...others!])
}

describe('policies', () => {
  const policyOf = (name: string) => policies.find(each => each.name === name)

  it.each(rows)('%s: %s', async (name, _, spoil) => {
    const manifests = await rendered(everything)
    expect(policyOf(name)?.broken(manifests)).toEqual([])
    expect(policyOf(name)?.broken(spoil(manifests))).not.toEqual([])
  })

  it.each(policies.map(({ name, why }) => [name, why]))('%s has a row that violates it (%s)', name => {
    expect(rows.map(([policy]) => policy)).toContain(name)
  })
})
