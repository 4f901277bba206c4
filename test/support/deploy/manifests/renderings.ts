import { findOrBuildHelm } from '../../../../deploy/tools/chart/find-helm.ts'
import { type Manifest, render } from '../../../../deploy/tools/chart/render.ts'

export const helm = await findOrBuildHelm(
  process.env,
  line => line.startsWith('building') && process.stderr.write(`${line}\n`),
)

const known = new Map<string, Promise<readonly Manifest[]>>()

/** The manifests that the chart renders. They are cached, so a test must not change them. */
export function rendered(values: object = {}): Promise<readonly Manifest[]> {
  const key = JSON.stringify(values)
  const rendering = known.get(key) ?? render(helm, values)
  known.set(key, rendering)
  return rendering
}

const strimzi = { cluster: 'kafka' }
const kafkaNamespace = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kafka' } } }
export const networkPeers = { kafka: { to: [kafkaNamespace] }, registry: { to: [kafkaNamespace] } }

/** Each entry changes one feature of the chart. */
export const switches: Readonly<Record<string, object>> = {
  'nothing but defaults': {},
  'only the dispatcher': { services: { collector: { enabled: false }, audiences: { enabled: false } } },
  'autoscaling of the collector': { services: { collector: { autoscaling: { enabled: true } } } },
  keda: { keda: { enabled: true, sasl: 'scram_sha512', tls: true, authenticationRef: { name: 'kafka' } } },
  'pod monitor': {
    prometheusOperator: { podMonitor: { enabled: true, labels: { release: 'prometheus' }, nativeHistograms: true } },
  },
  rules: {
    prometheusOperator: {
      rules: { enabled: true, labels: { release: 'prometheus' }, runbooksAt: 'https://git.example.com/hookline/' },
    },
  },
  dashboards: { grafana: { dashboards: { enabled: true } } },
  'topics of Strimzi': { strimzi: { ...strimzi, topics: { enabled: true }, namespace: 'kafka' } },
  'user of Strimzi': { strimzi: { ...strimzi, user: { enabled: true } } },
  'external secrets': { externalSecrets: { enabled: true, store: { name: 'vault' } } },
  'secrets of each service': {
    services: {
      collector: { secret: { name: 'of-collector', key: 'a' } },
      dispatcher: { secret: { name: 'of-dispatcher', key: 'b' } },
    },
    prepare: { secret: { name: 'of-job', key: 'c' } },
  },
  'network policies': { networkPolicy: { enabled: true, ...networkPeers } },
  'narrow network policies': {
    config: { operator: { keys: [{ name: 'ada', role: 'operate', keyFile: '../secrets/ada' }] } },
    networkPolicy: {
      enabled: true,
      operatorFrom: [{ podSelector: {} }],
      collectorFrom: [{ namespaceSelector: {} }],
      ...networkPeers,
      webhookPorts: [443],
      extraEgress: [{ to: [{ ipBlock: { cidr: '203.0.113.7/32' } }], ports: [{ port: 4318 }] }],
    },
  },
  'names, labels and places': {
    fullnameOverride: 'webhooks',
    podLabels: { team: 'a' },
    podAnnotations: { 'example.com/a': 'b' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    priorityClassName: 'high',
    imagePullSecrets: [{ name: 'registry' }],
    extraEnv: [{ name: 'REGION', value: 'eu' }],
    extraVolumes: [{ name: 'more', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'more', mountPath: '/tmp' }],
    service: { annotations: { 'example.com/b': 'c' } },
    serviceAccount: { annotations: { 'example.com/c': 'd' } },
    image: { digest: `sha256:${'0'.repeat(64)}` },
  },
}

/** The values of all `switches` that disable nothing. */
export const everything = Object.values(switches)
  .filter(values => !JSON.stringify(values).includes('"enabled":false'))
  .reduce<Record<string, unknown>>((all, values) => deepMerged(all, values as Record<string, unknown>), {
    strimzi: { namespace: '' },
  })

function deepMerged(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const before = merged[key]
    const both = [before, value].every(each => typeof each === 'object' && each !== null && !Array.isArray(each))
    merged[key] = both
      ? deepMerged(before as Record<string, unknown>, value as Record<string, unknown>)
      : (before ?? value)
  }
  return merged
}
