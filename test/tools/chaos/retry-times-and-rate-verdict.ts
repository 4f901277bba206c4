import { type Call, isSuccess, statusOf } from './message-ledger.ts'
import { type CheckResult, quantile, some } from './result-of-a-check.ts'

export interface AttemptLimits {
  readonly maxDelayMs: number
  /** Maximum number of concurrent requests to the endpoint, from all processes together. */
  readonly maxConcurrent: number
  /** Maximum number of requests that begin within any second. Absent: not judged. */
  readonly perSecond?: number
  /** Minimum number of retries. With fewer, the scenario did not test when they begin. */
  readonly minRetries: number
}

export interface AttemptEvidence {
  readonly destination: string
  /** In order of arrival. */
  readonly calls: readonly Call[]
  /** Waits before the second, third and further attempts, in ms. */
  readonly schedule: readonly number[]
  readonly limits: AttemptLimits
  /** Multiplies every time limit and tolerance, for a busy machine. */
  readonly patience: number
}

/**
 * Tolerance in ms: clocks have whole ms, and Hookline and the endpoint see a request's end at
 * different times.
 */
const seenLateMs = 50

/**
 * Judges whether each attempt began when it was due, and whether the limits of requests were kept.
 */
export function judgeAttempts({ destination, calls, schedule, limits, patience }: AttemptEvidence): CheckResult {
  const own = calls.filter(call => call.destination === destination)
  const retries = [...Map.groupBy(own, ({ id }) => id).values()].flatMap(tries =>
    retriesIn(attemptsIn(tries, patience), schedule),
  )
  const early = retries.filter(({ late }) => late < -seenLateMs * patience)
  const late = retries.filter(each => each.late > limits.maxDelayMs * patience)
  const atOnce = maxConcurrentOf(own, seenLateMs * patience)
  const perSecond = maxPerSecondOf(own)
  const times = retries.map(each => each.late)
  const failures: string[] = []
  if (own.length === 0) failures.push(`${destination}: no requests`)
  if (retries.length < limits.minRetries)
    failures.push(`${destination}: ${retries.length} retries, minimum ${limits.minRetries}`)
  if (early.length > 0) failures.push(`${destination}: attempts before their due time: ${some(early.map(inWords))}`)
  if (late.length > 0)
    failures.push(`${destination}: attempts too long after their due time: ${some(late.map(inWords))}`)
  if (atOnce > limits.maxConcurrent)
    failures.push(`${destination}: ${atOnce} concurrent requests, limit ${limits.maxConcurrent}`)
  if (limits.perSecond !== undefined && perSecond > limits.perSecond)
    failures.push(`${destination}: ${perSecond} requests within a second, limit ${limits.perSecond}`)
  return {
    measured: [
      `${destination}: ${own.length} requests, ${retries.length} of them retries.` +
        (retries.length === 0
          ? ''
          : ` Retries began ${seconds(Math.min(...times))} to ${seconds(Math.max(...times))} s after their due time (median ${seconds(quantile(times, 0.5))} s).`) +
        ` At most ${atOnce} requests were in progress at a time, and at most ${perSecond} began in any one second`,
    ],
    failures,
  }
}

interface Retry {
  readonly id: string
  readonly number: number
  /** Milliseconds after the due time; negative when the attempt was early. */
  readonly late: number
}

/**
 * Hookline immediately repeats a request if its reused connection is reset without a response. A
 * request within this time is the repetition.
 */
const repeatWithinMs = 250

/**
 * Returns the last request of each attempt. An attempt has two requests if Hookline repeated the
 * first one.
 */
function attemptsIn(tries: readonly Call[], patience: number): readonly Call[] {
  const attempts: Call[] = []
  let isRepetition = false
  for (const call of tries) {
    const before = attempts.at(-1)
    isRepetition = !isRepetition && before?.answer === 'reset' && call.at - before.at <= repeatWithinMs * patience
    if (isRepetition) attempts.pop()
    attempts.push(call)
  }
  return attempts
}

/**
 * Returns the retries with their delays. Requests after a success are duplicates, so they do not
 * count.
 */
function retriesIn(tries: readonly Call[], schedule: readonly number[]): readonly Retry[] {
  return tries.slice(1).flatMap((call, index) => {
    const before = tries[index] as Call
    if (isSuccess(before)) return []
    const asked = typeof before.answer === 'object' ? (before.answer.retryAfter ?? 0) * 1_000 : 0
    const wait = Math.max(schedule[index] ?? 0, asked)
    return [{ id: call.id, number: index + 2, late: call.at - ((before.endedAt ?? before.at) + wait) }]
  })
}

const inWords = ({ id, number, late }: Retry): string =>
  `attempt ${number} of message ${id} by ${Math.abs(Math.round(late))} ms`
/** Formats seconds with two digits. A small negative number becomes 0.00, not -0.00. */
const seconds = (ms: number): string => (Math.round(ms / 10) / 100 + 0).toFixed(2)

/**
 * Returns the maximum number of concurrent requests. After a timeout, the endpoint sees the end of
 * a request up to `lateMs` later than Hookline.
 */
function maxConcurrentOf(calls: readonly Call[], lateMs: number): number {
  const steps = calls
    .flatMap(({ at, answer, endedAt = Number.POSITIVE_INFINITY }) => [
      { at, by: 1 },
      { at: statusOf(answer) === undefined ? endedAt - lateMs : endedAt, by: -1 },
    ])
    // At the same moment, the end of a request counts before the start of another one.
    .toSorted((a, b) => a.at - b.at || a.by - b.by)
  let underWay = 0
  let max = 0
  for (const { by } of steps) {
    underWay += by
    max = Math.max(max, underWay)
  }
  return max
}

function maxPerSecondOf(calls: readonly Call[]): number {
  let first = 0
  let max = 0
  calls.forEach(({ at }, index) => {
    while (at - (calls[first] as Call).at >= 1_000) first++
    max = Math.max(max, index - first + 1)
  })
  return max
}
