import { describe, expect, it } from '@jest/globals'
import { library } from '../../../../packages/client/src/version.ts'
import {
  refreshServices,
  setBuildMetrics,
  setCheckMetrics,
  setConfigurationMetrics,
  setObjectMetrics,
} from '../../../../src/app/compose/configuration-and-health-gauges.ts'
import { mergeObjects } from '../../../../src/core/config-objects/merge-objects.ts'
import { Secret } from '../../../../src/core/secret.ts'
import type { Settings } from '../../../../src/core/settings/settings.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { webhookOf } from '../../../support/builders.ts'
import { destination } from '../../../support/dispatcher/harness.ts'
import { countingMetrics } from '../../../support/telemetry/counting-metrics.ts'

const settings = (change: Partial<Settings> = {}): Settings =>
  ({
    topics: { prefix: 'shop', partitions: 12, replicationFactor: 3 },
    delivery: { schedule: [durationMs(10_000)] },
    sources: [{ id: 'web', writeKeys: [new Secret('one')] }],
    destinations: [destination('crm')],
    ...change,
  }) as unknown as Settings

function setUp() {
  const counts = new Map<string, number>()
  return { counts, metrics: countingMetrics(counts) }
}

function hashOf(change: Partial<Settings>): string {
  const { counts, metrics } = setUp()
  setConfigurationMetrics(metrics, settings(change), epochMs(0))
  return [...counts.keys()].filter(key => key.startsWith('config{')).join()
}

describe('setBuildMetrics', () => {
  it('sets the versions of Hookline and Node, and the retention of the topics', () => {
    const { counts, metrics } = setUp()
    setBuildMetrics(metrics, settings())
    expect(counts.get(`build{${library.version},${process.versions.node}}`)).toBe(1)
    expect(counts.get('topicRetention{shop.events}')).toBe(7 * 86_400)
    expect(counts.get('topicRetention{shop.retry.10s}')).toBe(3 * 86_400)
    // This topic is compacted, so it has no retention time.
    expect(counts.has('topicRetention{shop.audience-memberships}')).toBe(false)
  })
})

describe('setObjectMetrics', () => {
  it('counts destinations by state', () => {
    const { counts, metrics } = setUp()
    const destinations = [
      destination('a'),
      destination('b', { paused: true }),
      destination('c', { enabled: false, paused: true }),
      destination('d'),
    ]
    setObjectMetrics(metrics, mergeObjects(settings({ destinations }), []))
    expect(Object.fromEntries(counts)).toMatchObject({
      'destinations{enabled}': 2,
      'destinations{paused}': 1,
      'destinations{disabled}': 1,
    })
  })
})

describe('setConfigurationMetrics', () => {
  it('sets the reload time', () => {
    const { counts, metrics } = setUp()
    setConfigurationMetrics(metrics, settings(), epochMs(5_000))
    expect(Object.fromEntries(counts)).toMatchObject({ 'configReloadOk{}': 1, 'configReloadTime{}': 5 })
  })

  it.each([
    { name: 'equal settings: the same hash', change: {}, isSame: true },
    {
      name: 'another secret: the same hash, which must not reveal secrets',
      change: { sources: [{ id: 'web', writeKeys: [new Secret('two')] }] },
      isSame: true,
    },
    {
      name: 'another client certificate for Kafka, as each service may have: the same hash',
      change: { kafka: { tls: { cert: 'one' } } } as unknown as Partial<Settings>,
      other: { kafka: { tls: { cert: 'two' } } } as unknown as Partial<Settings>,
      isSame: true,
    },
    {
      name: 'a listen address of the operator API: the same hash, because other services need no restart',
      change: { operatorListen: { host: '127.0.0.1', port: 8090 } },
      isSame: true,
    },
    { name: 'another destination: another hash', change: { destinations: [destination('erp')] }, isSame: false },
  ])('$name', ({ change, other = {}, isSame }) => {
    expect(hashOf(change) === hashOf(other)).toBe(isSame)
  })

  it('includes header names in the hash, but not header values', () => {
    const withHeaders = (headers: Record<string, string>) =>
      hashOf({ destinations: [destination('crm', { webhooks: [webhookOf(0, headers)] })] })
    expect(withHeaders({ Authorization: 'one' })).toBe(withHeaders({ Authorization: 'two' }))
    expect(withHeaders({ Authorization: 'one' })).not.toBe(withHeaders({ 'X-Key': 'one' }))
  })

  it('has the same hash for the same settings in another order, as after a reload', () => {
    const every = durationMs(60_000)
    const hash = hashOf({ canary: { destination: 'crm', every } })
    const { counts, metrics } = setUp()
    const reordered = Object.entries(settings({ canary: { every, destination: 'crm' } })).reverse()
    setConfigurationMetrics(metrics, Object.fromEntries(reordered) as unknown as Settings, epochMs(0))
    expect(counts.get(hash)).toBe(1)
  })

  it('shows only the hash of the last configuration', () => {
    const { counts, metrics } = setUp()
    setConfigurationMetrics(metrics, settings(), epochMs(0))
    setConfigurationMetrics(metrics, settings({ destinations: [] }), epochMs(0))
    expect([...counts.keys()].filter(key => key.startsWith('config{'))).toHaveLength(1)
  })
})

describe('refreshServices', () => {
  it('keeps the series of each service, and removes those of revoked partitions', () => {
    const { counts, metrics } = setUp()
    const service = (topic: string) => ({
      refreshGauges: () => {
        metrics.partitionProgress.set({ topic, partition: '0' }, 1)
        metrics.oldestRecord.set({ topic }, 1)
      },
    })
    const keys = () => [...counts.keys()].filter(key => key !== 'unwritableTopics{}')
    const ofInputs = ['partitionProgress{inputs,0}', 'oldestRecord{inputs}']
    refreshServices(metrics, [service('events'), service('inputs')])
    expect(keys()).toEqual(['partitionProgress{events,0}', 'oldestRecord{events}', ...ofInputs])
    refreshServices(metrics, [service('inputs')])
    expect(keys()).toEqual(ofInputs)
  })

  it('counts a topic once that several services cannot write', () => {
    const { counts, metrics } = setUp()
    const service = (...topics: string[]) => ({ refreshGauges() {}, unwritableTopics: () => topics })
    refreshServices(metrics, [
      service('retry', 'dead-letter'),
      service('dead-letter', 'events'),
      { refreshGauges() {} },
    ])
    expect(counts.get('unwritableTopics{}')).toBe(3)
    refreshServices(metrics, [service(), { refreshGauges() {} }])
    expect(counts.get('unwritableTopics{}')).toBe(0)
  })
})

describe('setCheckMetrics', () => {
  it('sets 1 or 0 for each check and removes checks that no longer exist', () => {
    const { counts, metrics } = setUp()
    setCheckMetrics(metrics, { live: [], ready: [{ name: 'starting', ok: false, detail: '' }] })
    expect(counts.get('checks{ready,starting}')).toBe(0)
    setCheckMetrics(metrics, { live: [{ name: 'progress', ok: true, detail: '' }], ready: [] })
    expect([...counts]).toEqual([['checks{live,progress}', 1]])
  })
})
