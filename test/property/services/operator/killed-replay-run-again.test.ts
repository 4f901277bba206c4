import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type DeadLetterFilter, matches } from '../../../../src/core/delivery/dead-letter-filter.ts'
import { originalOf } from '../../../../src/core/delivery/dead-letter-record.ts'
import { parseDeliveryState } from '../../../../src/core/delivery/delivery-state.ts'
import { parseDeadLetter } from '../../../../src/core/delivery/parse-dead-letter.ts'
import { firstOrigin } from '../../../../src/core/delivery/replay-decision.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { killedAfter } from '../../../support/kafka/memory-topics-for-replays.ts'
import { firstTier, givenUp, ReplayHarness, refusedEvent, topics } from '../../../support/operator/replay-harness.ts'

const isEvent = (key: string): boolean => key.startsWith('-/')

function keyOf(copy: LogRecord): string {
  const carried = parseDeliveryState(copy.headers)
  const { topic, partition, offset, timestamp } = carried?.origin ?? firstOrigin(copy)
  return `${carried?.destination ?? '-'}/${topic}/${partition}/${offset}/${timestamp}/${(carried?.round ?? 1) - 1}`
}

const copiesIn = ({ memoryTopics }: ReplayHarness): readonly LogRecord[] => [
  ...memoryTopics.records(firstTier),
  ...memoryTopics.records(topics.events),
]

/** The number of copies that replays have written, by the key of the dead letter. */
function copyCounts(harness: ReplayHarness): Map<string, number> {
  const byKey = Map.groupBy(copiesIn(harness), keyOf)
  return new Map([...byKey].map(([key, copies]) => [key, copies.length]))
}
const keysOf = (records: readonly LogRecord[]): string[] => records.map(({ key }) => String(key)).toSorted()

/** Few different values, so that one dead letter is often written and replayed several times. */
const histories = fc.array(
  fc.record({
    n: fc.nat(3),
    destination: fc.constantFrom('crm', 'shop', 'gone', undefined),
    round: fc.nat(1),
    isTakenBack: fc.boolean(),
  }),
  { maxLength: 12 },
)
const filters: fc.Arbitrary<DeadLetterFilter> = fc.record({
  destination: fc.constantFrom(undefined, undefined, 'crm', '-'),
  messageId: fc.constantFrom(undefined, undefined, undefined, 'm-1'),
})
/**
 * The number of writes after which each process is killed. `picks` selects the append that is
 * written next.
 */
const deaths = fc.array(fc.nat(12), { maxLength: 4 })
const picks = fc.array(fc.nat(3), { minLength: 1, maxLength: 8 })

function harnessOf(
  history: readonly { n: number; destination: string | undefined; round: number; isTakenBack: boolean }[],
) {
  const harness = new ReplayHarness([])
  for (const { n, destination, round, isTakenBack } of history) {
    const deadLetter = destination === undefined ? refusedEvent(n) : givenUp(n, destination, { round })
    harness.giveUp(deadLetter)
    const partition = harness.memoryTopics.partitionOf(deadLetter.key)
    if (isTakenBack) harness.giveUp({ ...deadLetter, value: null, headers: {}, partition })
  }
  return harness
}

describe('a replay that is killed and run again', () => {
  it('loses none, repeats only dead letters without a tombstone, and changes no others', async () => {
    await fc.assert(
      fc.asyncProperty(histories, filters, deaths, picks, async (history, filter, deathsAfter, order) => {
        const harness = harnessOf(history)
        const before = harness.standing
        const [meant, others] = [true, false].map(isMeant =>
          before.filter(record => {
            const deadLetter = parseDeadLetter(record)
            return isMeant === (matches(deadLetter, filter) && deadLetter.destination !== 'gone')
          }),
        ) as [LogRecord[], LogRecord[]]

        const expected = new Map(keysOf(meant).map(key => [key, 1]))
        for (const writes of deathsAfter) {
          const { producer, work } = harness.begin({ filter })
          const copied = copyCounts(harness)
          if (!(await killedAfter(producer, work, writes, order))) continue
          const stillStanding = new Set(keysOf(harness.standing))
          for (const [key, count] of copyCounts(harness)) {
            const isInBetween = count > (copied.get(key) ?? 0) && stillStanding.has(key)
            if (isInBetween) expected.set(key, (expected.get(key) ?? 0) + 1)
          }
        }
        expect((await harness.replay({ filter })).end).toEqual({ kind: 'done' })

        expect(copyCounts(harness)).toEqual(expected)
        expect(keysOf(harness.standing)).toEqual(keysOf(others))
        // A copy has the key and value of the event, and the message id of the dead letter.
        const given = new Map(before.map(record => [String(record.key), record]))
        for (const copy of copiesIn(harness)) {
          const record = given.get(keyOf(copy)) as LogRecord
          const { key, value } = originalOf(record)
          expect([copy.key, copy.value]).toEqual([key, value])
          expect(copy.headers['message-id']).toBe(record.headers['message-id'])
          expect(copy.topic).toBe(isEvent(keyOf(copy)) ? topics.events : firstTier)
        }
        expect((await harness.replay({ filter })).replayed).toBe(0)
      }),
      { numRuns: 300 },
    )
  })
})

const three = [givenUp(1), refusedEvent(2), givenUp(3, 'shop')]

it.each([0, 1, 2, 3, 4, 5, 6])(
  'repeats at most one dead letter when killed after %i writes, one at a time',
  async writes => {
    const harness = new ReplayHarness(three)
    const { producer, work } = harness.begin({ perSecond: 1 })
    const killing = killedAfter(producer, work, writes)
    await harness.clock.advance(5_000, async () => {
      for (let turn = 0; turn < 6; turn++) await new Promise(resolve => setImmediate(resolve))
    })
    await killing
    expect(harness.standing).toHaveLength(3 - Math.floor(writes / 2))
    await harness.replay()
    const repeated = [...copyCounts(harness).values()].filter(count => count > 1)
    expect(repeated).toEqual(writes % 2 === 1 ? [2] : [])
    expect(harness.standing).toEqual([])
    expect(harness.memoryTopics.records(topics.deadLetter).filter(({ value }) => value === null)).toHaveLength(3)
    const ids = copiesIn(harness).map(copy => copy.headers['message-id'] ?? copy.headers['replay-of'])
    expect(new Set(ids).size).toBe(3)
  },
)
