import { isDeepStrictEqual } from 'node:util'
import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  type Attempt,
  type CallOutcome,
  type Decision,
  decide,
  decideBeforeAttempt,
  defer,
  isWithoutPermit,
  isWithoutToken,
  mustBeAttempted,
  webhooksToCall,
} from '../../../../src/core/delivery/decide.ts'
import {
  type DeliveryState,
  initialState,
  parseDeliveryState,
  retryRecord,
} from '../../../../src/core/delivery/delivery-state.ts'
import {
  type Outcome,
  refusedOutcomes,
  retryableOutcomes,
} from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import type { RetryPolicy } from '../../../../src/core/delivery/retry-tier.ts'
import { refuseSchedule } from '../../../../src/core/settings/check-schedule-and-listeners.ts'
import { type DurationMs, durationMs, epochMs } from '../../../../src/core/time.ts'
import { destinationOf, duration, policyOf, recordOf, start, webhookOf } from '../../../support/builders.ts'

const isOneOf = (set: readonly string[], outcome: string): boolean => set.includes(outcome)

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Outcome>('delivered') },
  { weight: 12, arbitrary: fc.constantFrom<Outcome>(...retryableOutcomes) },
  { weight: 2, arbitrary: fc.constantFrom<Outcome>(...refusedOutcomes) },
)
const retryAfter = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.nat(5_000).map(String) },
  { weight: 1, arbitrary: fc.nat(20_000).map(String) },
)
const policy = fc
  .array(fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 2_000_000 })), { maxLength: 9 })
  .map(waits => waits.sort((a, b) => a - b).map(durationMs))
  .filter(schedule => refuseSchedule({ schedule, timeout: duration('5s'), window: duration('4h') }) === undefined)
  .map(schedule => policyOf(schedule))

const waits = ['paused', 'breaker_open', 'lane_full'] as const
type Obstacle = (typeof waits)[number] | 'none'

/**
 * What happens when a dispatcher reads the record of a delivery: an obstacle, or an attempt with
 * the outcomes in `calls`.
 */
const step = fc.record({
  obstacle: fc.constantFrom<Obstacle>('none', 'none', 'none', ...waits),
  /**
   * The outcome of each webhook. With `lacksPermit`, it gets no request, because no permit is free.
   */
  calls: fc.array(
    fc
      .record({ outcome, retryAfter, lacksPermit: fc.integer({ min: 0, max: 9 }).map(draw => draw === 0) })
      // Without a token, no request is made, so the endpoint cannot send a Retry-After.
      .map(call => (call.outcome === 'auth' ? { ...call, retryAfter: undefined } : call)),
    { minLength: 5, maxLength: 5 },
  ),
  /** Whether other destinations hold the permits of the webhooks with `lacksPermit`. */
  isForOthers: fc.boolean(),
  hasRoom: fc.boolean(),
  /**
   * Duration of the requests, in ms. `lagMs` is the delay with which the retry topic then releases
   * the record.
   */
  tookMs: fc.nat(5_000),
  lagMs: fc.oneof(fc.nat(20), fc.nat(600_000)),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Attempted {
  readonly startedAt: number
  readonly endedAt: number
  readonly calls: readonly CallOutcome[]
  readonly webhooksWithoutPermit: number
}

interface Life {
  /**
   * All attempts with an outcome of at least one webhook. `attempts` has only those that count
   * towards the retry schedule.
   */
  readonly all: readonly Attempted[]
  readonly attempts: readonly Attempted[]
  readonly end: Decision
  readonly endedAt: number
  readonly lastObstacle: Step['obstacle']
}

/**
 * Runs a delivery from its event to its end. A retry topic can release a record late, but never
 * early.
 */
function live(policy: RetryPolicy, webhookCount: number, script: readonly Step[], rest: Step): Life {
  const destination = destinationOf({ webhooks: Array.from({ length: webhookCount }, (_, index) => webhookOf(index)) })
  const [all, attempts]: [Attempted[], Attempted[]] = [[], []]
  let now = start
  let carried = initialState(recordOf(), destination.id, 'message-1', now, policy.window)
  for (let turn = 0; turn < 5_000; turn++) {
    // With `heldUp`, the delivery would never get the permits for its last attempt after the
    // window, and would never end.
    const step = script[turn] ?? (rest === heldUp && now > carried.deadline ? failing : rest)
    const { obstacle, lagMs } = step
    const decision = comeUp(step)
    if (decision.kind !== 'retried' && decision.kind !== 'deferred') {
      return { all, attempts, end: decision, endedAt: now, lastObstacle: obstacle }
    }
    if (!policy.tiers.includes(decision.tier)) throw new Error(`no such tier: ${decision.tier}`)
    carried = throughKafka(decision.carried)
    now = epochMs(now + decision.tier + lagMs)
  }
  throw new Error('a life without end')

  function comeUp({ obstacle, calls, isForOthers, hasRoom, tookMs }: Step): Decision {
    let verdict = decideBeforeAttempt(carried, obstacle === 'paused', policy, now, () => hasRoom)
    if (verdict.kind === 'wait') {
      if (verdict.until - now > 10_000) throw new Error('held too long')
      now = verdict.until
      verdict = decideBeforeAttempt(carried, obstacle === 'paused', policy, now, () => hasRoom)
    }
    if (verdict.kind === 'wait') throw new Error('waited in vain')
    if (verdict.kind !== 'attempt') return verdict
    if (obstacle === 'lane_full') return defer(carried, 'lane_full', policy, now)
    if (obstacle === 'breaker_open' && !mustBeAttempted(carried, now))
      return defer(carried, 'breaker_open', policy, now)
    const attempt = attemptOf(calls, isForOthers)
    if (attempt.calls.length === 0) return decide(attempt, carried, policy, now, destination.webhooks)
    now = epochMs(now + tookMs)
    const made = {
      startedAt: attempt.at,
      endedAt: now,
      calls: attempt.calls,
      webhooksWithoutPermit: attempt.webhooksWithoutPermit,
    }
    all.push(made)
    const decision = decide(attempt, carried, policy, now, destination.webhooks)
    if (isWithoutPermit(attempt) && now <= carried.deadline) checkHeldUp(decision, carried, policy)
    else if (isWithoutToken(attempt) && now <= carried.deadline)
      expect(decision).toMatchObject({ kind: 'deferred', cause: 'auth', carried: { attempt: carried.attempt } })
    else attempts.push(made)
    return decision
  }

  function attemptOf(calls: Step['calls'], isForOthers: boolean): Attempt {
    const webhooks = webhooksToCall(destination.webhooks, carried)
    const made = webhooks.flatMap(webhook => {
      const { lacksPermit, ...call } = calls[Number(webhook.label)] as Step['calls'][number]
      return lacksPermit ? [] : [{ webhook, ...call }]
    })
    const webhooksWithoutPermit = webhooks.length - made.length
    const isHeldUpByOthers = isForOthers && webhooksWithoutPermit > 0
    return { number: carried.attempt + 1, at: now, calls: made, webhooksWithoutPermit, isHeldUpByOthers }
  }
}

const failing: Step = {
  obstacle: 'none',
  calls: Array(5).fill({ outcome: 'http_5xx', retryAfter: undefined, lacksPermit: false }),
  isForOthers: true,
  hasRoom: true,
  tookMs: 0,
  lagMs: 1_000,
}
const onlyFirst = failing.calls.map((call, index) => ({ ...call, lacksPermit: index > 0 }))
const heldUp: Step = { ...failing, calls: onlyFirst, lagMs: 600_000 }
const withoutToken: Step = { ...failing, calls: failing.calls.map(call => ({ ...call, outcome: 'auth' as const })) }
const rests = [
  failing,
  heldUp,
  withoutToken,
  { ...failing, obstacle: 'paused' },
  { ...failing, obstacle: 'breaker_open' },
] as const

function throughKafka(carried: DeliveryState): DeliveryState {
  const { headers } = retryRecord(recordOf({ headers: { traceparent: 'x' } }), carried)
  const read = parseDeliveryState(headers)
  if (read === undefined || !isDeepStrictEqual(read, carried))
    throw new Error(`read back otherwise: ${JSON.stringify(headers)}`)
  return read
}

const isRefusal = (call: CallOutcome): boolean => isOneOf(refusedOutcomes, call.outcome)
const isRetry = (call: CallOutcome): boolean => isOneOf(retryableOutcomes, call.outcome)

/**
 * The minimum wait after an attempt, in ms: the wait in the schedule or, if it is longer, the
 * shortest Retry-After.
 */
function leastWait({ calls }: Attempted, scheduled: DurationMs): number {
  const asked = calls
    .filter(isRetry)
    .flatMap(call => (call.retryAfter === undefined ? [] : [Number(call.retryAfter) * 1_000]))
  return Math.max(scheduled, asked.length === 0 ? 0 : Math.min(...asked))
}

/**
 * Checks a deferral because of missing permits (`lane_full`): `attempt` and `deferrals` stay the
 * same, and the delivery waits in a retry topic with a short delay.
 */
function checkHeldUp(decision: Decision, { attempt, deferrals }: DeliveryState, { tiers }: RetryPolicy): void {
  const carried = { attempt, deferrals, reason: 'lane_full' }
  expect(decision).toMatchObject({ kind: 'deferred', cause: 'lane_full', carried })
  expect((decision as Extract<Decision, { kind: 'deferred' }>).tier).toBeLessThanOrEqual(
    Math.max(10_000, tiers[0] ?? 0),
  )
}

/** A webhook must get no request after it has rejected the event. */
function checkAttempts({ all, attempts }: Life, { schedule, window }: RetryPolicy): void {
  expect(attempts.length).toBeLessThanOrEqual(schedule.length + 1)
  for (const [index, attempt] of attempts.entries()) {
    const before = attempts[index - 1]
    if (before === undefined) continue
    const wait = leastWait(before, schedule[index - 1] as DurationMs)
    expect(attempt.startedAt - before.endedAt).toBeGreaterThanOrEqual(wait)
    expect(attempt.startedAt).toBeLessThanOrEqual(start + window)
  }
  const refused = new Set<string>()
  for (const [index, attempt] of all.entries()) {
    const before = all[index - 1]
    const noEarlierThan = before === undefined ? start : before.endedAt + leastWait(before, durationMs(0))
    expect(attempt.startedAt).toBeGreaterThanOrEqual(Math.min(noEarlierThan, start + window))
    expect(attempt.calls.filter(call => refused.has(call.webhook.label))).toEqual([])
    for (const call of attempt.calls.filter(isRefusal)) refused.add(call.webhook.label)
  }
}

/**
 * Checks the end of a delivery against its history. Returns the result, or the reason of the dead
 * letter.
 */
function checkEnd({ all, attempts, end, endedAt, lastObstacle }: Life, { schedule, window }: RetryPolicy): string {
  const deadline = start + window
  const succeeded = attempts.map(({ calls }) => calls.some(call => call.outcome === 'delivered'))
  expect(succeeded.indexOf(true)).toBe(end.kind === 'delivered' ? attempts.length - 1 : -1)
  if (end.kind === 'delivered') return end.kind

  if (end.kind !== 'dead_lettered') throw new Error(`ended as ${end.kind}`)
  expect(end.carried).toMatchObject({ attempt: attempts.length, reason: end.reason, startedAt: start, deadline })
  const last = attempts.at(-1)
  if (last === undefined) {
    expect([end.reason, lastObstacle, endedAt > deadline]).toEqual(['retry_window_over', 'paused', true])
    return 'never_attempted'
  }
  const scheduled = schedule[attempts.length - 1]
  expect(last.webhooksWithoutPermit > 0 || last.calls.some(isRetry)).toBe(!isOneOf(refusedOutcomes, end.reason))
  switch (end.reason) {
    case 'retries_exhausted':
      expect(scheduled).toBeUndefined()
      break
    case 'retry_after_exceeds_window':
      expect(last.endedAt + leastWait(last, durationMs(0))).toBeGreaterThan(deadline)
      break
    case 'retry_window_over':
      expect(Math.max(endedAt, last.endedAt + (scheduled ?? 0))).toBeGreaterThan(deadline)
      break
    default:
      checkRefusals(all, end.carried)
  }
  return end.reason
}

function checkRefusals(attempts: readonly Attempted[], carried: DeliveryState): void {
  const refusals = attempts.flatMap(({ calls }) => calls.filter(isRefusal))
  const inOrder = refusals.sort((a, b) => Number(a.webhook.label) - Number(b.webhook.label))
  expect(carried.reason).toBe(inOrder[0]?.outcome)
  expect([...carried.refusedWebhooks].sort()).toEqual(refusals.map(call => call.webhook.urlHash).sort())
  // The order of the outcomes is known only if all webhooks got a request in each attempt.
  if (attempts.some(({ webhooksWithoutPermit }) => webhooksWithoutPermit > 0)) return
  expect(carried.outcomes).toBe(inOrder.map(call => call.outcome).join(','))
}

it('every delivery ends once, with at least one attempt, and no attempt is early, late or too many', () => {
  const ends = new Set<string>()
  const lives = fc.record({
    policy,
    webhookCount: fc.integer({ min: 1, max: 5 }),
    script: fc.array(step, { maxLength: 25 }),
    rest: fc.constantFrom(...rests),
  })
  fc.assert(
    fc.property(lives, ({ policy, webhookCount, script, rest }) => {
      const life = live(policy, webhookCount, script, rest)
      checkAttempts(life, policy)
      ends.add(checkEnd(life, policy))
    }),
    { numRuns: 2_000 },
  )
  // The generator must have reached all results.
  const all = ['delivered', 'never_attempted', 'retries_exhausted', 'retry_after_exceeds_window', 'retry_window_over']
  expect([...ends].sort()).toEqual([...all, ...refusedOutcomes].sort())
})
