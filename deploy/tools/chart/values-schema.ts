import { configurationJsonSchema } from '../../../src/core/settings/configuration-json-schema.ts'
import { serviceNames } from '../../../src/core/settings/service-names.ts'

type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string' }
const name: Schema = { type: 'string', pattern: '^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$' }
/** The name of Services and labels, which Kubernetes restricts more than other names. */
const label: Schema = { type: 'string', pattern: '^([a-z]([a-z0-9-]{0,61}[a-z0-9])?)?$' }
const flag: Schema = { type: 'boolean' }
const wholeFrom = (minimum: number): Schema => ({ type: 'integer', minimum })
const oneOf = (...values: readonly string[]): Schema => ({ enum: values })
const list = (items: Schema): Schema => ({ type: 'array', items })
const texts: Schema = { type: 'object', additionalProperties: text }
/** For Kubernetes types: Kubernetes checks their values when a manifest is applied. */
const anyObject: Schema = { type: 'object' }
const closedObject = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 }
const ports = list(port)
/** A base URL. The chart appends a path to it. */
const baseUrl: Schema = { type: 'string', pattern: '^$|/$' }
/** The chart sets these labels on pods, so `podLabels` must not have them. */
const ownLabels = ['name', 'instance', 'version', 'component'].map(label => `app.kubernetes.io/${label}`)
const podLabels: Schema = { ...texts, propertyNames: { not: { enum: ownLabels } } }
/** The chart defines these volumes of the pods. */
const ownVolumes = ['config', 'secrets', 'kafka']
const quantities: Schema = { type: 'object', additionalProperties: { type: ['string', 'number'] } }
/**
 * Requests and a memory limit are required: Kubernetes evicts pods without requests first, and a
 * pod without a memory limit can take the memory of other pods.
 */
const resources = closedObject(
  { requests: { ...quantities, required: ['cpu', 'memory'] }, limits: { ...quantities, required: ['memory'] } },
  ['requests', 'limits'],
)

/** The Secret of one service or of the Job `prepare`. Without a name: the shared Secret. */
const ownSecret = closedObject({ name, key: text })

const service = (more: Readonly<Record<string, Schema>> = {}): Schema =>
  closedObject({ enabled: flag, replicas: wholeFrom(1), resources, secret: ownSecret, ...more }, [
    'enabled',
    'replicas',
    'resources',
  ])

const autoscaling = closedObject({
  enabled: flag,
  minReplicas: wholeFrom(1),
  maxReplicas: wholeFrom(1),
  targetCpuPercent: { type: 'integer', minimum: 1, maximum: 100 },
})

const properties: Readonly<Record<string, Schema>> = {
  image: closedObject({
    repository: { type: 'string', minLength: 1 },
    tag: { type: 'string', not: { const: 'latest' } },
    digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    pullPolicy: oneOf('IfNotPresent', 'Always', 'Never'),
  }),
  imagePullSecrets: list(closedObject({ name }, ['name'])),
  nameOverride: label,
  fullnameOverride: label,
  secret: closedObject({ name: { ...name, minLength: 1 } }, ['name']),
  services: closedObject(
    Object.fromEntries(serviceNames.map(each => [each, service(each === 'collector' ? { autoscaling } : {})])),
    serviceNames,
  ),
  heapPercent: { type: 'integer', minimum: 20, maximum: 80 },
  // The minimum is the longest drain (25 s) plus the delay before it (5 s).
  terminationGracePeriodSeconds: wholeFrom(30),
  // Kubernetes requires a value below `progressDeadlineSeconds`, by default 600.
  minReadySeconds: { type: 'integer', minimum: 0, maximum: 599 },
  podAnnotations: texts,
  podLabels,
  nodeSelector: texts,
  tolerations: list(anyObject),
  priorityClassName: name,
  extraEnv: list(closedObject({ name: text, value: text }, ['name', 'value'])),
  extraVolumes: list({ type: 'object', properties: { name: { not: { enum: ownVolumes } } } }),
  extraVolumeMounts: list(anyObject),
  serviceAccount: closedObject({ create: flag, name, annotations: texts }),
  service: closedObject({ type: oneOf('ClusterIP', 'LoadBalancer', 'NodePort'), port, annotations: texts }),
  prepare: closedObject({ enabled: flag, resources, secret: ownSecret }),
  podDisruptionBudget: closedObject({ enabled: flag, maxUnavailable: { type: ['integer', 'string'] } }),
  keda: closedObject({
    enabled: flag,
    minReplicas: wholeFrom(1),
    maxReplicas: wholeFrom(0),
    lagThreshold: wholeFrom(1),
    authenticationRef: closedObject({ name, kind: oneOf('TriggerAuthentication', 'ClusterTriggerAuthentication') }),
    sasl: oneOf('', 'plaintext', 'scram_sha256', 'scram_sha512'),
    tls: flag,
  }),
  prometheusOperator: closedObject({
    podMonitor: closedObject({ enabled: flag, interval: text, labels: texts, nativeHistograms: flag }),
    rules: closedObject({ enabled: flag, labels: texts, runbooksAt: baseUrl }),
  }),
  consoleAt: baseUrl,
  grafana: closedObject({ dashboards: closedObject({ enabled: flag, labels: texts }) }),
  strimzi: closedObject({
    cluster: name,
    namespace: name,
    topics: closedObject({ enabled: flag, partitionsOfOthers: wholeFrom(0) }),
    user: closedObject({ enabled: flag }),
  }),
  externalSecrets: closedObject({
    enabled: flag,
    store: closedObject({ name, kind: oneOf('SecretStore', 'ClusterSecretStore') }),
    key: text,
    refreshInterval: text,
  }),
  networkPolicy: closedObject({
    enabled: flag,
    collectorFrom: list(anyObject),
    operatorFrom: list(anyObject),
    metricsFrom: list(anyObject),
    kafka: closedObject({ to: list(anyObject), ports }),
    registry: closedObject({ to: list(anyObject), ports }),
    webhookPorts: ports,
    extraEgress: list(anyObject),
  }),
  // Helm adds this value when another chart depends on this one.
  global: anyObject,
}

interface ConfigurationSchema {
  readonly $defs: Schema
  readonly properties: Readonly<Record<string, Schema>>
  readonly [keyword: string]: unknown
}

/**
 * Removes look-aheads from patterns, because Helm does not support them: `^(?!x)y` becomes `^y` and
 * `not: { pattern: '^x' }`.
 */
function withoutLookAhead(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutLookAhead)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withoutLookAhead(value)]))
  const [, forbidden, rest] =
    /^\^\(\?!([^)]*)\)(.*)$/s.exec(typeof inner['pattern'] === 'string' ? inner['pattern'] : '') ?? []
  return forbidden === undefined ? inner : { ...inner, pattern: `^${rest}`, not: { pattern: `^${forbidden}` } }
}

/** The JSON Schema of the chart's values. `config` uses the schema of the configuration. */
export function valuesSchema(): object {
  const {
    $schema,
    $defs,
    title,
    properties: keys,
    ...config
  } = withoutLookAhead(configurationJsonSchema()) as ConfigurationSchema
  // The chart sets the listen addresses, because its probes and Services refer to their ports.
  const withoutListen = ({ properties: own, ...rest }: Schema): Schema => {
    const { listen, ...others } = own as Record<string, Schema>
    return { ...rest, properties: others }
  }
  const { collector = {}, operator = {}, ops = {} } = keys
  const inChart = {
    ...keys,
    collector: withoutListen(collector),
    operator: withoutListen(operator),
    ops: withoutListen(ops),
  }
  return {
    $schema,
    title: 'Values of the Hookline chart',
    ...closedObject({ ...properties, config: { ...config, properties: inChart } }, [
      'image',
      'config',
      'services',
      'secret',
    ]),
    $defs,
  }
}
