import type { Manifest } from '../../../../deploy/tools/chart/render.ts'
import { type Policy, podPolicies } from './pod-policies.ts'
import { deploymentsIn, isWorkload, matches, ofKind, portNames, type Workload } from './workloads.ts'

const deploymentPolicy = (
  name: string,
  why: string,
  holds: (deployment: Workload, all: readonly Manifest[]) => boolean,
): Policy => ({
  name,
  why,
  broken: manifests => deploymentsIn(manifests).flatMap(each => (holds(each, manifests) ? [] : [each.metadata.name])),
})

/** Policies about a Deployment, or about several objects together. */
const installationPolicies: readonly Policy[] = [
  {
    name: 'service-account',
    why: 'pods use an existing account of their own, not the default account',
    broken: manifests =>
      manifests.filter(isWorkload).flatMap(({ metadata, spec: { template } }) => {
        const { serviceAccountName = 'default' } = template.spec
        const exists = ofKind(manifests, 'ServiceAccount').some(account => account.metadata.name === serviceAccountName)
        return serviceAccountName !== 'default' && exists ? [] : [metadata.name]
      }),
  },
  deploymentPolicy('probes', 'liveness, readiness and startup have separate probes', ({ spec }) =>
    spec.template.spec.containers.every(
      ({ livenessProbe, readinessProbe, startupProbe }) =>
        livenessProbe?.httpGet?.path === '/livez' &&
        readinessProbe?.httpGet?.path === '/readyz' &&
        startupProbe?.httpGet?.path === '/livez',
    ),
  ),
  deploymentPolicy('time-to-drain', 'a pod has 25 s to drain after its preStop wait', ({ spec }) =>
    spec.template.spec.containers.every(
      ({ lifecycle }) =>
        (spec.template.spec.terminationGracePeriodSeconds ?? 30) >= 25 + (lifecycle?.preStop?.sleep?.seconds ?? 0),
    ),
  ),
  deploymentPolicy('wait-for-proxies', 'a pod that serves requests waits until proxies send no more', ({ spec }) =>
    spec.template.spec.containers.every(
      container => !portNames(container).includes('http') || (container.lifecycle?.preStop?.sleep?.seconds ?? 0) > 0,
    ),
  ),
  deploymentPolicy(
    'rolling-update',
    'pods are replaced one by one, because each change moves partitions',
    ({ spec }) =>
      spec.strategy?.rollingUpdate?.maxSurge === 1 &&
      spec.strategy.rollingUpdate.maxUnavailable === 0 &&
      (spec.minReadySeconds ?? 0) >= 10,
  ),
  deploymentPolicy(
    'replicas',
    'with one pod, the drain of its node would stop the service',
    ({ spec, metadata }, all) => (spec.replicas ?? scaledMinimum(metadata.name, all)) >= 2,
  ),
  deploymentPolicy(
    'spread',
    'the loss of a node or zone must not stop all pods',
    ({ spec: { template } }) =>
      template.spec.affinity?.podAntiAffinity !== undefined &&
      template.spec.topologySpreadConstraints?.some(
        ({ topologyKey }) => topologyKey === 'topology.kubernetes.io/zone',
      ) === true,
  ),
  deploymentPolicy(
    'disruption-budget',
    'a drain stops one pod at a time and does not wait for unhealthy pods',
    ({ spec: { template } }, all) => {
      const [budget, ...more] = ofKind(all, 'PodDisruptionBudget').filter(each =>
        matches(template.metadata.labels, (each['spec'] as Budget).selector.matchLabels),
      )
      const { maxUnavailable, unhealthyPodEvictionPolicy } = (budget?.['spec'] ?? {}) as Partial<Budget>
      return more.length === 0 && maxUnavailable === 1 && unhealthyPodEvictionPolicy === 'AlwaysAllow'
    },
  ),
  deploymentPolicy('mismatching-selector', 'a Deployment has its own pods, and no others', (deployment, all) => {
    const selector = deployment.spec.selector?.matchLabels
    const owners = all.filter(isWorkload).filter(({ spec }) => matches(spec.template.metadata.labels, selector))
    return owners.length === 1 && owners[0] === deployment
  }),
  {
    name: 'dangling-service',
    why: 'every Service selects pods that have its target port',
    broken: manifests =>
      ofKind(manifests, 'Service').flatMap(({ metadata, spec }) => {
        const { selector, ports } = spec as { selector: Record<string, string>; ports: { targetPort: string }[] }
        const pods = manifests.filter(isWorkload).filter(each => matches(each.spec.template.metadata.labels, selector))
        const served =
          pods.length > 0 &&
          pods.every(pod =>
            ports.every(({ targetPort }) =>
              pod.spec.template.spec.containers.some(container => portNames(container).includes(targetPort)),
            ),
          )
        return served ? [] : [metadata.name]
      }),
  },
  {
    name: 'mounted-configuration',
    why: 'a pod does not start without the ConfigMap that it mounts',
    broken: manifests =>
      manifests
        .filter(isWorkload)
        .flatMap(({ metadata, spec: { template } }) =>
          (template.spec.volumes ?? []).flatMap(({ configMap }) =>
            configMap === undefined ||
            ofKind(manifests, 'ConfigMap').some(each => each.metadata.name === configMap.name)
              ? []
              : [`${metadata.name}: ${configMap.name}`],
          ),
        ),
  },
  {
    name: 'no-secret',
    why: 'rendered manifests may be stored in repositories',
    broken: manifests => ofKind(manifests, 'Secret').map(({ metadata }) => metadata.name),
  },
  {
    name: 'no-rights',
    why: 'Hookline does not use the Kubernetes API',
    broken: manifests => manifests.filter(({ kind }) => /Role/.test(kind)).map(({ metadata }) => metadata.name),
  },
  {
    name: 'labels',
    why: 'every object can be found by the label of Hookline',
    broken: manifests =>
      manifests
        .filter(
          ({ metadata }) =>
            !matches((metadata['labels'] ?? {}) as Record<string, string>, { 'app.kubernetes.io/name': 'hookline' }),
        )
        .map(({ metadata }) => metadata.name),
  },
  {
    name: 'scale-by-events',
    why: 'records that wait in retry topics must not cause scaling',
    broken: manifests =>
      ofKind(manifests, 'ScaledObject').flatMap(({ metadata, spec }) =>
        (spec as Scaled).triggers.every(
          ({ type, metadata: of }) => type !== 'kafka' || (of['topic'] ?? '').endsWith('.events'),
        )
          ? []
          : [metadata.name],
      ),
  },
  {
    name: 'unique-names',
    why: 'a second object with the same name would replace the first',
    broken: manifests => {
      const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      return names.filter((name, index) => names.indexOf(name) !== index)
    },
  },
]

/** The policies for every rendering of the chart. Some are checks of kube-linter. */
export const policies: readonly Policy[] = [...podPolicies, ...installationPolicies]

interface Budget {
  maxUnavailable: unknown
  unhealthyPodEvictionPolicy: string
  selector: { matchLabels: Record<string, string> }
}
interface Scaled {
  minReplicaCount: number
  scaleTargetRef: { name: string }
  triggers: { type: string; metadata: Record<string, string> }[]
}

/** The minimum replicas of the autoscaler, or 0 without an autoscaler. */
function scaledMinimum(deployment: string, all: readonly Manifest[]): number {
  const keda = ofKind(all, 'ScaledObject').find(each => (each['spec'] as Scaled).scaleTargetRef.name === deployment)
  const hpa = ofKind(all, 'HorizontalPodAutoscaler').find(
    each => (each['spec'] as Scaled).scaleTargetRef.name === deployment,
  )
  const { minReplicaCount, minReplicas = minReplicaCount } = ((keda ?? hpa)?.['spec'] ?? {}) as {
    minReplicaCount?: number
    minReplicas?: number
  }
  return minReplicas ?? 0
}
