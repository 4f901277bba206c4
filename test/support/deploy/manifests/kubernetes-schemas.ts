import { ExternalSecret } from '@kubernetes-models/external-secrets/external-secrets.io/v1/ExternalSecret'
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject'
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor'
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule'
import { KafkaTopic } from '@kubernetes-models/strimzi-kafka-operator/kafka.strimzi.io/v1/KafkaTopic'
import { KafkaUser } from '@kubernetes-models/strimzi-kafka-operator/kafka.strimzi.io/v1/KafkaUser'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { Job } from 'kubernetes-models/batch/v1/Job'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Service } from 'kubernetes-models/v1/Service'
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import type { Manifest } from '../../../../deploy/tools/chart/render.ts'

/** Schemas of Kubernetes 1.36 and of custom resources. */
const models = [
  ...[ConfigMap, Deployment, HorizontalPodAutoscaler, Job, NetworkPolicy, PodDisruptionBudget, Service, ServiceAccount],
  ...[ExternalSecret, KafkaTopic, KafkaUser, PodMonitor, PrometheusRule, ScaledObject],
] as unknown as readonly { apiVersion: string; kind: string; prototype: { validate(): void } }[]

/** The schema violations of an object: wrong types, missing fields and unknown fields. */
export function problemsOf(manifest: Manifest): readonly string[] {
  const kind = `${manifest.apiVersion} ${manifest.kind}`
  const model = models.find(each => kind === `${each.apiVersion} ${each.kind}`)
  if (model === undefined) return [`there is no schema for ${kind}`]
  const seen: Looked[] = []
  const errors = errorsOf(() => model.prototype.validate.call(watched(manifest, '', seen)))
  const wrong = errors.map(
    ({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${JSON.stringify(params)}`,
  )
  return [...wrong, ...seen.flatMap(unknownFields)]
}

interface SchemaError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: object
}

function errorsOf(validate: () => void): readonly SchemaError[] {
  try {
    validate()
    return []
  } catch (error) {
    const { errors } = error as { errors?: readonly SchemaError[] }
    if (errors === undefined) throw error
    return errors
  }
}

interface Looked {
  readonly path: string
  readonly object: object
  readonly asked: Set<string>
  /** Whether the object is a map, for example of labels. A map has no unknown fields. */
  whole: boolean
}

/*
 * Returns a proxy that notes which fields a compiled schema function reads. The function does not
 * report unknown fields, so a field that it never reads counts as unknown.
 */
function watched(value: unknown, path: string, seen: Looked[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  const looked: Looked = { path, object: value, asked: new Set(), whole: false }
  seen.push(looked)
  const children = new Map<string, unknown>()
  return new Proxy(value, {
    get(target, key) {
      if (typeof key === 'symbol') return Reflect.get(target, key)
      looked.asked.add(key)
      if (!children.has(key)) children.set(key, watched(Reflect.get(target, key), `${path}/${key}`, seen))
      return children.get(key)
    },
    ownKeys(target) {
      looked.whole = true
      return Reflect.ownKeys(target)
    },
  })
}

/** The fields of an object that its schema does not read. */
function unknownFields({ path, object, asked, whole }: Looked): string[] {
  if (Array.isArray(object) || whole || asked.size === 0) return []
  return Object.keys(object)
    .filter(key => !asked.has(key))
    .map(key => `${path}/${key} unknown field`)
}
