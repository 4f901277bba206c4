import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import type { Manifest } from '../../../deploy/tools/chart/render.ts'
import { nodeFlagsForUndici } from '../../../deploy/tools/local/node-flags.ts'
import { formatProblem, loadConfigFile } from '../../../src/adapters/config-file/config-file.ts'
import { delivery } from '../../../src/core/settings/schema-of-configuration.ts'
import { defaultListen } from '../../../src/core/settings/schema-of-http-servers.ts'
import { serviceNames } from '../../../src/core/settings/service-names.ts'
import { liveKeys } from '../../../src/core/settings/settings-change.ts'
import { topicConfig, topicNames, topicSpecs } from '../../../src/core/topics.ts'
import { rendered } from '../../support/deploy/manifests/renderings.ts'
import { deploymentsIn, ofKind } from '../../support/deploy/manifests/workloads.ts'
import { createAuthority } from '../../support/network/certificates.ts'

/*
 * The chart repeats values of the code. These tests check that the values are equal, and that the
 * chart rejects what the code rejects.
 */

const checkout = resolve(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(checkout, file), 'utf8')
const chart = 'deploy/helm/hookline'
const specOf = (manifests: readonly Manifest[], kind: string) =>
  ofKind(manifests, kind).map(each => each['spec'] as Record<string, unknown>)
const configurationIn = (manifests: readonly Manifest[]): string =>
  (ofKind(manifests, 'ConfigMap')[0]?.['data'] as Record<string, string> | undefined)?.['hookline.yaml'] ?? ''

/** The services that have pods if no key of the operator API is configured. */
const withoutKeys = serviceNames.filter(name => name !== 'operator')
const operatorKey = (name: string) => ({ name, role: 'operate', keyFile: `../secrets/${name}` })

describe('values that the chart repeats', () => {
  it('the version equals that of the package', () => {
    const { version } = JSON.parse(read('package.json'))
    expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version })
  })

  it('there is a Deployment for each service, for the operator service when it has a key', async () => {
    const namesIn = (manifests: readonly Manifest[]) => deploymentsIn(manifests).map(({ metadata }) => metadata.name)
    expect(namesIn(await rendered())).toEqual([...withoutKeys].sort().map(name => `hookline-${name}`))
    const deployments = deploymentsIn(await rendered({ config: { operator: { keys: [operatorKey('ada')] } } }))
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(
      [...serviceNames].sort().map(name => `hookline-${name}`),
    )
    const words = deployments.map(
      ({ spec }) => (spec.template.spec.containers[0] as unknown as { args: string[] }).args,
    )
    expect(words).toEqual([...serviceNames].sort().map(name => ['run', '--services', name, '--wait-for-setup']))
  })

  it('with undici the containers start Node with the flags for undici, otherwise with those of the image', async () => {
    const commands = async (config: object) =>
      deploymentsIn(await rendered({ config })).map(
        ({ spec }) => (spec.template.spec.containers[0] as unknown as { command?: string[] }).command,
      )
    const flags = new Map(nodeFlagsForUndici.map(flag => [flag.split('=')[0], flag]))
    const command = ['/app/bin/node', ...flags.values(), '/app/bin/hookline']
    expect(await commands({ delivery: { transport: 'undici' } })).toEqual(withoutKeys.map(() => command))
    expect(await commands({})).toEqual(withoutKeys.map(() => undefined))
  })

  it('ports equal those on which the code listens', async () => {
    const ports = deploymentsIn(await rendered()).flatMap(({ spec }) =>
      spec.template.spec.containers.flatMap(({ ports: own = [] }) => own),
    )
    const portOf = (name: string) => [
      ...new Set(ports.filter(each => each.name === name).map(({ containerPort }) => `0.0.0.0:${containerPort}`)),
    ]
    expect({ collector: portOf('http'), ops: portOf('ops') }).toEqual({
      collector: [defaultListen.collector],
      ops: [defaultListen.ops],
    })
  })

  it('the operator API has its own port and Service when it has a key, and is never public', async () => {
    const keys = [operatorKey('ada')]
    const servicesOf = async (values: object): Promise<readonly string[]> =>
      ofKind(await rendered(values), 'Service')
        .map(({ metadata }) => metadata.name)
        .sort()
    expect(await servicesOf({})).toEqual(['hookline-collector'])
    const values = { config: { operator: { keys } }, service: { type: 'LoadBalancer' } }
    expect(await servicesOf(values)).toEqual(['hookline-collector', 'hookline-operator'])
    const manifests = await rendered(values)
    expect(specOf(manifests, 'Service')).toContainEqual(
      expect.objectContaining({ type: 'ClusterIP', ports: [expect.objectContaining({ targetPort: 'operator' })] }),
    )
    expect(parse(configurationIn(manifests))).toMatchObject({ operator: { listen: '0.0.0.0:8090', keys } })
    const ports = deploymentsIn(manifests).map(({ spec }) => spec.template.spec.containers[0]?.ports)
    expect(ports.flat().filter(port => port?.name === 'operator')).toEqual([{ name: 'operator', containerPort: 8090 }])
  })

  it('user and configuration path are those of the image', async () => {
    const dockerfile = read('deploy/image/Dockerfile')
    const pod = deploymentsIn(await rendered())[0]?.spec.template.spec
    expect(dockerfile).toContain(`USER ${pod?.securityContext?.['runAsUser']}:${pod?.securityContext?.['runAsGroup']}`)
    const mounted = pod?.containers[0]?.volumeMounts?.find(({ name }) => name === 'config')?.mountPath
    expect(dockerfile).toContain(`HOOKLINE_CONFIG=${mounted}/hookline.yaml`)
  })

  it('KEDA starts at most one pod for each partition', async () => {
    const values = { config: { topics: { partitions: 1 } }, keda: { enabled: true, minReplicas: 2 } }
    expect(specOf(await rendered(values), 'ScaledObject')).toMatchObject([
      { minReplicaCount: 1, maxReplicaCount: 1, fallback: { replicas: 1 } },
    ])
  })

  it('KEDA uses the group and the topic of the dispatcher', async () => {
    const config = { kafka: { brokers: ['a:1', 'b:2'] }, topics: { prefix: 'acme', partitions: 30 } }
    const names = topicNames('acme')
    expect(specOf(await rendered({ config, keda: { enabled: true } }), 'ScaledObject')).toMatchObject([
      {
        maxReplicaCount: 30,
        triggers: [
          { metadata: { bootstrapServers: 'a:1,b:2', consumerGroup: names.dispatcherGroup, topic: names.events } },
        ],
      },
    ])
  })

  const deliveries: readonly [string, { schedule?: readonly string[]; attemptsTopic?: boolean | string }][] = [
    ['the default', {}],
    ['no retries', { schedule: [] }],
    ['the same schedule in other units', { schedule: ['60s', '90s', '5400s', '120m', '1500ms'] }],
    ['with all attempts', { attemptsTopic: true }],
    ['without the attempts topic', { attemptsTopic: 'off' }],
    ['without it, as YAML 1.1 reads off', { attemptsTopic: false }],
  ]
  it('with partitionsOfOthers, only the topics that follow the events topic get more partitions', async () => {
    const topics = { prefix: 'acme', partitions: 24, replicationFactor: 3 }
    const strimzi = { cluster: 'kafka', topics: { enabled: true, partitionsOfOthers: 12 } }
    const made = ofKind(await rendered({ config: { topics }, strimzi }), 'KafkaTopic')
    const partitionsOf = Object.fromEntries(
      made.map(each => each['spec'] as Record<string, unknown>).map(spec => [spec['topicName'], spec['partitions']]),
    )
    expect(partitionsOf).toMatchObject({
      ...{ 'acme.events': 24, 'acme.retry.10s': 24, 'acme.audience-input': 24, 'acme.ledger': 24 },
      ...{ 'acme.suppressions': 12, 'acme.deletions': 12, 'acme.dead-letter': 12, 'acme.status': 1 },
    })
  })

  it.each(deliveries)('topics of Strimzi are those that `topics apply` creates: %s', async (_, given) => {
    const topics = { prefix: 'acme_eu', partitions: 6, replicationFactor: 3 }
    const strimzi = { cluster: 'kafka', topics: { enabled: true } }
    const made = ofKind(await rendered({ config: { topics, delivery: given }, strimzi }), 'KafkaTopic')
    const settings = delivery.parse(given)
    const wanted = topicSpecs(topics, settings.schedule, settings).map(spec => ({
      topicName: spec.name,
      partitions: spec.partitions,
      replicas: spec.replicationFactor,
      config: topicConfig(spec),
    }))
    const byName = (a: { topicName: string }, b: { topicName: string }): number => (a.topicName < b.topicName ? -1 : 1)
    expect(made.map(each => each['spec'] as (typeof wanted)[number]).sort(byName)).toEqual(wanted.sort(byName))
    expect(made.filter(({ metadata }) => !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(metadata.name))).toEqual([])
    // Strimzi would delete the records of a topic that Helm removes.
    const keep = { 'helm.sh/resource-policy': 'keep' }
    for (const { metadata } of made) expect(metadata).toMatchObject({ annotations: keep })
  })

  it('a large lag threshold of KEDA stays a whole number', async () => {
    const [spec] = specOf(await rendered({ keda: { enabled: true, lagThreshold: 1_000_000 } }), 'ScaledObject')
    expect(spec).toMatchObject({ triggers: [{ metadata: { lagThreshold: '1000000' } }] })
  })

  it('the config topic of Strimzi exists only with an encryption key', async () => {
    const strimzi = { cluster: 'kafka', topics: { enabled: true } }
    const madeWith = async (config: object) =>
      ofKind(await rendered({ config, strimzi }), 'KafkaTopic').map(each => each['spec'] as { topicName: string })
    const made = await madeWith({ operator: { encryptionKeyFile: '../secrets/config-key' } })
    const spec = topicSpecs({ prefix: 'hookline', partitions: 12, replicationFactor: 3 }, [], { configTopic: true }).at(
      -1,
    )!
    expect(made.find(({ topicName }) => topicName === 'hookline.config')).toMatchObject({ config: topicConfig(spec) })
    expect((await madeWith({})).filter(({ topicName }) => topicName === 'hookline.config')).toEqual([])
  })

  it('the jobs topic of Strimzi exists only with a key of the operator API', async () => {
    const strimzi = { cluster: 'kafka', topics: { enabled: true } }
    const madeWith = async (config: object) =>
      ofKind(await rendered({ config, strimzi }), 'KafkaTopic').map(each => each['spec'] as { topicName: string })
    const made = await madeWith({ operator: { keys: [{ name: 'ada', role: 'operate', keyFile: '../secrets/ada' }] } })
    const specs = topicSpecs({ prefix: 'hookline', partitions: 12, replicationFactor: 3 }, [], { jobsTopic: true })
    const config = topicConfig(specs.at(-1)!)
    expect(made.find(({ topicName }) => topicName === 'hookline.jobs')).toMatchObject({ config })
    expect((await madeWith({})).filter(({ topicName }) => topicName === 'hookline.jobs')).toEqual([])
  })
})

describe('the configuration', () => {
  it.each([
    ['the default one', {}],
    ['with a user of Strimzi', { strimzi: { cluster: 'kafka', user: { enabled: true } } }],
  ])('is accepted by Hookline: %s', async (_, values) => {
    const directory = mkdtempSync(join(tmpdir(), 'hookline-values-'))
    try {
      const files = {
        'config/hookline.yaml': configurationIn(await rendered(values)),
        'secrets/web-write-key': 'k',
        'kafka/password': 'p',
        'kafka/ca.crt': createAuthority().cert,
      }
      for (const [file, content] of Object.entries(files)) {
        mkdirSync(join(directory, file, '..'), { recursive: true })
        writeFileSync(join(directory, file), content)
      }
      const env = { HOOKLINE_KAFKA_USER: 'hookline-kafka-collector' }
      const loaded = await loadConfigFile(join(directory, 'config/hookline.yaml'), env)
      expect(loaded.kind === 'refused' ? loaded.problems.map(formatProblem) : []).toEqual([])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  const templatesOf = async (config: object) => {
    const manifests = await rendered({ config })
    const names = ofKind(manifests, 'Job').map(({ metadata }) => metadata.name)
    return {
      config: configurationIn(manifests),
      pods: JSON.stringify(deploymentsIn(manifests).map(({ spec }) => spec.template)),
      names,
    }
  }
  const changes: Readonly<Record<string, unknown>> = {
    kafka: { brokers: ['other:9092'] },
    topics: { partitions: 24 },
    registry: { url: 'http://other:8081' },
    collector: { maxBodyBytes: 1_000_000 },
    delivery: { timeout: '4s' },
    sources: [{ id: 'app', writeKeyFile: '../secrets/app' }],
    destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: 'https://crm.example.com/hooks' }] }],
    network: { ports: [443] },
    payload: { userAgent: 'Acme' },
    audiences: { emitPerSecond: 100 },
    log: { level: 'debug' },
    canary: { destination: 'crm', every: '30s' },
    notices: { destination: 'crm' },
    operator: { keys: [operatorKey('ada'), operatorKey('bob')] },
  }
  // One key exists before the change of `operator`: adding the first key needs a restart, because
  // the operator API then begins to listen.
  const before: Readonly<Record<string, unknown>> = { operator: { keys: [operatorKey('ada')] } }
  it.each(Object.entries(changes))(
    '%s: pods restart only for changes that running processes do not apply',
    async (key, value) => {
      const given = key in before ? { [key]: before[key] } : {}
      const [first, after] = await Promise.all([templatesOf(given), templatesOf({ [key]: value })])
      expect(after.config).not.toBe(first.config)
      const isLive = (liveKeys as readonly string[]).includes(key)
      expect({ pods: after.pods === first.pods, names: after.names[0] === first.names[0] }).toEqual({
        pods: isLive,
        names: isLive,
      })
    },
  )

  it('operator: the first key runs a new Job, which creates the jobs topic', async () => {
    const [first, after] = await Promise.all([templatesOf({}), templatesOf({ operator: changes['operator'] })])
    expect(after.names[0]).not.toBe(first.names[0])
  })

  it('the test covers every live key', () => {
    expect(liveKeys.filter(key => !(key in changes))).toEqual([])
  })

  it('another image creates another Job, because a Job cannot be changed', async () => {
    const [before, after] = await Promise.all([rendered(), rendered({ image: { tag: '9.9.9' } })])
    expect(ofKind(after, 'Job')[0]?.metadata.name).not.toBe(ofKind(before, 'Job')[0]?.metadata.name)
  })
})
