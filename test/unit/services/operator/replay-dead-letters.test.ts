import { describe, expect, it } from '@jest/globals'
import { deadLetterRecord } from '../../../../src/core/delivery/dead-letter-record.ts'
import { replayedTombstone } from '../../../../src/core/delivery/replay-decision.ts'
import type { TopicReader } from '../../../../src/core/ports.ts'
import type { ReplayProgress } from '../../../../src/services/operator/replay-dead-letters.ts'
import { recordOf, start } from '../../../support/builders.ts'
import { whileWriting } from '../../../support/kafka/memory-topics-for-replays.ts'
import { turns } from '../../../support/manual-clock.ts'
import { firstTier, givenUp, ReplayHarness, refusedEvent, topics } from '../../../support/operator/replay-harness.ts'

const harnessOf = (...deadLetters: ConstructorParameters<typeof ReplayHarness>[0]) => new ReplayHarness(deadLetters)
/** Dead letters of deliveries to `crm`. */
const manyGivenUp = (count: number) => Array.from({ length: count }, (_, n) => givenUp(n))
const settle = () => turns(5)

describe('a replay', () => {
  it('writes each copy to its target, and then a tombstone for the dead letter', async () => {
    const harness = harnessOf(givenUp(1), givenUp(2, 'shop'), refusedEvent(3))
    expect(await harness.replay()).toEqual({
      total: 3,
      replayed: 3,
      unmarked: 0,
      destinations: new Set(['crm', 'shop']),
      end: { kind: 'done' },
      rows: expect.arrayContaining([
        { destination: 'crm', reason: 'retries_exhausted', target: { topic: firstTier }, count: 1 },
        { destination: 'shop', reason: 'retries_exhausted', target: { topic: firstTier }, count: 1 },
        { destination: undefined, reason: 'undecodable', target: { topic: topics.events }, count: 1 },
      ]),
    })
    expect(harness.parked.toSorted()).toEqual(['crm m-1 1', 'shop m-2 1'])
    expect(harness.memoryTopics.records(topics.events).map(({ key }) => String(key))).toEqual(['user-3'])
    expect(harness.standing).toEqual([])
  })

  it('writes the tombstone to the partition of the dead letter, whatever its key', async () => {
    const harness = harnessOf({ ...givenUp(1), partition: 0 }, { ...givenUp(2), partition: 1 })
    await harness.replay()
    const marks = harness.memoryTopics.records(topics.deadLetter).filter(({ value }) => value === null)
    expect(marks.map(({ key, partition }) => [String(key), partition]).toSorted()).toEqual([
      ['crm/hookline.events/0/2/1795248000000/0', 1],
      ['crm/hookline.events/1/1/1795248000000/0', 0],
    ])
  })

  it('writes an event of a partition that the topic no longer has to the partition of its key', async () => {
    const eventWith = (key: Buffer | null) =>
      deadLetterRecord(recordOf({ partition: 7, key }), undefined, 'unknown_source')
    const key = Buffer.from('user-1')
    const harness = harnessOf(eventWith(key), { ...eventWith(null), key: Buffer.from('other') }, refusedEvent(3))
    expect(await harness.replay()).toMatchObject({ replayed: 3, end: { kind: 'done' } })
    const { memoryTopics } = harness
    const copies = memoryTopics.records(topics.events).map(copy => [copy.key && String(copy.key), copy.partition])
    expect(copies.toSorted()).toEqual([
      [null, memoryTopics.partitionOf(null)],
      ['user-1', memoryTopics.partitionOf(key)],
      ['user-3', 1],
    ])
  })

  it('counts and does not replay dead letters that would fail again', async () => {
    const harness = harnessOf(givenUp(1, 'gone'), givenUp(2, 'gone'), givenUp(3))
    const target = { refusal: 'unknown_destination' }
    const refused = { destination: 'gone', reason: 'retries_exhausted', target, count: 2 }
    expect(await harness.replay()).toMatchObject({ total: 3, replayed: 1, rows: expect.arrayContaining([refused]) })
    expect(harness.standing).toHaveLength(2)
  })

  it('ignores dead letters that are written after its start', async () => {
    const harness = harnessOf(givenUp(1))
    const stored = harness.memoryTopics.reader()
    const reader: TopicReader = {
      readToEnd: async (topic, onRecord) => {
        const count = await stored.readToEnd(topic, onRecord)
        harness.giveUp(givenUp(count + 10))
        return count
      },
    }
    expect(await harness.replay({ reader })).toMatchObject({ total: 1, replayed: 1 })
    expect(harness.parked).toEqual(['crm m-1 1'])
  })
})

describe('the rate of a replay', () => {
  it('has a limit for dead letters in progress', async () => {
    const harness = new ReplayHarness(manyGivenUp(600))
    const { producer, work } = harness.begin()
    expect(await whileWriting(producer, work, [0, 1, 2, 3])).toMatchObject({ replayed: 600 })
    expect(producer.mostPending).toBe(256)
    expect(new Set(harness.parked).size).toBe(600)
  })

  it('does not block other work of the process for more than about 10 ms', async () => {
    const harness = new ReplayHarness(manyGivenUp(50))
    let seen = 0
    const onProgress = (progress: ReplayProgress) => {
      seen = progress.seen
    }
    // Each dead letter takes 1 ms.
    harness.clock.monotonic = () => seen
    const { work } = harness.begin({ filter: { destination: 'shop' }, onProgress })
    const seenPerTurn: number[] = []
    while (seen < 50) {
      const before = seen
      await turns()
      seenPerTurn.push(seen - before)
    }
    expect([(await work).total, Math.max(...seenPerTurn)]).toEqual([50, 10])
  })

  it('keeps the configured rate', async () => {
    const harness = new ReplayHarness(manyGivenUp(20))
    const { producer, work } = harness.begin({ perSecond: 5 })
    const done = whileWriting(producer, work)
    await harness.clock.advance(4_000, settle)
    expect(await done).toMatchObject({ replayed: 20 })
    const times = harness.memoryTopics.records(firstTier).map(({ timestamp }) => timestamp - start)
    expect(times).toEqual(Array.from({ length: 20 }, (_, n) => n * 200))
  })
})

describe('the report of a replay', () => {
  it('gives the total before it starts, and may be declined', async () => {
    const replayedBefore = { ...givenUp(2), partition: 0 }
    const harness = harnessOf(givenUp(1), replayedBefore, replayedTombstone(recordOf(replayedBefore)))
    const reported: number[] = []
    const begin = (total: number): boolean => reported.push(total) === 0
    const report = await harness.replay({ begin })
    expect(report).toEqual({
      total: 1,
      replayed: 0,
      unmarked: 0,
      rows: [],
      destinations: new Set(),
      end: { kind: 'declined' },
    })
    expect(reported).toEqual([1])
    expect(harness.parked).toEqual([])
  })

  it('includes its progress', async () => {
    const reported: ReplayProgress[] = []
    const onProgress = (progress: ReplayProgress): void => void reported.push(progress)
    await harnessOf(givenUp(1), givenUp(2, 'shop')).replay({ filter: { destination: 'shop' }, onProgress })
    expect(reported.map(({ seen, replayed }) => [seen, replayed])).toEqual([
      [1, 0],
      [2, 0],
      [2, 1],
    ])
  })
})

describe('a replay that is stopped', () => {
  it('finishes dead letters in progress, and the next replay continues', async () => {
    const harness = new ReplayHarness(manyGivenUp(10))
    const stopping = new AbortController()
    const { producer, work } = harness.begin({ signal: stopping.signal, perSecond: 1 })
    await harness.clock.advance(2_500, settle)
    expect([producer.mostPending, producer.written]).toEqual([3, 0])
    stopping.abort()
    expect(await whileWriting(producer, work)).toMatchObject({ total: 10, replayed: 3, end: { kind: 'interrupted' } })
    expect(harness.standing).toHaveLength(7)
    expect(await harness.replay()).toMatchObject({ total: 7, replayed: 7, end: { kind: 'done' } })
    expect([harness.parked.length, new Set(harness.parked).size]).toEqual([10, 10])
  })

  it.each([
    ['before the count', true],
    ['at the confirmation', false],
  ])('replays nothing when stopped %s', async (_name, isBefore) => {
    const harness = harnessOf(givenUp(1))
    const stopping = new AbortController()
    if (isBefore) stopping.abort()
    const begin = (): boolean => {
      stopping.abort()
      return false
    }
    const report = await harness.replay({ signal: stopping.signal, begin })
    expect(report).toMatchObject({ replayed: 0, rows: [], end: { kind: 'interrupted' } })
    expect(report.total).toBe(isBefore ? undefined : 1)
    expect(harness.standing).toHaveLength(1)
  })

  it('is complete when stopped after the last dead letter', async () => {
    const stopping = new AbortController()
    const onProgress = ({ replayed }: ReplayProgress): void => {
      if (replayed === 1) stopping.abort()
    }
    const report = await harnessOf(givenUp(1)).replay({ signal: stopping.signal, onProgress })
    expect(report.end).toEqual({ kind: 'done' })
  })
})

describe('when Kafka fails', () => {
  it('ends the replay at a copy that is not stored, and keeps its dead letter', async () => {
    const harness = new ReplayHarness(manyGivenUp(10))
    const report = await harness.replay({ refuses: (_topic, { headers }) => headers['message-id'] === 'm-4' })
    expect(report).toMatchObject({
      unmarked: 0,
      end: { kind: 'failed', error: new Error(`${firstTier} takes nothing`) },
    })
    expect(harness.standing).toHaveLength(10 - report.replayed)
    expect(harness.standing.map(({ headers }) => headers['message-id'])).toContain('m-4')
  })

  it('starts no further dead letter after a failure', async () => {
    const { producer, work } = new ReplayHarness(manyGivenUp(600)).begin({ refuses: () => true })
    expect(await whileWriting(producer, work)).toMatchObject({ replayed: 0, end: { kind: 'failed' } })
    expect([producer.mostPending, producer.written]).toEqual([256, 0])
  })

  it.each(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])(
    'refuses a copy with the error %s, and replays all others',
    async code => {
      const harness = new ReplayHarness(manyGivenUp(600))
      const tooLarge = Object.assign(new Error('too large'), { code, retriable: false })
      const report = await harness.replay({
        refuses: (_topic, { headers }) => headers['message-id'] === 'm-4' && tooLarge,
      })
      const row = { destination: 'crm', reason: 'retries_exhausted' }
      expect(report).toMatchObject({
        ...{ replayed: 599, unmarked: 0, end: { kind: 'done' } },
        rows: [
          { ...row, target: { topic: firstTier }, count: 599 },
          { ...row, target: { refusal: 'too_large' }, count: 1 },
        ],
      })
      expect(harness.standing.map(({ headers }) => headers['message-id'])).toEqual(['m-4'])
    },
  )

  it('reports a tombstone that is not stored; the next replay repeats that dead letter', async () => {
    const harness = harnessOf(givenUp(1))
    const report = await harness.replay({ refuses: topic => topic === topics.deadLetter })
    expect(report).toMatchObject({ replayed: 0, unmarked: 1, end: { kind: 'failed' } })
    expect(await harness.replay()).toMatchObject({ total: 1, replayed: 1, unmarked: 0 })
    expect(harness.parked).toEqual(['crm m-1 1', 'crm m-1 1'])
  })

  it('finishes dead letters in progress before it reports a failed read', async () => {
    const harness = new ReplayHarness(manyGivenUp(10))
    const broken = new Error('leader not available')
    let readings = 0
    const reader: TopicReader = {
      readToEnd: async (topic, onRecord) => {
        const count = await harness.memoryTopics.reader().readToEnd(topic, onRecord)
        if (++readings === 2) throw broken
        return count
      },
    }
    expect(await harness.replay({ reader })).toMatchObject({ replayed: 10, end: { kind: 'failed', error: broken } })
    expect(harness.standing).toEqual([])
  })
})
