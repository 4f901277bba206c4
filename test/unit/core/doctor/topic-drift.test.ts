import { describe, expect, it } from '@jest/globals'
import { topicDrift } from '../../../../src/core/doctor/topic-drift.ts'
import type { TopicDescription } from '../../../../src/core/ports.ts'
import type { ServiceName } from '../../../../src/core/settings/service-names.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { maxDeliveryAge, topicConfig, topicNames, topicSpecs, topicToCreate } from '../../../../src/core/topics.ts'

const window = durationMs(4 * 3_600_000)
const specsFor = (replicationFactor: number) =>
  topicSpecs({ prefix: 'acme', partitions: 12, replicationFactor }, [durationMs(10_000)])
function cluster(changes: Record<string, Partial<TopicDescription> | undefined>, replicationFactor = 3) {
  const specs = specsFor(replicationFactor)
  return specs
    .map(spec => ({ ...spec, config: topicConfig(spec), ...changes[spec.name] }))
    .filter(({ name }) => !(name in changes) || changes[name] !== undefined)
}
const drifts = (changes: Parameters<typeof cluster>[0], replicationFactor = 3) =>
  topicDrift(specsFor(replicationFactor), cluster(changes, replicationFactor), window).map(
    ({ severity, topic, kind, detail }) => `${severity} ${topic} ${kind}: ${detail}`,
  )
const config = (over: Record<string, string>, of = 'acme.events') => ({
  config: { ...topicConfig(specsFor(3).find(({ name }) => name === of)!), ...over },
})

describe('the required topics', () => {
  it('events, every retry tier, dead letters, rejected messages, audiences, deletions, attempts, status', () => {
    expect(specsFor(3).map(({ name, cleanup }) => `${name} ${cleanup}`)).toEqual([
      ...['acme.events delete', 'acme.retry.10s delete', 'acme.retry.30s delete', 'acme.retry.1m delete'],
      ...['acme.retry.5m delete', 'acme.dead-letter compact,delete', 'acme.rejected delete'],
      ...['acme.audience-input delete', 'acme.audience-memberships compact', 'acme.suppressions compact'],
      ...['acme.ledger delete', 'acme.deletions compact,delete', 'acme.status compact,delete', 'acme.attempts delete'],
    ])
  })

  it.each([
    [3, '2'],
    [1, '1'],
  ])('with %d replicas', (replicationFactor, inSync) => {
    expect(topicConfig(specsFor(replicationFactor)[0]!)).toEqual({
      'cleanup.policy': 'delete',
      'retention.ms': '604800000',
      'message.timestamp.type': 'LogAppendTime',
      'min.insync.replicas': inSync,
    })
  })

  it('keep deletion requests for 90 days', () => {
    const deletions = specsFor(3).find(({ name }) => name === 'acme.deletions')!
    expect(topicConfig(deletions)['retention.ms']).toBe(String(90 * 24 * 3_600_000))
  })

  it('each service needs its own topics', () => {
    const of = (service: ServiceName) =>
      specsFor(3).flatMap(({ name, requiredBy }) => (requiredBy.includes(service) ? [name] : []))
    const either = ['acme.audience-input', 'acme.suppressions', 'acme.deletions']
    expect(of('collector')).toEqual(['acme.events', 'acme.rejected', ...either, 'acme.status'])
    const othersOnly = ['acme.rejected', 'acme.audience-memberships']
    expect(of('dispatcher')).toEqual(specsFor(3).flatMap(({ name }) => (othersOnly.includes(name) ? [] : [name])))
    expect(of('operator')).toEqual(of('dispatcher'))
    expect(of('audiences')).toEqual(
      ['events', 'dead-letter', 'audience-input', 'audience-memberships', 'suppressions', 'status'].map(
        name => `acme.${name}`,
      ),
    )
  })

  it('a new retry topic needs as many partitions as the events topic has', () => {
    const [events, retry] = specsFor(3)
    expect(topicToCreate(retry!, [{ ...events!, partitions: 24, config: {} }]).partitions).toBe(24)
    expect(topicToCreate(retry!, []).partitions).toBe(12)
    const of = (name: string) => specsFor(3).find(spec => spec.name === name)!
    const others = ['acme.deletions', 'acme.status'].map(of)
    const found = [{ ...events!, partitions: 24, config: {} }]
    expect(others.map(spec => topicToCreate(spec, found).partitions)).toEqual([12, 1])
  })
})

describe('drift', () => {
  it.each<[string, Parameters<typeof cluster>[0], string[]]>([
    ['none', {}, []],
    ['missing', { 'acme.retry.30s': undefined }, ['error acme.retry.30s missing: does not exist']],
    [
      'fewer partitions than configured',
      Object.fromEntries(specsFor(3).map(({ name }) => [name, { partitions: 6 }])),
      [
        'error acme.events partitions: has 6 partitions, but topics.partitions is 12: set topics.partitions to 6, or add partitions as docs/how-to/scale.md says',
      ],
    ],
    [
      'more partitions than configured, the same for all topics',
      Object.fromEntries(
        specsFor(3).map(({ name, partitionsAs }) => [name, { partitions: partitionsAs === undefined ? 12 : 24 }]),
      ),
      ['note acme.events partitions: has 24 partitions, but topics.partitions is 12: set topics.partitions to 24'],
    ],
    [
      'a retry topic with another number than the events topic',
      { 'acme.retry.1m': { partitions: 24 } },
      [
        'error acme.retry.1m partitions: has 24 partitions, but acme.events has 12: give both topics the same number of partitions (see docs/how-to/scale.md)',
      ],
    ],
    [
      'a retry topic without events topic',
      { 'acme.events': undefined, 'acme.retry.1m': { partitions: 6 } },
      [
        'error acme.events missing: does not exist',
        'error acme.retry.1m partitions: has 6 partitions, but topics.partitions is 12: set topics.partitions to 6, or add partitions as docs/how-to/scale.md says',
      ],
    ],
    [
      'compaction of the events topic',
      { 'acme.events': config({ 'cleanup.policy': 'compact' }) },
      ['error acme.events cleanup: has cleanup.policy compact, but needs delete: change cleanup.policy'],
    ],
    [
      'policies in another order',
      { 'acme.dead-letter': config({ 'cleanup.policy': 'delete, compact' }, 'acme.dead-letter') },
      [],
    ],
    [
      'dead letters without compaction',
      { 'acme.dead-letter': config({ 'cleanup.policy': 'delete' }, 'acme.dead-letter') },
      ['error acme.dead-letter cleanup: has cleanup.policy delete, but needs compact,delete: change cleanup.policy'],
    ],
    ['kept without limit', { 'acme.events': config({ 'retention.ms': '-1' }) }, []],
    ['kept longer', { 'acme.events': config({ 'retention.ms': '9999999999' }) }, []],
    [
      'kept shorter than specified, as long as the retry window',
      { 'acme.events': config({ 'retention.ms': '14400000' }) },
      [
        'note acme.events retention: keeps records for 4h, but Hookline creates this topic with a retention of 168h: raise retention.ms',
      ],
    ],
    [
      'kept shorter than the retry window',
      { 'acme.retry.10s': config({ 'retention.ms': '14399000' }) },
      [
        'error acme.retry.10s retention: keeps records for 14399s, less than the retry window of 4h: raise retention.ms',
      ],
    ],
    [
      'too few replicas',
      { 'acme.events': { replicationFactor: 2 } },
      [
        'error acme.events replication: has replication factor 2, but needs 3: add replicas, for example with kafka-reassign-partitions.sh',
      ],
    ],
    [
      'acknowledged by one replica',
      { 'acme.events': config({ 'min.insync.replicas': '1' }) },
      [
        'note acme.events in_sync: has min.insync.replicas 1, so Kafka acknowledges a record that only one replica has: set min.insync.replicas to 2',
      ],
    ],
    [
      'acknowledged only by all replicas',
      { 'acme.events': config({ 'min.insync.replicas': '3' }) },
      [
        'note acme.events in_sync: has min.insync.replicas 3, so Kafka refuses all writes to a partition while one of its 3 replicas is down: set min.insync.replicas to 2',
      ],
    ],
    [
      "producers' clocks",
      { 'acme.events': config({ 'message.timestamp.type': 'CreateTime' }) },
      [
        "note acme.events timestamps: has message.timestamp.type CreateTime, so retention and delays use producers' clocks: set message.timestamp.type to LogAppendTime",
      ],
    ],
  ])('%s', (_name, changes, expected) => {
    expect(drifts(changes)).toEqual(expected)
  })

  it.each([
    [
      1,
      [
        'note * replication: topics.replicationFactor is 1, so each record is on only one broker, and the loss of a broker loses deliveries; use 1 only for development',
      ],
    ],
    [
      2,
      specsFor(2).map(
        ({ name }) =>
          `error ${name} replication: has replication factor 2, but needs 3: add replicas, for example with kafka-reassign-partitions.sh`,
      ),
    ],
  ])('topics.replicationFactor %d', (replicationFactor, expected) => {
    expect(drifts({}, replicationFactor)).toEqual(expected)
  })

  it('a setting that the broker does not report counts as correct, except for the cleanup policy', () => {
    expect(drifts({ 'acme.events': { config: {} }, 'acme.dead-letter': { config: {} } })).toEqual([
      'error acme.dead-letter cleanup: has cleanup.policy delete, but needs compact,delete: change cleanup.policy',
    ])
  })
})

describe('how long a received message can still be delivered, with two days of paused time', () => {
  const days = (count: number): string => String(count * 24 * 3_600_000)
  it.each<[string, Record<string, Record<string, string>>, number]>([
    ['as created: a dead letter, then its copy on the events topic, each with one segment', {}, 30 + 7 + 7 + 7 + 2],
    ['dead letters kept longer', { 'acme.dead-letter': { 'retention.ms': days(90) } }, 90 + 7 + 14 + 2],
    ['dead letters kept shorter: the specified time counts', { 'acme.dead-letter': { 'retention.ms': days(1) } }, 53],
    ['segments of a month', { 'acme.events': { 'segment.ms': days(30) } }, 37 + 7 + 30 + 2],
    ['retries kept longer than events', { 'acme.retry.30s': { 'retention.ms': days(20) } }, 37 + 27 + 2],
    ['events kept without limit', { 'acme.events': { 'retention.ms': '-1' } }, Number.POSITIVE_INFINITY],
  ])('%s', (_name, over, expected) => {
    const found = Object.entries(over).map(([name, config]) => ({ name, partitions: 1, replicationFactor: 1, config }))
    expect(maxDeliveryAge(topicNames('acme'), specsFor(3), found)).toBe(expected * 24 * 3_600_000)
  })
})

describe('topics with copies accept larger records than the events topic', () => {
  it.each([
    ['as they are created', {}, []],
    [
      'created by an earlier version',
      { 'acme.dead-letter': config({ 'max.message.bytes': '1048588' }, 'acme.dead-letter') },
      [
        'note acme.dead-letter record_size: has max.message.bytes 1048588, but needs 2097152, because a retry record or dead letter is longer than its event: raise max.message.bytes',
      ],
    ],
    [
      'an events topic with a larger limit',
      { 'acme.events': config({ 'max.message.bytes': '5000000' }) },
      ['acme.retry.10s', 'acme.retry.30s', 'acme.retry.1m', 'acme.retry.5m', 'acme.dead-letter'].map(
        topic =>
          `note ${topic} record_size: has max.message.bytes 2097152, but needs 5065536, because a retry record or dead letter is longer than its event: raise max.message.bytes`,
      ),
    ],
  ])('%s', (_, changes, expected) => {
    expect(drifts(changes)).toEqual(expected)
  })
})

describe('the config topic', () => {
  const specs = topicSpecs({ prefix: 'acme', partitions: 12, replicationFactor: 3 }, [], { configTopic: true })
  const spec = specs.find(({ name }) => name === 'acme.config')!

  it('exists only with an encryption key, and is used by every service', () => {
    expect(specsFor(3).map(({ name }) => name)).not.toContain('acme.config')
    expect(spec).toMatchObject({ cleanup: 'compact', requiredBy: ['collector', 'dispatcher', 'audiences', 'operator'] })
  })

  it('must keep the deletions, because the versions of an object continue after its deletion', () => {
    const found = (over: object) => [{ ...spec, config: { ...topicConfig(spec), ...over } }]
    expect(topicDrift([spec], found({}), window)).toEqual([])
    expect(topicDrift([spec], found({ 'delete.retention.ms': '86400000' }), window)).toEqual([
      {
        topic: 'acme.config',
        kind: 'tombstones',
        severity: 'error',
        detail:
          'has delete.retention.ms 86400000, but needs at least 315360000000: raise delete.retention.ms; otherwise, some processes may ignore a new destination or source with the id of a deleted one',
      },
    ])
  })
})

describe('compacted topics need a minimum compaction lag', () => {
  it.each([
    ['audience-memberships', '0', '21600000'],
    ['suppressions', '3600000', '21600000'],
  ])('reports that %s was created by an earlier version', (name, is, needed) => {
    const topic = `acme.${name}`
    expect(drifts({ [topic]: config({ 'min.compaction.lag.ms': is }, topic) })).toEqual([
      `note ${topic} compaction_lag: has min.compaction.lag.ms ${is}, but needs at least ${needed}: otherwise compaction may delete valid records; raise min.compaction.lag.ms`,
    ])
  })
})
