import { beforeEach, describe, expect, it } from '@jest/globals'
import { initialState, toHeaders } from '../../../../src/core/delivery/delivery-state.ts'
import { LiveSums } from '../../../../src/core/live-status/live-sums.ts'
import { shardOf } from '../../../../src/core/live-status/result-counts.ts'
import type { LogPositions } from '../../../../src/core/ports.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import type { StatusView } from '../../../../src/services/live-status/status-view.ts'
import type { ReadLog } from '../../../../src/services/operator/read-log.ts'
import { createReadStatus, statusLimits } from '../../../../src/services/operator/read-status.ts'
import { duration } from '../../../support/builders.ts'
import { OperatorHarness, topics } from '../../../support/operator/harness.ts'
import { type MemoryObjects, memoryObjects } from '../../../support/operator/memory-objects.ts'
import { noStatusView } from '../../../support/operator/no-status-view.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

const noResults = { delivered: 0, failed: 0, deadLettered: 0, dropped: 0 }
const tiers = ['10s', '30s'].map(duration)
let harness: OperatorHarness
let memory: MemoryObjects

beforeEach(async () => {
  harness = new OperatorHarness()
  memory = await memoryObjects(harness.clock)
})

const statusWith = (
  positions: LogPositions,
  reader = harness.reader(),
  live: StatusView = noStatusView,
  lastFailures: ReadLog['lastFailures'] = async () => ({ lastFailures: [], isPartial: false }),
) =>
  createReadStatus({
    ...{ objects: memory.objects, positions, reader, topics, tiers, version: '1.2.3' },
    log: { lastFailures },
    ...{ live, clock: harness.clock, logger: silent },
  })
/** End offsets and committed offsets by topic. Other topics are empty. */
const offsets = (known: Readonly<Record<string, readonly [ends: number[], committed: number[]]>>): LogPositions => ({
  ends: async topic => known[topic]?.[0] ?? [0, 0],
  committed: async (_group, topic) => known[topic]?.[1] ?? [0, 0],
})

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
    expect(await statusWith(known).status()).toEqual({
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
      rates: { admittedPerSecond: 0, deliveredPerSecond: 0, failedPerSecond: 0 },
      openBreakers: [],
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
    const ends = async (topic: string) =>
      topic === topics.audienceInput ? Promise.reject(new Error('no broker')) : known.ends(topic)
    const status = await statusWith({ ...known, ends }).status()
    expect(status).toMatchObject({
      partial: true,
      groups: [{ group: topics.dispatcherGroup }, { group: topics.retriesGroup }],
    })
  })

  it('is partial when Kafka does not answer within the limit', async () => {
    const asked = statusWith({ ends: () => new Promise(() => {}), committed: async () => [] }).status()
    await new Promise(resolve => setImmediate(resolve))
    await harness.clock.advance(statusLimits.time)
    expect(await asked).toMatchObject({ partial: true, groups: [], waiting: [], sources: { enabled: 2 } })
  })

  it('is read once for requests that wait together', async () => {
    let reads = 0
    const known = offsets({})
    const count = async (topic: string) => {
      if (topic === topics.events) reads++
      return known.ends(topic)
    }
    const reader = statusWith({ ...known, ends: count })
    await Promise.all([reader.status(), reader.status(), reader.status()])
    expect(reads).toBe(1)
    await reader.status()
    expect(reads).toBe(2)
  })
})

describe('what the processes report', () => {
  const view = (isCurrent = true): StatusView => {
    const sums = new LiveSums()
    const say = (key: string, value: object): void => sums.apply(key, Buffer.from(JSON.stringify(value)), now)
    const now = harness.clock.now()
    const facts = { services: ['dispatcher'], version: '1.2.3', startedAt: now - 60_000, partitions: 6 }
    const rates = { admitted: 1.5, delivered: 1.1, failed: 0.2 }
    say('process/pod-2', { ...facts, version: '1.3.0', rates: { ...rates, failed: 0.1 } })
    say('process/pod-1', { ...facts, rates })
    const breaker = { breaker: 'open', nextProbeAt: now + 30_000, inMemory: 3, requestsInProgress: 1, pace: 2.5 }
    for (const instance of ['pod-1', 'pod-2'])
      say(`activity/${instance}/${shardOf('filed')}`, { filed: breaker, removed: breaker })
    for (const instance of ['pod-1', 'dead'])
      say(`results/${instance}/${now}/${shardOf('filed')}`, { filed: [4, 3, 2, 1] })
    return { ...noStatusView, sums, isCurrent: () => isCurrent }
  }

  it('is in the status of the installation, for destinations that exist', async () => {
    const status = await statusWith(offsets({}), harness.reader(), view()).status()
    const process = { services: ['dispatcher'], startedAt: '2026-02-28T23:59:00.000Z', partitions: 6 }
    expect(status).toMatchObject({
      rates: { admittedPerSecond: 3, deliveredPerSecond: 2.2, failedPerSecond: 0.3 },
      openBreakers: ['filed'],
      services: [
        { ...process, instance: 'pod-1', version: '1.2.3', seenAt: '2026-03-01T00:00:00.000Z' },
        { ...process, instance: 'pod-2', version: '1.3.0' },
      ],
    })
    expect(status.partial).toBeUndefined()
  })

  it('is in the status of a destination', async () => {
    const status = await statusWith(offsets({}), harness.reader(), view()).destinationStatus('filed')
    const results = { delivered: 8, failed: 6, deadLettered: 4, dropped: 2 }
    expect(status).toMatchObject({
      circuitBreaker: { state: 'open', nextProbeAt: '2026-03-01T00:00:30.000Z' },
      ...{ requestsInProgress: 2, inMemory: 6, pace: 5 },
      results: { lastHour: results, lastDay: results },
    })
  })

  it('makes a status partial until the topic is read', async () => {
    const status = statusWith(offsets({}), harness.reader(), view(false))
    expect(await status.status()).toMatchObject({ partial: true })
    expect(await status.destinationStatus('filed')).toMatchObject({ partial: true })
  })
})

describe('the status of a destination', () => {
  const at = epochMs(0)
  function write(destination: string, tier: string, partition = 0): void {
    const origin = { topic: topics.events, partition: 0, offset: 1, timestamp: at }
    const state = initialState(origin, destination, 'm-1', at, durationMs(1))
    harness.log.writeTo(partition, topics.retry(duration(tier)), Buffer.from('e'), toHeaders(state))
  }

  it('counts its deliveries that wait, by tier with the oldest', async () => {
    write('filed', '30s')
    write('other', '30s')
    await harness.clock.advance(1_000)
    write('filed', '30s', 1)
    write('filed', '30s', 1)
    harness.log.writeTo(1, topics.retry(duration('10s')), Buffer.from('no state'))
    const positions = offsets({
      [topics.retry(duration('30s'))]: [
        [2, 2],
        [0, 1],
      ],
    })
    expect(await statusWith(positions).destinationStatus('filed')).toEqual({
      ...{ kind: 'status', id: 'filed', state: 'enabled', version: 0, problems: [] },
      waiting: [{ tier: '30s', records: 2, oldestAt: '2026-03-01T00:00:00.000Z' }],
      ...{ circuitBreaker: { state: 'closed' }, requestsInProgress: 0, inMemory: 0 },
      results: {
        lastHour: { since: '2026-02-28T23:00:00.000Z', ...noResults },
        lastDay: { since: '2026-02-28T00:00:00.000Z', ...noResults },
      },
      lastFailures: [],
    })
  })

  it('is partial when the records exceed the limit', async () => {
    for (let count = 0; count <= 3; count++) write('filed', '10s')
    const status = statusWith(offsets({}), {
      async readToEnd(topic, onRecord, { isEnough = () => false } = {}) {
        const [record] = harness.log.records(topic)
        while (record !== undefined && !isEnough()) await onRecord(record)
        return 0
      },
    })
    expect(await status.destinationStatus('filed')).toMatchObject({
      partial: true,
      waiting: [{ tier: '10s', records: statusLimits.records }],
    })
  })

  it('waits for the offsets and the last failures at the same time when Kafka does not answer', async () => {
    const never = new Promise<never>(() => {})
    const failures = () => new Promise<undefined>(resolve => harness.clock.after(6_400, () => resolve(undefined)))
    const positions = { ends: () => never, committed: () => never }
    const status = statusWith(positions, harness.reader(), noStatusView, failures).destinationStatus('filed')
    await harness.clock.advance(6_400, () => new Promise(setImmediate))
    expect(await status).toMatchObject({ partial: true, waiting: [] })
  })

  it('is partial, and asks for no further tier, when Kafka does not answer within the limit', async () => {
    let asked = 0
    const committed = () => {
      asked++
      return new Promise<readonly number[]>(() => {})
    }
    const status = statusWith({ ...offsets({}), committed }).destinationStatus('filed')
    await new Promise(resolve => setImmediate(resolve))
    await harness.clock.advance(statusLimits.time)
    expect(await status).toMatchObject({ partial: true, waiting: [] })
    expect(asked).toBe(1)
  })

  it('of a destination that does not exist is a refusal', async () => {
    expect(await statusWith(offsets({})).destinationStatus('nobody')).toMatchObject({ code: 'not_found' })
  })
})
