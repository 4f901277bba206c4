import { beforeEach, describe, expect, it } from '@jest/globals'
import { encodeRecord } from '../../../../src/core/config-objects/object-record.ts'
import { initialState, toHeaders } from '../../../../src/core/delivery/delivery-state.ts'
import { shardOf } from '../../../../src/core/live-status/result-counts-of-this-process.ts'
import { LiveSums } from '../../../../src/core/live-status/status-sums-of-all-processes.ts'
import type { LogSession, WithLogSession } from '../../../../src/core/log-session.ts'
import type { DestinationStatus } from '../../../../src/core/operator/installation-and-destination-status.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import type { StatusView } from '../../../../src/services/live-status/status-view.ts'
import type { ReadLog } from '../../../../src/services/operator/messages-and-dead-letters.ts'
import { createReadStatus, statusLimits } from '../../../../src/services/operator/read-status.ts'
import { duration } from '../../../support/builders.ts'
import { objectRecord } from '../../../support/config-objects/example-objects.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { configTopic, type MemoryObjects, memoryObjects } from '../../../support/operator/memory-objects.ts'
import { noStatusView } from '../../../support/operator/no-status-view.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

const noResults = { delivered: 0, failed: 0, deadLettered: 0, dropped: 0 }
const tiers = ['10s', '30s'].map(duration)
const topics = topicNames('hookline')
let clock: ManualClock
let log: MemorySession
let memory: MemoryObjects

beforeEach(async () => {
  clock = new ManualClock()
  log = new MemorySession(2)
  memory = await memoryObjects(clock)
})

interface Given {
  readonly session?: LogSession
  readonly sessions?: WithLogSession
  readonly live?: StatusView
  readonly lastFailures?: ReadLog['lastFailures']
}

const statusWith = ({
  session = log,
  sessions = use => use(session),
  live = noStatusView,
  lastFailures = async () => ({ lastFailures: [], isPartial: false }),
}: Given = {}) =>
  createReadStatus({
    ...{ objects: memory.objects, sessions, topics, tiers, earlierTiers: [tiers[1]!], version: '1.2.3' },
    log: { lastFailures },
    ...{ live, clock, logger: silent },
  })
const sessionWith = (methods: Partial<LogSession>): LogSession => ({
  ranges: topic => log.ranges(topic),
  offsetsSince: (topic, at) => log.offsetsSince(topic, at),
  read: (...given) => log.read(...given),
  commits: (...given) => log.commits(...given),
  ...methods,
})
/** A session with these end offsets and committed offsets by topic. Other topics are empty. */
const offsets = (known: Readonly<Record<string, readonly [ends: number[], committed: number[]]>>): LogSession =>
  sessionWith({
    ranges: async topic => (known[topic]?.[0] ?? [0, 0]).map(end => ({ beginning: 0, end })),
    commits: async (_group, topic) => (known[topic]?.[1] ?? [0, 0]).map(offset => ({ offset, metadata: '' })),
  })
const never = new Promise<never>(() => {})

describe('the status of the installation', () => {
  it('has the lag of each group, waiting records by tier, and the objects by state', async () => {
    const known = offsets({
      [topics.events]: [
        [10, 20],
        [7, 20],
      ],
      [topics.retry(tiers[0]!)]: [
        [5, 5],
        [1, -1],
      ],
      [topics.audienceInput]: [
        [4, 0],
        [4, 0],
      ],
    })
    expect(await statusWith({ session: known }).status()).toEqual({
      at: '2026-03-01T00:00:00.000Z',
      version: '1.2.3',
      groups: [
        { group: topics.dispatcherGroup, topics: [{ topic: topics.events, lag: 3 }] },
        {
          group: topics.retriesGroup,
          topics: [
            { topic: topics.retry(tiers[0]!), lag: 9 },
            { topic: topics.retry(tiers[1]!), lag: 0 },
          ],
        },
        { group: topics.audiencesGroup, topics: [{ topic: topics.audienceInput, lag: 0 }] },
      ],
      waiting: [
        { tier: '10s', records: 9 },
        { tier: '30s', records: 0 },
      ],
      destinations: { enabled: 1, paused: 1, disabled: 0, excluded: 0 },
      sources: { enabled: 2, excluded: 0 },
      problems: [],
      problemCount: 0,
      rates: { admittedPerSecond: 0, deliveredPerSecond: 0, failedPerSecond: 0 },
      openBreakers: [],
      openBreakerCount: 0,
      services: [],
    })
  })

  it('is partial when Kafka does not report an offset', async () => {
    const known = offsets({
      [topics.events]: [
        [10, 20],
        [7, 20],
      ],
    })
    const ranges = async (topic: string) =>
      topic === topics.audienceInput ? Promise.reject(new Error('no broker')) : known.ranges(topic)
    const status = await statusWith({ session: { ...known, ranges } }).status()
    expect(status).toMatchObject({
      partial: true,
      groups: [{ group: topics.dispatcherGroup }, { group: topics.retriesGroup }],
    })
  })

  it('leaves out a deleted retry topic of an earlier schedule', async () => {
    log.missing.add(topics.retry(tiers[1]!))
    const status = await statusWith().status()
    expect(status).toMatchObject({ waiting: [{ tier: '10s', records: 0 }] })
    expect(status).not.toHaveProperty('partial')
    expect(await statusWith().destinationStatus('filed')).not.toHaveProperty('partial')
  })

  it('lists 100 problems and open circuit breakers, and counts all of them', async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `crm-${100 + index}`)
    for (const id of ids) {
      const { key, value, headers } = encodeRecord(objectRecord({ id, value: 'damaged' }))
      memory.log.write(configTopic, value, String(key), headers)
    }
    memory.log.poll()
    const sums = Object.assign(new LiveSums(), { openBreakers: () => ids })
    const status = await statusWith({ live: { ...noStatusView, sums } }).status()
    expect(status).toMatchObject({ problemCount: 150, openBreakers: ids.slice(0, 100), openBreakerCount: 150 })
    expect(status.problems.map(({ id }) => id)).toEqual(ids.slice(0, 100))
  })
})

describe('what the processes report', () => {
  const view = (isCurrent = true): StatusView => {
    const sums = new LiveSums()
    const say = (key: string, value: object): void => sums.apply(key, Buffer.from(JSON.stringify(value)), now)
    const now = clock.now()
    const facts = { services: ['dispatcher'], version: '1.2.3', startedAt: now - 60_000, partitions: 6 }
    const rates = { admitted: 1.5, delivered: 1.1, failed: 0.2 }
    say('process/pod-2', { ...facts, version: '1.3.0', rates: { ...rates, failed: 0.1 } })
    say('process/pod-1', { ...facts, rates })
    const breaker = { breaker: 'open', nextProbeAt: now + 30_000, inMemory: 3, requestsInProgress: 1, pace: 2.5 }
    for (const [index, instance] of ['pod-1', 'pod-2'].entries()) {
      const active = { ...breaker, pausedUntil: now + 20_000 * index }
      say(`activity/${instance}/${shardOf('filed')}`, { filed: active, removed: active })
    }
    for (const instance of ['pod-1', 'dead'])
      say(`results/${instance}/${now}/${shardOf('filed')}`, { filed: [4, 3, 2, 1] })
    return { ...noStatusView, sums, isCurrent: () => isCurrent }
  }

  it('is in the status of the installation, for destinations that exist', async () => {
    const status = await statusWith({ live: view() }).status()
    const process = { services: ['dispatcher'], startedAt: '2026-02-28T23:59:00.000Z', partitions: 6 }
    expect(status).toMatchObject({
      rates: { admittedPerSecond: 3, deliveredPerSecond: 2.2, failedPerSecond: 0.3 },
      openBreakers: ['filed'],
      openBreakerCount: 1,
      services: [
        { ...process, instance: 'pod-1', version: '1.2.3', seenAt: '2026-03-01T00:00:00.000Z' },
        { ...process, instance: 'pod-2', version: '1.3.0' },
      ],
    })
    expect(status.partial).toBeUndefined()
  })

  it('is in the status of a destination', async () => {
    const status = await statusWith({ live: view() }).destinationStatus('filed')
    const results = { delivered: 8, failed: 6, deadLettered: 4, dropped: 2 }
    expect(status).toMatchObject({
      circuitBreaker: { state: 'open', nextProbeAt: '2026-03-01T00:00:30.000Z' },
      ...{ requestsInProgress: 2, inMemory: 6, pace: 5, pausedUntil: '2026-03-01T00:00:20.000Z' },
      results: { lastHour: results, lastDay: results },
    })
  })

  it('does not include a pause that is over', async () => {
    const live = view()
    await clock.advance(20_000)
    const status = await statusWith({ live }).destinationStatus('filed')
    expect(status).toMatchObject({ circuitBreaker: { state: 'open' } })
    expect(status).not.toHaveProperty('pausedUntil')
  })

  it('makes a status partial until the topic is read', async () => {
    const status = statusWith({ live: view(false) })
    expect(await status.status()).toMatchObject({ partial: true })
    expect(await status.destinationStatus('filed')).toMatchObject({ partial: true })
  })
})

describe('the status of a destination', () => {
  const at = epochMs(0)
  const [first, second] = tiers.map(topics.retry) as [string, string]
  function write(destination: string, topic: string, partition = 0): void {
    const origin = { topic: topics.events, partition: 0, offset: 1, timestamp: at }
    const headers = toHeaders(initialState(origin, destination, 'm-1', at, durationMs(1)))
    log.append(topic, partition, clock.now(), { key: null, value: Buffer.from('e'), headers })
  }

  it('counts its deliveries that wait, by tier with the oldest', async () => {
    write('filed', second)
    write('other', second)
    await clock.advance(1_000)
    for (let count = 0; count < 3; count++) write('filed', second, 1)
    log.append(first, 1, clock.now(), { key: null, value: Buffer.from('no state'), headers: {} })
    log.commit(
      topics.retriesGroup,
      second,
      [0, 1].map(offset => ({ offset, metadata: '' })),
    )
    expect(await statusWith().destinationStatus('filed')).toEqual({
      ...{ kind: 'status', id: 'filed', state: 'enabled', version: 0, problems: [] },
      waiting: [{ tier: '30s', records: 3, oldestAt: '2026-03-01T00:00:00.000Z' }],
      ...{ circuitBreaker: { state: 'closed' }, requestsInProgress: 0, inMemory: 0 },
      results: {
        lastHour: { since: '2026-02-28T23:00:00.000Z', ...noResults },
        lastDay: { since: '2026-02-28T00:00:00.000Z', ...noResults },
      },
      lastFailures: [],
    })
  })

  it('is partial when the records exceed the limit, with the records that were read', async () => {
    const more = 1_500
    for (let count = 0; count < statusLimits.records + more; count++) write('filed', first)
    const { waiting, partial } = (await statusWith().destinationStatus('filed')) as DestinationStatus
    expect(partial).toBe(true)
    expect(waiting).toMatchObject([{ tier: '10s', records: statusLimits.records }])
  })

  it('reads the tiers concurrently, and is partial when the time limit is reached', async () => {
    for (const topic of [first, second]) for (let count = 0; count < 5_000; count++) write('filed', topic)
    const slow = sessionWith({
      async read(...given) {
        if (given[0].topic === first) await clock.advance(statusLimits.time)
        return log.read(...given)
      },
    })
    const status = await statusWith({ session: slow }).destinationStatus('filed')
    expect(status).toMatchObject({
      partial: true,
      waiting: [
        { tier: '10s', records: 2_000 },
        { tier: '30s', records: 2_000 },
      ],
    })
  })

  it('reads all tiers in one session', async () => {
    let opened = 0
    const sessions: WithLogSession = use => {
      opened++
      return use(log)
    }
    expect(await statusWith({ sessions }).destinationStatus('filed')).toMatchObject({ kind: 'status', waiting: [] })
    expect(opened).toBe(1)
  })

  it('waits for the offsets and the last failures at the same time when Kafka does not answer', async () => {
    const failures = () => new Promise<undefined>(resolve => clock.after(2_000, () => resolve(undefined)))
    const status = statusWith({ sessions: () => never, lastFailures: failures }).destinationStatus('filed')
    await clock.advance(2_000, () => new Promise(setImmediate))
    expect(await status).toMatchObject({ partial: true, waiting: [] })
  })

  it('of a destination that does not exist is a refusal', async () => {
    expect(await statusWith().destinationStatus('nobody')).toMatchObject({ code: 'not_found' })
  })

  it('has no last failures when attempts are not recorded, and is complete', async () => {
    const status = await statusWith({ lastFailures: async () => ({ isPartial: false }) }).destinationStatus('filed')
    expect(status).not.toHaveProperty('lastFailures')
    expect(status).not.toHaveProperty('partial')
  })
})
