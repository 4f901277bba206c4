import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { RecordedAttempt } from '../../../../src/core/delivery/attempt-details-and-recording-rule.ts'
import { messageTimeline } from '../../../../src/core/operator/message-timeline.ts'
import type { TimelineInput } from '../../../../src/core/operator/message-timeline-input.ts'
import {
  foundAttempt,
  foundDeadLetter,
  foundEvent,
  foundRetryRecord,
  noPieces,
  start,
} from '../../../support/operator/timeline-input.ts'

/*
 * `messageTimeline` gets the records of a message in random order, because a search can find them
 * in any order.
 */

const destinations = ['a', 'b', 'c'] as const
type Ending = 'delivered' | 'dead_lettered' | 'dropped' | 'waiting' | 'replayed' | 'replay_waiting'
const life = fc.record({
  destination: fc.constantFrom(...destinations),
  failures: fc.integer({ min: 1, max: 5 }),
  ending: fc.constantFrom<Ending>('delivered', 'dead_lettered', 'dropped', 'waiting', 'replayed', 'replay_waiting'),
})
const lives = fc.uniqueArray(life, { selector: ({ destination }) => destination, minLength: 1 })
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never

const expected = { replayed: 'delivered', replay_waiting: 'waiting' } as const

function piecesOf({
  destination,
  failures,
  ending,
}: Life): Pick<TimelineInput, 'attempts' | 'retryRecords' | 'deadLetters'> {
  const at = (number: number): number => start + number * 10_000
  const failed = (attempt: number, more: Partial<RecordedAttempt> = {}) =>
    foundAttempt({ destination, attempt, at: at(attempt), decision: 'retried', outcomes: { 0: 'timeout' }, ...more })
  const attempts = Array.from({ length: failures }, (_, index) => failed(index + 1))
  const last = { at: at(failures + 1), attempt: failures + 1, destination }
  const retryRecord = foundRetryRecord({ destination, attempt: failures })
  const deadLetter = foundDeadLetter({ destination, key: `key-${destination}` })
  const end = (more: Partial<RecordedAttempt>) => [...attempts, foundAttempt({ ...last, ...more } as never)]
  switch (ending) {
    case 'delivered':
      // `retryRecord` is the retry record before the last attempt. A search finds it until its
      // offset is committed.
      return { attempts: end({}), retryRecords: [retryRecord], deadLetters: [] }
    case 'dead_lettered':
      return { attempts: end({ decision: 'dead_lettered' }), retryRecords: [retryRecord], deadLetters: [deadLetter] }
    case 'dropped':
      return { attempts: end({ decision: 'dropped', kind: 'result', outcomes: {} }), retryRecords: [], deadLetters: [] }
    case 'waiting':
      return { attempts, retryRecords: [retryRecord], deadLetters: [] }
    case 'replayed':
      return {
        attempts: [...end({ decision: 'dead_lettered' }), foundAttempt({ ...last, at: last.at + 1, round: 1 })],
        retryRecords: [],
        deadLetters: [],
      }
    case 'replay_waiting':
      return {
        attempts: end({ decision: 'dead_lettered' }),
        retryRecords: [foundRetryRecord({ destination, round: 1 })],
        deadLetters: [deadLetter],
      }
  }
}

describe('a timeline', () => {
  it('has the right state of each destination, in whichever order and how often records are found', () => {
    fc.assert(
      fc.property(lives, fc.infiniteStream(fc.nat()), fc.boolean(), (all, random, isTwice) => {
        const shuffled = <T>(given: readonly T[]): readonly T[] =>
          [...given, ...(isTwice ? given : [])]
            .map(each => ({ each, by: random.next().value }))
            .toSorted((a, b) => a.by - b.by)
            .map(({ each }) => each)
        const pieces = all.map(piecesOf)
        const timeline = messageTimeline({
          ...noPieces,
          events: [foundEvent({ destinations: [...destinations] })],
          attempts: shuffled(pieces.flatMap(each => each.attempts)),
          retryRecords: shuffled(pieces.flatMap(each => each.retryRecords)),
          deadLetters: shuffled(pieces.flatMap(each => each.deadLetters)),
        })
        const states = Object.fromEntries(timeline.destinations.map(({ id, state }) => [id, state]))
        const ends = all.map(({ destination, ending }) => [
          destination,
          ending in expected ? expected[ending as keyof typeof expected] : ending,
        ])
        // A destination without records got the message at its first attempt, which is not
        // recorded.
        const others = destinations.map(id => [id, 'delivered'])
        expect(states).toEqual({ ...Object.fromEntries(others), ...Object.fromEntries(ends) })
        for (const { attempts } of timeline.destinations)
          expect(attempts).toEqual(attempts.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)))
      }),
    )
  })

  it('never claims a delivery when a topic was not read completely and no record has it', () => {
    const flags = fc.record({ attempts: fc.boolean(), retryRecords: fc.boolean(), deadLetters: fc.boolean() })
    fc.assert(
      fc.property(flags, fc.boolean(), (isComplete, hasFailure) => {
        const attempts = hasFailure ? [foundAttempt({ decision: 'retried', outcomes: { 0: 'timeout' } })] : []
        const found = { ...noPieces, events: [foundEvent()], attempts, isComplete }
        const [destination] = messageTimeline(found).destinations
        const isRead = Object.values(isComplete).every(Boolean)
        expect(destination?.state).toBe(isRead && !hasFailure ? 'delivered' : 'unknown')
      }),
    )
  })
})
