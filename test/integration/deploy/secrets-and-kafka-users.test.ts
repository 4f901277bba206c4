import { describe, expect, it } from '@jest/globals'
import type { Manifest } from '../../../deploy/tools/chart/render.ts'
import { type Access, accessNeeded } from '../../../src/core/doctor/kafka-permissions.ts'
import { type ServiceName, serviceNames } from '../../../src/core/settings/service-names.ts'
import { durationMs } from '../../../src/core/time.ts'
import { topicNames } from '../../../src/core/topics.ts'
import { rendered, switches } from '../../support/deploy/manifests/renderings.ts'
import { isWorkload, ofKind } from '../../support/deploy/manifests/workloads.ts'

/* Each service, and the Job `prepare`, must get only the secrets and Kafka rights that it needs. */

/** The part to which a workload belongs: the name of a service, or `prepare` for the Job. */
const partOf = ({ metadata }: Manifest): string =>
  (metadata['labels'] as Record<string, string>)['app.kubernetes.io/component'] ?? ''

/** The names of the Secrets that the pods of each part mount as `volume`. */
function secretsOf(manifests: readonly Manifest[], volume: 'secrets' | 'kafka'): Record<string, unknown> {
  return Object.fromEntries(
    manifests.filter(isWorkload).map(workload => {
      const found = (workload.spec.template.spec.volumes ?? []).find(({ name }) => name === volume)
      const { secret, projected } = found as {
        secret?: { secretName: string }
        projected?: { sources: { secret: { name: string } }[] }
      }
      return [partOf(workload), secret?.secretName ?? projected?.sources.map(source => source.secret.name)]
    }),
  )
}

describe('secrets', () => {
  it('come from one Secret, unless a part has its own', async () => {
    const all = { collector: 'hookline', dispatcher: 'hookline', audiences: 'hookline', prepare: 'hookline' }
    expect(secretsOf(await rendered(), 'secrets')).toEqual(all)
    expect(secretsOf(await rendered(switches['secrets of each service']), 'secrets')).toEqual({
      ...{ collector: 'of-collector', dispatcher: 'of-dispatcher', audiences: 'hookline', prepare: 'of-job' },
    })
  })

  it('are created by external-secrets, each from its own source', async () => {
    const external = { externalSecrets: { enabled: true, store: { name: 'vault' } } }
    const madeWith = async (values: object) =>
      ofKind(await rendered({ ...external, ...values }), 'ExternalSecret').map(({ metadata, spec }) => {
        const { target, dataFrom } = spec as { target: { name: string }; dataFrom: { extract: { key: string } }[] }
        return [metadata.name, target.name, dataFrom[0]?.extract.key]
      })
    expect(await madeWith({})).toEqual([['hookline', 'hookline', 'hookline']])
    expect((await madeWith(switches['secrets of each service']!)).sort()).toEqual([
      ['hookline', 'hookline', 'hookline'],
      ['hookline-collector', 'of-collector', 'a'],
      ['hookline-dispatcher', 'of-dispatcher', 'b'],
      ['hookline-prepare', 'of-job', 'c'],
    ])
    await expect(madeWith({ services: { audiences: { secret: { name: 'x' } } } })).rejects.toThrow(
      'secret.key of audiences is required',
    )
  })
})

interface Rule {
  readonly resource: { readonly type: 'topic' | 'group'; readonly name: string; readonly patternType: string }
  readonly operations: readonly string[]
}

async function usersWith(values: object): Promise<ReadonlyMap<string, readonly Rule[]>> {
  const strimzi = { cluster: 'kafka', user: { enabled: true } }
  const users = ofKind(await rendered({ ...values, strimzi }), 'KafkaUser')
  return new Map(
    users.map(({ metadata, spec }) => [
      metadata.name,
      (spec as { authorization: { acls: readonly Rule[] } }).authorization.acls,
    ]),
  )
}

const operations = { read: 'Read', write: 'Write', join: 'Read' } as const
const covers = ({ resource: { type, name, patternType }, operations: allowed }: Rule, access: Access): boolean =>
  (type === 'group') === (access.to === 'join') &&
  (patternType === 'prefix' ? access.name.startsWith(name) : access.name === name) &&
  allowed.includes(operations[access.to])

const key = { name: 'ada', role: 'operate', keyFile: '../secrets/ada' }
type Optional = 'hasOperatorKey' | 'hasAttempts' | 'hasCanary' | 'hasNotices' | 'hasConfigTopic' | 'hasJobs'
const withKey = { operator: { keys: [key], encryptionKeyFile: '../secrets/config-key' } }
const configurations: readonly [string, object, { [what in Optional]?: boolean }][] = [
  ['the default', {}, {}],
  ['the operator API', { operator: { keys: [key] } }, { hasJobs: true }],
  ['its deprecated key', { collector: { operatorKeyFile: '../secrets/ada' } }, { hasOperatorKey: true }],
  ['no attempts', { delivery: { attemptsTopic: 'off' } }, { hasAttempts: false }],
  ['canary messages', { canary: { destination: 'crm', every: '30s' } }, { hasCanary: true }],
  ['notices', { notices: { destination: 'crm' } }, { hasNotices: true }],
  ['the config topic', { operator: { encryptionKeyFile: '../secrets/config-key' } }, { hasConfigTopic: true }],
  ['the config topic with the operator API', withKey, { hasConfigTopic: true, hasJobs: true }],
]

describe('users of Kafka', () => {
  it.each(configurations)('may do what their service does, and no more: %s', async (_, config, has) => {
    const users = await usersWith({ config: { ...config, topics: { prefix: 'acme' } } })
    expect(users.has('hookline-kafka-operator')).toBe(JSON.stringify(config).includes('"keys"'))
    for (const service of serviceNames.filter(name => users.has(`hookline-kafka-${name}`))) {
      const rules = users.get(`hookline-kafka-${service}`) ?? []
      const needed = accessNeeded({
        ...{ topics: topicNames('acme'), tiers: [durationMs(10_000)], services: new Set<ServiceName>([service]) },
        ...{ hasOperatorKey: false, hasAttempts: true, hasCanary: false, ...has },
      })
      expect(needed.filter(access => !rules.some(rule => covers(rule, access)))).toEqual([])
      const [look, ...others] = rules
      expect(look?.operations).toEqual(['Describe', 'DescribeConfigs'])
      expect(others.filter(rule => !needed.some(access => covers(rule, access)))).toEqual([])
    }
  })

  it('are mounted only by their part, and named by its environment', async () => {
    const manifests = await rendered(switches['user of Strimzi'])
    const parts = [...serviceNames.filter(name => name !== 'operator'), 'prepare']
    expect(secretsOf(manifests, 'kafka')).toEqual(
      Object.fromEntries(parts.map(part => [part, [`hookline-kafka-${part}`, 'kafka-cluster-ca-cert']])),
    )
    for (const workload of manifests.filter(isWorkload)) {
      const { containers, initContainers = [] } = workload.spec.template.spec
      for (const { env = [] } of [...containers, ...initContainers])
        expect(env).toContainEqual({ name: 'HOOKLINE_KAFKA_USER', value: `hookline-kafka-${partOf(workload)}` })
    }
    const names = ofKind(manifests, 'KafkaUser').map(({ metadata }) => metadata.name)
    expect(names.sort()).toEqual([...parts, 'commands'].map(part => `hookline-kafka-${part}`).sort())
  })

  it('only the Job may create topics, and only without Strimzi', async () => {
    const creating = async (strimzi: object) => {
      const users = ofKind(
        await rendered({ strimzi: { cluster: 'kafka', user: { enabled: true }, ...strimzi } }),
        'KafkaUser',
      )
      return users.filter(each => JSON.stringify(each).includes('"Create"')).map(({ metadata }) => metadata.name)
    }
    expect(await creating({})).toEqual(['hookline-kafka-prepare'])
    expect(await creating({ topics: { enabled: true } })).toEqual([])
  })
})
