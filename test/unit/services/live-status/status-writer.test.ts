import { beforeEach, describe, expect, it } from '@jest/globals'
import { ResultCounts, shardOf } from '../../../../src/core/live-status/result-counts-of-this-process.ts'
import type { DestinationActivity } from '../../../../src/core/live-status/status-record.ts'
import { createStatusWriter, type StatusWriter } from '../../../../src/services/live-status/status-writer.ts'
import { StatusTopic } from '../../../support/live-status/memory-status-topic.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { countingMetrics } from '../../../support/telemetry/counting-metrics.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const busy: DestinationActivity = { breaker: 'closed', requestsInProgress: 1, inMemory: 0 }
const shard = shardOf('crm')
let clock: ManualClock
let topic: StatusTopic
let results: ResultCounts
let activity: Map<string, DestinationActivity>
let logger: RecordingLogger
let counts: Map<string, number>

beforeEach(() => {
  clock = new ManualClock()
  topic = new StatusTopic(() => clock.now())
  results = new ResultCounts()
  activity = new Map()
  logger = new RecordingLogger()
  counts = new Map()
})

function started(withDispatcher = true): StatusWriter {
  const writer = createStatusWriter({
    ...{ instance: 'pod-1', services: ['dispatcher'], version: '1.2.3', topic: 'hookline.status' },
    ...{ producer: topic, clock, logger, metrics: countingMetrics(counts) },
  })
  if (withDispatcher) writer.include({ results, activityOf: id => activity.get(id), partitions: () => 6 })
  writer.start()
  return writer
}
const delivered = (count: number): void => {
  for (let index = 0; index < count; index++) results.delivered(results.of('crm'))
}
const ofCrm = () => topic.sums.resultsOf('crm', clock.now()).lastDay
const keysOf = (kind: string): readonly string[] => topic.stored.filter(key => key.startsWith(kind))

describe('a process', () => {
  it('says every 5 s that it runs, with its rates', async () => {
    started()
    results.totals.admitted += 12
    delivered(10)
    results.failed(results.of('crm'))
    await clock.advance(1_000)
    const first = { services: ['dispatcher'], version: '1.2.3', partitions: 6, startedAt: clock.now() - 1_000 }
    expect(JSON.parse(topic.values.get('process/pod-1') ?? '')).toEqual({
      ...first,
      rates: { admitted: 12, delivered: 10, failed: 1 },
    })
    delivered(6)
    await clock.advance(15_000)
    expect(keysOf('process')).toHaveLength(4)
    expect(topic.sums.processes(clock.now())).toMatchObject([{ ...first, rates: { delivered: 0 } }])
  })

  it('without a dispatcher says only that', async () => {
    await Promise.resolve(started(false))
    await clock.advance(60_000)
    expect(new Set(topic.stored)).toEqual(new Set(['process/pod-1']))
    expect(topic.sums.processes(clock.now())).toMatchObject([{ partitions: 0, rates: { admitted: 0 } }])
  })

  it('removes itself and its activity when it stops, and leaves its results', async () => {
    const writer = started()
    delivered(1)
    activity.set('crm', busy)
    await clock.advance(10_000)
    delivered(2)
    await writer.stop()
    expect([...topic.values.keys()]).toEqual([expect.stringMatching(/^results\//)])
    expect(topic.sums.processes(clock.now())).toEqual([])
    expect(ofCrm().delivered).toBe(3)
    expect(clock.timers).toBe(0)
  })

  it('stops although Kafka does not answer', async () => {
    const writer = started()
    topic.isAnswering = false
    topic.flush = () => new Promise(() => {})
    const stopped = writer.stop()
    await clock.advance(2_000, () => new Promise(resolve => setImmediate(resolve)))
    await stopped
  })
})

describe('the activity of a destination', () => {
  it('is written when it has changed, at most every 5 s', async () => {
    started()
    results.of('crm')
    await clock.advance(10_000)
    expect(keysOf('activity')).toEqual([])
    activity.set('crm', busy)
    await clock.advance(5_000)
    await clock.advance(60_000)
    expect(keysOf('activity')).toEqual([`activity/pod-1/${shard}`])
    for (let count = 2; count <= 20; count++) {
      activity.set('crm', { ...busy, requestsInProgress: count })
      await clock.advance(1_000)
    }
    expect(keysOf('activity').length).toBeLessThanOrEqual(5)
    activity.clear()
    await clock.advance(5_000)
    expect(topic.values.has(`activity/pod-1/${shard}`)).toBe(false)
  })

  it('is written again after an hour, because a view that starts later begins a day before', async () => {
    started()
    results.of('crm')
    activity.set('crm', busy)
    await clock.advance(3_610_000)
    expect(keysOf('activity')).toHaveLength(2)
  })

  it.each(['failed', 'stored_and_failed'] as const)('is written again when a write may be lost: %s', async how => {
    started()
    results.of('crm')
    activity.set('crm', busy)
    topic.isAnswering = false
    await clock.advance(5_000)
    activity.clear()
    topic.answer(how)
    topic.isAnswering = true
    await clock.advance(5_000)
    expect(topic.sums.activityOf('crm', clock.now())).toMatchObject({ requestsInProgress: 0 })
    expect(topic.values.has(`activity/pod-1/${shard}`)).toBe(false)
  })
})

describe('results', () => {
  it('are written within 10 s, when they have changed', async () => {
    started()
    delivered(3)
    results.failed(results.of('crm'))
    results.of('crm').deadLettered++
    results.of('crm').dropped++
    await clock.advance(10_000)
    expect(ofCrm()).toMatchObject({ delivered: 3, failed: 1, deadLettered: 1, dropped: 1 })
    const { length } = keysOf('results')
    await clock.advance(60_000)
    expect(keysOf('results')).toHaveLength(length)
  })

  it('count in one period each', async () => {
    started()
    delivered(1)
    await clock.advance(895_000)
    delivered(2)
    await clock.advance(60_000)
    delivered(4)
    await clock.advance(60_000)
    const periods = [...topic.values].filter(([key]) => key.startsWith('results')).map(([, value]) => value)
    expect(periods).toEqual(['{"crm":[3,0,0,0]}', '{"crm":[4,0,0,0]}'])
    expect(ofCrm().delivered).toBe(7)
  })
})

describe('a write', () => {
  it('is not repeated before it has ended, so the writes in progress are bounded', async () => {
    started()
    delivered(1)
    activity.set('crm', busy)
    topic.isAnswering = false
    await clock.advance(10_000)
    const { length } = topic.pending
    expect(length).toBe(3)
    delivered(1)
    await clock.advance(60_000)
    expect(topic.pending).toHaveLength(length)
    topic.answer()
    topic.isAnswering = true
    await clock.advance(10_000)
    expect(ofCrm().delivered).toBe(2)
  })

  it('that fails is counted, and logged once until a write succeeds', async () => {
    started()
    topic.isAnswering = false
    for (let failure = 0; failure < 3; failure++) {
      await clock.advance(5_000)
      topic.answer('failed')
    }
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn'])
    expect(counts.get('statusRecords{failed}')).toBe(3)
    topic.isAnswering = true
    await clock.advance(5_000)
    expect(counts.get('statusRecords{written}')).toBe(1)
    topic.isAnswering = false
    await clock.advance(5_000)
    topic.answer('failed')
    expect(logger.lines).toHaveLength(2)
  })
})
