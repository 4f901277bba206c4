import { isDeepStrictEqual } from 'node:util'
import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type Decision, decide, decideBeforeAttempt } from '../../../../src/core/delivery/decide.ts'
import {
  type DeliveryState,
  initialState,
  parseDeliveryState,
  retryRecord,
} from '../../../../src/core/delivery/delivery-state.ts'
import { endPausedTime } from '../../../../src/core/delivery/paused-time.ts'
import type { RetryPolicy } from '../../../../src/core/delivery/retry-tier.ts'
import { type EpochMs, epochMs } from '../../../../src/core/time.ts'
import { duration, durations, policyOf, recordOf, start } from '../../../support/builders.ts'
import { callsOf } from '../../../support/dispatcher/decision-notation.ts'

const hour = 3_600_000
const most = 48 * hour

interface Pause {
  readonly from: number
  readonly to: number
}

/** The history of a delivery whose attempts all fail. */
interface Life {
  /** Start of each attempt, and the rest of the retry window at that time, in ms. */
  readonly attempts: readonly { readonly at: number; readonly left: number }[]
  readonly end: Decision
  readonly endedAt: number
  /** Total time in ms for which the pauses delayed the delivery. */
  readonly held: number
  readonly latest: number
}

/** Runs a delivery through retry topics, with its state only in the headers. All attempts fail. */
function live(policy: RetryPolicy, pauses: readonly Pause[], lagMs: number): Life {
  const attempts: Life['attempts'][number][] = []
  let now: EpochMs = start
  let held = 0
  let latest = 0
  let carried = initialState(recordOf(), 'crm', 'message-1', now, policy.window)
  for (let turn = 0; turn < 10_000; turn++) {
    const decision = comeUp()
    if (decision.kind !== 'retried' && decision.kind !== 'deferred')
      return { attempts, end: decision, endedAt: now, held, latest }
    carried = throughKafka(decision.carried)
    latest = Math.max(latest, carried.deadline)
    const before = now
    now = epochMs(now + decision.tier + lagMs)
    if (decision.kind === 'deferred' && decision.cause === 'paused') held += now - Math.max(before, carried.notBefore)
  }
  throw new Error('a life without end')

  function comeUp(): Decision {
    const isPaused = (): boolean => pauses.some(({ from, to }) => now >= start + from && now < start + to)
    carried = endPausedTime(carried, now)
    let due = decideBeforeAttempt(carried, isPaused(), policy, now)
    if (due.kind === 'wait') {
      now = due.until
      due = decideBeforeAttempt(carried, isPaused(), policy, now)
    }
    if (due.kind === 'wait') throw new Error('waited in vain')
    if (due.kind !== 'attempt') return due
    attempts.push({ at: now, left: carried.deadline - now })
    const number = carried.attempt + 1
    const attempt = { number, at: now, calls: callsOf('http_5xx'), webhooksWithoutPermit: 0, isHeldUpByOthers: false }
    return decide(attempt, carried, policy, now)
  }
}

function throughKafka(carried: DeliveryState): DeliveryState {
  const read = parseDeliveryState(retryRecord(recordOf(), carried).headers)
  if (read === undefined || !isDeepStrictEqual(read, carried)) throw new Error(`read back otherwise: ${read}`)
  return read
}

/**
 * Waits before retries, in ms. A wait may differ from the delays of the retry topics, and exceed
 * the retry window.
 */
const schedule = fc
  .array(fc.integer({ min: 10_000, max: hour }), { maxLength: 8 })
  .map(waits => waits.sort((a, b) => a - b))
const pauses = fc
  .array(fc.tuple(fc.nat(3 * hour), fc.oneof(fc.nat(hour), fc.nat(60 * hour))), { maxLength: 4 })
  .map(list => list.map(([from, length]) => ({ from, to: from + length })))
const policyWith = (waits: readonly number[], pauseKeepsWindow: boolean): RetryPolicy => ({
  ...policyOf(durations('10s 30s 15m')),
  schedule: waits as RetryPolicy['schedule'],
  pauseKeepsWindow,
})

it('with pauseKeepsWindow, a pause changes when attempts are made, but neither their number nor the window', () => {
  const ends = new Set<string>()
  fc.assert(
    fc.property(schedule, pauses, fc.nat(2_000), (waits, when, lagMs) => {
      const policy = policyWith(waits, true)
      const life = live(policy, when, lagMs)
      const undisturbed = live(policy, [], lagMs)
      expect(life.latest).toBeLessThanOrEqual(start + policy.window + most)
      if (life.end.kind !== 'dead_lettered') throw new Error(life.end.kind)
      ends.add(life.held > most ? 'longer' : life.end.reason)
      if (life.held > most) return
      expect(life.attempts.map(({ left }) => left)).toEqual(undisturbed.attempts.map(({ left }) => left))
      expect(life.end.reason).toBe((undisturbed.end as typeof life.end).reason)
      if (life.end.reason === 'retry_window_over') {
        const next = waits[life.attempts.length - 1] ?? 0
        expect(life.endedAt - start - life.held + next).toBeGreaterThan(policy.window)
      }
    }),
    { numRuns: 400 },
  )
  expect([...ends].sort()).toEqual(['longer', 'retries_exhausted', 'retry_window_over'])
})

it('without pauseKeepsWindow, a pause never moves the deadline', () => {
  fc.assert(
    fc.property(schedule, pauses, (waits, when) => {
      const { latest, endedAt } = live(policyWith(waits, false), when, 20)
      expect(latest).toBeLessThanOrEqual(start + duration('4h'))
      expect(endedAt).toBeLessThanOrEqual(start + duration('4h') + duration('5m') + 20)
    }),
    { numRuns: 200 },
  )
})

it('no wait is shorter than the schedule, also when no retry topic has this wait', () => {
  fc.assert(
    fc.property(schedule, pauses, fc.nat(2_000), fc.boolean(), (waits, when, lagMs, keeps) => {
      const { attempts } = live(policyWith(waits, keeps), when, lagMs)
      for (const [index, { at }] of attempts.slice(1).entries())
        expect(at - (attempts[index]?.at ?? 0)).toBeGreaterThanOrEqual(waits[index] ?? Number.POSITIVE_INFINITY)
    }),
    { numRuns: 300 },
  )
})
