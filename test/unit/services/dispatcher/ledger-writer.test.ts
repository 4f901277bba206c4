import { describe, expect, it } from '@jest/globals'
import { createMetrics } from '../../../../src/adapters/metrics/metrics.ts'
import { hourOf, LedgerCounts } from '../../../../src/core/ledger/ledger-counts.ts'
import { parseLedgerRecord, readChain } from '../../../../src/core/ledger/ledger-record-and-chain-reading.ts'
import type { LedgerTail } from '../../../../src/core/ledger/partition-ledger.ts'
import type { LogProducer, LogRecord, OnAck, OutgoingRecord } from '../../../../src/core/ports.ts'
import { parseCommit } from '../../../../src/core/progress/commit-metadata.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { createLedgerWriter } from '../../../../src/services/dispatcher/ledger-writer.ts'
import { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'
import { recordOf } from '../../../support/builders.ts'
import { partition, ScriptedConsumer } from '../../../support/kafka/scripted-consumer.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

/**
 * A partition with a ledger. Each append of a ledger record waits until the test calls `answer`.
 */
function setUp() {
  const clock = new ManualClock()
  const { metrics } = createMetrics()
  const appends: { record: OutgoingRecord; answer: OnAck }[] = []
  const producer = {
    append: (_topic: string, record: OutgoingRecord, answer: OnAck) => void appends.push({ record, answer }),
  } as unknown as LogProducer
  const writer = createLedgerWriter({ producer, topics: topicNames('h'), clock, metrics, logger: silent })
  const assigned = (position: { offset: number; metadata: string }) =>
    new PartitionProcessor(
      { ...partition, ...position },
      {
        consumer: new ScriptedConsumer([], 0),
        limits: () => ({ records: 10_000, bytes: 10_000_000, span: 20_000, dueSoonRecords: 100 }),
        onResumed: () => undefined,
        exactSince: writer.exactSince({ ...partition, ...position }),
      },
    )
  let processor = assigned({ offset: 0, metadata: '' })
  let next = 0
  return {
    ...{ clock, metrics, appends, writer, processor },
    /** Assigns the partition again, with this committed position. */
    assign(position: { offset: number; metadata: string }): void {
      processor = assigned(position)
    },
    /** Finishes a record that has a ledger entry for each of `destinations` destinations. */
    done(destinations: number): void {
      const record = recordOf({ ...partition, offset: next++ })
      processor.admit(record)
      const entries = Array.from({ length: destinations }, (_, index) => {
        return { destination: `destination-${index}`, field: 'admitted' } as const
      })
      processor.done(record, { hour: hourOf(clock.now()), entries })
    },
    /** Reads the position before it calls `check`, as the dispatcher does. */
    commit() {
      const { offset, metadata } = processor.tracker.position
      writer.check(processor)
      return { offset, metadata, ledger: parseCommit(offset, metadata).ledger }
    },
  }
}

describe('a partition whose results have no room', () => {
  it('is committed when a record has them, one interval later', () => {
    const { done, commit, appends } = setUp()
    done(400)
    expect(commit().offset).toBe(0)
    appends[0]?.answer(undefined, 7)
    const { offset, ledger } = commit()
    expect([offset, ledger?.last, ledger?.counts.isEmpty, ledger?.exactSince]).toEqual([1, 7, true, 0])
  })

  it('is committed without them after 15 s, and names no record of discarded results', async () => {
    const { done, commit, appends, clock } = setUp()
    done(400)
    commit()
    await clock.advance(14_900)
    expect(commit().offset).toBe(0)
    await clock.advance(200)
    commit()
    const nextHour = hourOf(clock.now()) + 1
    expect([commit().offset, commit().ledger?.exactSince]).toEqual([1, nextHour])
    done(400)
    commit()
    appends[0]?.answer(undefined, 7)
    expect(commit().ledger?.last).toBeUndefined()
    done(400)
    commit()
    appends.at(-1)?.answer(undefined, 9)
    expect(commit().ledger?.last).toBe(9)
  })

  it('does not wait again in the same hour', async () => {
    const { done, commit, clock } = setUp()
    done(400)
    commit()
    await clock.advance(15_000)
    commit()
    done(400)
    for (let tick = 0; tick < 3; tick++) commit()
    expect(commit().offset).toBe(2)
  })

  it.each([
    ['within 5 s, also when the producer does not answer', Number.POSITIVE_INFINITY, 4_900, 5_200],
    ['before the deadline of the revocation', 1_000, 700, 950],
  ])('is handed over %s', async (_, deadlineMs, waitsMs, isOverAfterMs) => {
    const { done, commit, clock, writer, processor } = setUp()
    done(400)
    let isOver = false
    void writer.writeUntilCountsFit(processor, clock.monotonic() + deadlineMs).then(() => {
      isOver = true
    })
    for (let waited = 0; waited < waitsMs; waited += 50) await clock.advance(50)
    expect(isOver).toBe(false)
    for (let waited = waitsMs; waited < isOverAfterMs; waited += 50) await clock.advance(50)
    expect([isOver, commit().offset]).toEqual([true, 1])
  })
})

it('stores the results of a long backlog in several records, each below the limit of a topic', async () => {
  const { done, commit, appends } = setUp()
  done(60_000)
  let offset = 0
  for (; commit().offset < 1 && offset < 20; offset++) appends[offset]?.answer(undefined, offset)
  expect(Math.max(...appends.map(({ record }) => record.value?.length ?? 0))).toBeLessThan(1_000_000)
  const counts = new LedgerCounts()
  const isComplete = await readChain(commit().ledger as LedgerTail, {
    since: 0,
    recordAt: async at => parseLedgerRecord(appends[at]?.record as LogRecord),
    onCounts: found => counts.merge(found),
  })
  const admitted = [...counts.cells()].reduce((sum, [, , cell]) => sum + cell.admitted, 0)
  expect([appends.length > 1, isComplete, admitted]).toEqual([true, true, 60_000])
})

describe('a wrong clock', () => {
  const year = 365 * 24 * 3_600_000

  it('ahead during a gap: the ledger is complete again one hour after the next assignment', async () => {
    const { done, commit, clock, assign } = setUp()
    done(400)
    commit()
    clock.step(year)
    await clock.advance(15_000)
    commit()
    const position = commit()
    expect(position.ledger?.exactSince).toBeGreaterThan(hourOf(clock.now()))
    clock.step(-year)
    assign(position)
    expect(commit().ledger?.exactSince).toBe(hourOf(clock.now()) + 1)
  })

  it('behind during a gap: the hours of the discarded results are not complete', async () => {
    const { done, commit, clock } = setUp()
    done(400)
    const hour = hourOf(clock.now())
    commit()
    clock.step(-year)
    await clock.advance(15_000)
    commit()
    expect(commit().ledger?.exactSince).toBe(hour + 1)
  })
})

describe('an append', () => {
  it('starts again after a pause, which doubles with each failure', async () => {
    const { done, commit, appends, clock } = setUp()
    done(400)
    const starts: number[] = []
    for (let at = 0; at < 8_000; at += 250) {
      commit()
      for (const { answer } of appends.splice(0)) {
        starts.push(at)
        answer(new Error('the topic is missing') as Parameters<OnAck>[0])
      }
      await clock.advance(250)
    }
    expect(starts).toEqual([0, 500, 1_500, 3_500, 7_500])
  })

  it('is withdrawn when its results were discarded, and changes nothing later', async () => {
    const { done, commit, appends, clock } = setUp()
    done(400)
    commit()
    expect(appends[0]?.record.maySend?.()).toBe(true)
    await clock.advance(15_000)
    commit()
    expect(appends[0]?.record.maySend?.()).toBe(false)
    commit()
    done(400)
    expect(commit().offset).toBe(1)
    appends[0]?.answer(undefined, 7)
    // Earlier counts of this hour were discarded, so the hour is incomplete anyway, and further
    // counts are discarded without a wait.
    commit()
    expect(commit().offset).toBe(2)
  })
})

it.each([
  ['a new partition', { offset: 0, metadata: '' }, 'always'],
  ['a partition that an earlier version read', { offset: 9, metadata: '' }, 'next hour'],
  ['a truncated log', { offset: 0, metadata: '', isTruncated: true }, 'next hour'],
])('the ledger of %s is complete from %s', (_, position, from) => {
  const { writer, clock } = setUp()
  expect(writer.exactSince({ ...partition, ...position })).toBe(from === 'always' ? 0 : hourOf(clock.now()) + 1)
})
