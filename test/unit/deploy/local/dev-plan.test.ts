import { describe, expect, it } from '@jest/globals'
import { callerDirectory, planDev } from '../../../../deploy/tools/local/dev-plan.ts'
import { Secret } from '../../../../src/core/secret.ts'
import type { Settings } from '../../../../src/core/settings/settings.ts'

type Planable = Parameters<typeof planDev>[0]

const kafka: Settings['kafka'] = { brokers: ['127.0.0.1:9092'], clientId: 'c', tls: undefined, sasl: undefined }
const registry: Settings['registry'] = { url: 'http://127.0.0.1:8081/apis/ccompat/v7', auth: undefined }
const topics: Settings['topics'] = { prefix: 'hookline', partitions: 12, replicationFactor: 1 }
const local: Planable = { kafka, registry, topics }
const changed = (parts: {
  kafka?: Partial<Settings['kafka']>
  registry?: Partial<Settings['registry']>
}): Planable => ({ ...local, kafka: { ...kafka, ...parts.kafka }, registry: { ...registry, ...parts.registry } })
const credentials = { username: new Secret('u'), password: new Secret('p') }

describe('planDev starts services at the addresses of the configuration', () => {
  it.each<[string, Planable, Record<string, string>, number | undefined, number | undefined]>([
    ['both', local, {}, 9092, 8081],
    ['the first of several brokers', changed({ kafka: { brokers: ['localhost:9093', 'b:1'] } }), {}, 9093, 8081],
    ['a slash at the end of the path', changed({ registry: { url: `${registry.url}/` } }), {}, 9092, 8081],
    ['port 80 when none is given', changed({ registry: { url: 'http://localhost/apis/ccompat/v7' } }), {}, 9092, 80],
    ['no Kafka when KAFKA_BROKERS names one', local, { KAFKA_BROKERS: 'k:9092' }, undefined, 8081],
    ['no registry when SCHEMA_REGISTRY_URL names one', local, { SCHEMA_REGISTRY_URL: 'http://r' }, 9092, undefined],
  ])('%s', (_, settings, env, kafkaPort, registryPort) => {
    expect(planDev(settings, env)).toEqual({
      kind: 'planned',
      plan: { kafkaPort, registryPort, replicationFactor: undefined },
    })
  })

  it.each<[string, number, Record<string, string>, 1 | undefined]>([
    ['one replica for a broker of its own', 3, {}, 1],
    ['the number of the file when that is one', 1, {}, undefined],
    ['the number of the file for a cluster', 3, { KAFKA_BROKERS: 'k:9092' }, undefined],
  ])('asks for %s', (_, inFile, env, expected) => {
    const planned = planDev({ ...local, topics: { ...topics, replicationFactor: inFile } }, env)
    expect(planned.kind === 'planned' && planned.plan.replicationFactor).toBe(expected)
  })

  const here = '127.0.0.1 or localhost, where local servers listen'
  const cluster = 'change this value, or set KAFKA_BROKERS to use an existing cluster'
  const other = 'change this value, or set SCHEMA_REGISTRY_URL to use an existing registry'
  it.each<[string, Planable, string]>([
    [
      'a broker elsewhere',
      changed({ kafka: { brokers: ['k.example.com:9092'] } }),
      `kafka.brokers[0]: k.example.com:9092 is not ${here}; ${cluster}`,
    ],
    [
      'TLS',
      changed({ kafka: { tls: { ca: undefined, cert: undefined, key: undefined } } }),
      `kafka.tls: the local Kafka does not support TLS; ${cluster}`,
    ],
    [
      'SASL',
      changed({ kafka: { sasl: { mechanism: 'plain', ...credentials } } }),
      `kafka.sasl: the local Kafka does not support SASL; ${cluster}`,
    ],
    [
      'a registry elsewhere',
      changed({ registry: { url: 'http://r.example.com:8081/apis/ccompat/v7' } }),
      `registry.url: r.example.com is not ${here}; ${other}`,
    ],
    [
      'HTTPS',
      changed({ registry: { url: 'https://127.0.0.1:8081/apis/ccompat/v7' } }),
      `registry.url: the local registry does not support HTTPS; ${other}`,
    ],
    [
      'another path',
      changed({ registry: { url: 'http://127.0.0.1:8081' } }),
      `registry.url: the path must be /apis/ccompat/v7, as in the local registry; ${other}`,
    ],
  ])('refuses %s', (_, settings, problem) => {
    expect(planDev(settings, {})).toEqual({ kind: 'refused', problems: [problem] })
  })

  it('reports all problems together', () => {
    const elsewhere = changed({ kafka: { brokers: ['k:1'] }, registry: { url: 'https://r' } })
    const planned = planDev(elsewhere, {})
    expect(planned.kind === 'refused' && planned.problems).toHaveLength(2)
  })

  it('accepts settings that the environment overrides', () => {
    const elsewhere = changed({ kafka: { brokers: ['k:1'], sasl: { mechanism: 'plain', ...credentials } } })
    expect(planDev(elsewhere, { KAFKA_BROKERS: 'b:9092' }).kind).toBe('planned')
  })
})

describe('callerDirectory', () => {
  const here = import.meta.dirname
  it.each([
    ['make itself', { CALLER_PWD: here }, '/repo'],
    ['make itself, with variables', { MAKEFLAGS: ' -- CONFIG=w.yaml', CALLER_PWD: here }, '/repo'],
    ['the shell when make was sent to the project with -C', { MAKEFLAGS: 'w', CALLER_PWD: here }, here],
    ['the shell, with more flags', { MAKEFLAGS: 'kw -- CONFIG=a.yaml', CALLER_PWD: here }, here],
    [
      'the directory of make when that of the shell is unknown',
      { MAKEFLAGS: 'w', CALLER_PWD: '/no/such/directory' },
      '/repo',
    ],
    ['the directory of make without a shell', { MAKEFLAGS: 'w' }, '/repo'],
  ])('is that of %s', (_, env, expected) => {
    expect(callerDirectory(env, '/repo')).toBe(expected)
  })
})
