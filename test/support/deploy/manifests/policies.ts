import type { Manifest } from '../../../../deploy/tools/chart/render.ts'
import { type Policy, podPolicies } from './pod-policies.ts'
import { deploymentsIn, isWorkload, matches, ofKind, portNames, type Workload } from './workloads.ts'

/** Creates a policy for each Deployment. */
const deploymentPolicy = (
  name: string,
  why: string,
  holds: (deployment: Workload, all: readonly Manifest[]) => boolean,
): Policy => ({
  name,
  why,
  broken: manifests => deploymentsIn(manifests).flatMap(each => (holds(each, manifests) ? [] : [each.metadata.name])),
})

/** Policies for Deployments and across objects. */
const installationPolicies: readonly Policy[] = [
  {
    name: 'service-account',
    why: 'not the one that everything else in the namespace has, and one that there is',
    broken: manifests =>
      manifests.filter(isWorkload).flatMap(({ metadata, spec: { template } }) => {
        const { serviceAccountName = 'default' } = template.spec
        const exists = ofKind(manifests, 'ServiceAccount').some(account => account.metadata.name === serviceAccountName)
        return serviceAccountName !== 'default' && exists ? [] : [metadata.name]
      }),
  },
  deploymentPolicy('probes', 'alive, ready and begun are three questions', ({ spec }) =>
    spec.template.spec.containers.every(
      ({ livenessProbe, readinessProbe, startupProbe }) =>
        livenessProbe?.httpGet?.path === '/livez' &&
        readinessProbe?.httpGet?.path === '/readyz' &&
        startupProbe?.httpGet?.path === '/livez',
    ),
  ),
  deploymentPolicy('time-to-drain', 'killed only after 25 s of draining, and the wait before it', ({ spec }) =>
    spec.template.spec.containers.every(
      ({ lifecycle }) =>
        (spec.template.spec.terminationGracePeriodSeconds ?? 30) >= 25 + (lifecycle?.preStop?.sleep?.seconds ?? 0),
    ),
  ),
  deploymentPolicy('wait-for-proxies', 'a process that serves requests waits until no more arrive', ({ spec }) =>
    spec.template.spec.containers.every(
      container => !portNames(container).includes('http') || (container.lifecycle?.preStop?.sleep?.seconds ?? 0) > 0,
    ),
  ),
  deploymentPolicy(
    'rolling-update',
    'every pod that comes or goes moves partitions: one at a time, and never fewer than wanted',
    ({ spec }) =>
      spec.strategy?.rollingUpdate?.maxSurge === 1 &&
      spec.strategy.rollingUpdate.maxUnavailable === 0 &&
      (spec.minReadySeconds ?? 0) >= 10,
  ),
  deploymentPolicy(
    'replicas',
    'one pod is none while its node is drained',
    ({ spec, metadata }, all) => (spec.replicas ?? scaledMinimum(metadata.name, all)) >= 2,
  ),
  deploymentPolicy(
    'spread',
    'one node or zone does not take all of them',
    ({ spec: { template } }) =>
      template.spec.affinity?.podAntiAffinity !== undefined &&
      template.spec.topologySpreadConstraints?.some(
        ({ topologyKey }) => topologyKey === 'topology.kubernetes.io/zone',
      ) === true,
  ),
  deploymentPolicy(
    'disruption-budget',
    'a drain takes one at a time, and does not wait for the broken',
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
    why: 'a Service that finds no pod, or a port that none has, sends requests nowhere',
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
    why: 'a volume of a ConfigMap that there is not keeps the pod from starting',
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
    why: 'secrets come from elsewhere: rendered manifests end up in repositories',
    broken: manifests => ofKind(manifests, 'Secret').map(({ metadata }) => metadata.name),
  },
  {
    name: 'no-rights',
    why: 'nothing asks the Kubernetes API, so that nothing may',
    broken: manifests => manifests.filter(({ kind }) => /Role/.test(kind)).map(({ metadata }) => metadata.name),
  },
  {
    name: 'labels',
    why: 'everything can be found by who made it',
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
    why: 'records in retry topics wait on purpose: as lag they would scale out for nothing',
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
    why: 'of two objects with one name the second wins',
    broken: manifests => {
      const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      return names.filter((name, index) => names.indexOf(name) !== index)
    },
  },
]

/**
 * Policies for every rendering of the chart: the relevant checks of kube-linter, and further ones.
 */
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

/** The minimum replicas of the autoscaler; 0 when there is none. */
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
