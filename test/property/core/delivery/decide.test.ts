import { isDeepStrictEqual } from 'node:util'
import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type Outcome, refusedOutcomes, retryableOutcomes } from '../../../../src/core/delivery/classify-outcome.ts'
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

/** What happens at each admission of a delivery. */
const step = fc.record({
  obstacle: fc.constantFrom<Obstacle>('none', 'none', 'none', ...waits),
  /** The result of each webhook. A webhook that is left out gets no request. */
  calls: fc.array(
    fc
      .record({ outcome, retryAfter, isLeftOut: fc.integer({ min: 0, max: 9 }).map(draw => draw === 0) })
      // Without a token there is no request, and so no Retry-After of the endpoint.
      .map(call => (call.outcome === 'auth' ? { ...call, retryAfter: undefined } : call)),
    { minLength: 5, maxLength: 5 },
  ),
  /** Whether other destinations hold the permits of the webhooks that are left out. */
  isForOthers: fc.boolean(),
  /** How long the requests take, and how late the record is released. */
  tookMs: fc.nat(5_000),
  lagMs: fc.oneof(fc.nat(20), fc.nat(600_000)),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Attempted {
  readonly startedAt: number
  readonly endedAt: number
  readonly calls: readonly CallOutcome[]
  readonly leftOut: number
}

interface Life {
  /**
   * All attempts that made a request. `attempts` has only those that count. Before the end of the
   * window, an attempt without a success does not count in two cases:
   * - A webhook got no request, because other destinations held its permits.
   * - Every webhook that may be retried got no request, because there was no access token.
   */
  readonly all: readonly Attempted[]
  readonly attempts: readonly Attempted[]
  readonly end: Decision
  readonly endedAt: number
  readonly lastObstacle: Step['obstacle']
}

/**
 * Runs a delivery from its first admission to its end. Retry topics release records late, but never
 * early.
 */
function live(policy: RetryPolicy, webhookCount: number, script: readonly Step[], rest: Step): Life {
  const destination = destinationOf({ webhooks: Array.from({ length: webhookCount }, (_, index) => webhookOf(index)) })
  const [all, attempts]: [Attempted[], Attempted[]] = [[], []]
  let now = start
  let carried = initialState(recordOf(), destination.id, 'message-1', now, policy.window)
  for (let turn = 0; turn < 5_000; turn++) {
    // At the end of the window one attempt must happen, so the permits become free then.
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

  function comeUp({ obstacle, calls, isForOthers, tookMs }: Step): Decision {
    let verdict = decideBeforeAttempt(carried, obstacle === 'paused', policy, now)
    if (verdict.kind === 'wait') {
      if (verdict.until - now > 10_000) throw new Error('held too long')
      now = verdict.until
      verdict = decideBeforeAttempt(carried, obstacle === 'paused', policy, now)
    }
    if (verdict.kind === 'wait') throw new Error('waited in vain')
    if (verdict.kind !== 'attempt') return verdict
    if (obstacle === 'lane_full') return defer(carried, 'lane_full', policy, now)
    if (obstacle === 'breaker_open' && !mustBeAttempted(carried, now))
      return defer(carried, 'breaker_open', policy, now)
    const attempt = attemptOf(calls, isForOthers)
    if (attempt.calls.length === 0) return decide(attempt, carried, policy, now)
    now = epochMs(now + tookMs)
    const made = { startedAt: attempt.at, endedAt: now, calls: attempt.calls, leftOut: attempt.leftOut }
    all.push(made)
    const decision = decide(attempt, carried, policy, now)
    if (isWithoutPermit(attempt) && now <= carried.deadline) checkHeldUp(decision, carried, policy)
    else if (isWithoutToken(attempt) && now <= carried.deadline)
      expect(decision).toMatchObject({ kind: 'deferred', cause: 'auth', carried: { attempt: carried.attempt } })
    else attempts.push(made)
    return decision
  }

  function attemptOf(calls: Step['calls'], isForOthers: boolean): Attempt {
    const webhooks = webhooksToCall(destination.webhooks, carried)
    const made = webhooks.flatMap(webhook => {
      const { isLeftOut, ...call } = calls[Number(webhook.label)] as Step['calls'][number]
      return isLeftOut ? [] : [{ webhook, ...call }]
    })
    const leftOut = webhooks.length - made.length
    return { number: carried.attempt + 1, at: now, calls: made, leftOut, isHeldUpByOthers: isForOthers && leftOut > 0 }
  }
}

const failing: Step = {
  obstacle: 'none',
  calls: Array(5).fill({ outcome: 'http_5xx', retryAfter: undefined, isLeftOut: false }),
  isForOthers: true,
  tookMs: 0,
  lagMs: 1_000,
}
const leftOut = failing.calls.map((call, index) => ({ ...call, isLeftOut: index > 0 }))
const heldUp: Step = { ...failing, calls: leftOut, lagMs: 600_000 }
/** Steps that repeat after the script. Each of them ends every delivery. */
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

/** The minimum wait after an attempt, by the schedule and by Retry-After. */
function leastWait({ calls }: Attempted, scheduled: DurationMs): number {
  const asked = calls
    .filter(isRetry)
    .flatMap(call => (call.retryAfter === undefined ? [] : [Number(call.retryAfter) * 1_000]))
  return Math.max(scheduled, asked.length === 0 ? 0 : Math.min(...asked))
}

/** Checks that the attempt number and the deferrals stay the same. */
function checkHeldUp(decision: Decision, { attempt, deferrals }: DeliveryState, { tiers }: RetryPolicy): void {
  const carried = { attempt, deferrals, reason: 'lane_full' }
  expect(decision).toMatchObject({ kind: 'deferred', cause: 'lane_full', carried })
  expect((decision as Extract<Decision, { kind: 'deferred' }>).tier).toBeLessThanOrEqual(
    Math.max(10_000, tiers[0] ?? 0),
  )
}

/**
 * Checks that attempts are not early, late or too many, and that no webhook gets a request after it
 * rejected the event.
 */
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

/** Checks the reason of a dead letter against the history of the delivery. Returns the result. */
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
  expect(last.leftOut > 0 || last.calls.some(isRetry)).toBe(!isOneOf(refusedOutcomes, end.reason))
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
  expect(refusals.map(call => call.outcome)).toContain(carried.reason)
  expect([...carried.refusedWebhooks].sort()).toEqual(refusals.map(call => call.webhook.urlHash).sort())
  // The exact times are known only when no webhook was ever left out.
  if (attempts.some(({ leftOut }) => leftOut > 0)) return
  const inOrder = refusals.sort((a, b) => Number(a.webhook.label) - Number(b.webhook.label))
  expect(carried.outcomes).toBe(inOrder.map(call => call.outcome).join(','))
  expect(carried.reason).toBe(inOrder[0]?.outcome)
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
  // The generator must reach every result, or the test would prove less.
  const all = ['delivered', 'never_attempted', 'retries_exhausted', 'retry_after_exceeds_window', 'retry_window_over']
  expect([...ends].sort()).toEqual([...all, ...refusedOutcomes].sort())
})
