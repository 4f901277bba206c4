import { describe, expect, it } from '@jest/globals'
import { rendered } from '../../support/deploy/manifests/renderings.ts'

describe('rejected values', () => {
  const cluster = { cluster: 'kafka' }
  const rows: readonly [string, object, string][] = [
    ['an unknown value', { replicaCount: 3 }, 'replicaCount'],
    ['a misspelt key of the configuration', { config: { kafka: { broker: [] } } }, "'broker' not allowed"],
    ['a wrong duration', { config: { delivery: { timeout: '5 seconds' } } }, '/config/delivery/timeout'],
    ['no brokers', { config: { kafka: { brokers: [] } } }, '/config/kafka/brokers'],
    ['a reserved id', { config: { sources: [{ id: 'hookline.x', writeKey: 'k' }] } }, '/config/sources/0/id'],
    [
      'a listen address, which the chart sets',
      { config: { collector: { listen: '0.0.0.0:80' } } },
      "'listen' not allowed",
    ],
    [
      'a listen address of the operator API',
      {
        config: {
          operator: { listen: '0.0.0.0:80', keys: [{ name: 'ada', role: 'operate', keyFile: '../secrets/ada' }] },
        },
      },
      "'listen' not allowed",
    ],
    ['a base URL without a slash at the end', { consoleAt: 'https://a.example' }, '/consoleAt'],
    [
      'runbooks without a slash at the end',
      { prometheusOperator: { rules: { runbooksAt: 'https://a.example' } } },
      '/runbooksAt',
    ],
    [
      'a label that the chart sets',
      { podLabels: { 'app.kubernetes.io/component': 'x' } },
      'app.kubernetes.io/component',
    ],
    [
      'a variable that the chart sets',
      { extraEnv: [{ name: 'NODE_OPTIONS', value: '' }] },
      'extraEnv cannot set NODE_OPTIONS',
    ],
    [
      'a minimum of replicas above the maximum',
      { services: { collector: { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 4 } } } },
      'minReplicas (5) is greater than maxReplicas (4)',
    ],
    [
      'a minimum of KEDA above its maximum',
      { keda: { enabled: true, minReplicas: 5, maxReplicas: 4 } },
      'keda.minReplicas (5) is greater than keda.maxReplicas (4)',
    ],
    ['the tag latest', { image: { tag: 'latest' } }, '/image/tag'],
    ['no memory limit', { services: { collector: { resources: { limits: { memory: null } } } } }, 'memory'],
    ['no replicas', { services: { dispatcher: { replicas: 0 } } }, '/services/dispatcher/replicas'],
    ['an unknown service', { services: { receiver: { enabled: true } } }, 'receiver'],
    ['a grace period shorter than the drain', { terminationGracePeriodSeconds: 10 }, '/terminationGracePeriodSeconds'],
    ['the whole memory as heap', { heapPercent: 100 }, '/heapPercent'],
    ['a secret by reference', { extraEnv: [{ name: 'K', valueFrom: {} }] }, '/extraEnv/0'],
    ['topics without a cluster', { strimzi: { topics: { enabled: true } } }, 'strimzi.cluster is required'],
    [
      'a Secret that pods cannot mount',
      { strimzi: { ...cluster, namespace: 'kafka', user: { enabled: true } } },
      'needs an empty strimzi.namespace',
    ],
    [
      'a schedule with a variable',
      { config: { delivery: { schedule: [`\${WAIT}`] } }, strimzi: { ...cluster, topics: { enabled: true } } },
      'must be a plain duration',
    ],
    [
      'KEDA with a variable in the brokers',
      { config: { kafka: { brokers: [`\${KAFKA}`] } }, keda: { enabled: true } },
      'keda needs config.kafka.brokers without variables',
    ],
    [
      'topics with a variable in the prefix',
      { config: { topics: { prefix: `\${PREFIX}` } }, strimzi: { ...cluster, topics: { enabled: true } } },
      'strimzi.topics needs config.topics.prefix without variables',
    ],
    [
      'users with a variable in the prefix',
      { config: { topics: { prefix: `\${PREFIX}` } }, strimzi: { ...cluster, user: { enabled: true } } },
      'strimzi.user needs config.topics.prefix without variables',
    ],
    ['a name that a Service cannot have', { fullnameOverride: 'a.b' }, '/fullnameOverride'],
    ['an availability time that a Deployment cannot have', { minReadySeconds: 600 }, '/minReadySeconds'],
    ['a volume name that the chart uses', { extraVolumes: [{ name: 'config', emptyDir: {} }] }, '/extraVolumes/0'],
    ['no secret store', { externalSecrets: { enabled: true } }, 'externalSecrets.store.name is required'],
    ['no service account', { serviceAccount: { create: false } }, 'serviceAccount.name is required'],
  ]
  it.each(rows)('%s', async (_, values, words) => {
    await expect(rendered(values)).rejects.toThrow(words)
  })
})
