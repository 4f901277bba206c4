import { type Examined, quantile, some } from './examined.ts'
import { type Call, isSuccess, statusOf } from './ledger.ts'

export interface AttemptLimits {
  /** After its time an attempt may come so much later. */
  readonly lateMs: number
  /** Calls at once to the endpoint, from all processes together. */
  readonly atOnce: number
  /** Calls that begin within any second. Absent: not judged. */
  readonly perSecond?: number
}

export interface AttemptEvidence {
  readonly destination: string
  /** In the order in which they came, of all destinations. */
  readonly calls: readonly Call[]
  /** Waits before the 2nd, 3rd, … attempt, in milliseconds. */
  readonly schedule: readonly number[]
  readonly limits: AttemptLimits
  /** Factor on times: also a calm endpoint may note the end of a call later than its caller. */
  readonly patience: number
}

/** Two clocks, each read in whole milliseconds, and the time that an end takes to be seen at the other side. */
const seenLateMs = 50

/** Whether the attempts of each message came when they were due, and not all of them at once. */
export function judgeAttempts({ destination, calls, schedule, limits, patience }: AttemptEvidence): Examined {
  const own = calls.filter(call => call.destination === destination)
  const retries = [...Map.groupBy(own, ({ id }) => id).values()].flatMap(tries =>
    retriesIn(attemptsIn(tries, patience), schedule),
  )
  const early = retries.filter(({ late }) => late < -seenLateMs * patience)
  const late = retries.filter(each => each.late > limits.lateMs * patience)
  const atOnce = mostAtOnce(own, seenLateMs * patience)
  const perSecond = mostPerSecond(own)
  const times = retries.map(each => each.late)
  const failures: string[] = []
  if (early.length > 0) failures.push(`${destination}: attempts before their time: ${some(early.map(told))}`)
  if (late.length > 0) failures.push(`${destination}: attempts long after their time: ${some(late.map(told))}`)
  if (atOnce > limits.atOnce) failures.push(`${destination}: ${atOnce} calls at once, limit ${limits.atOnce}`)
  if (limits.perSecond !== undefined && perSecond > limits.perSecond)
    failures.push(`${destination}: ${perSecond} calls within a second, limit ${limits.perSecond}`)
  return {
    measured: [
      `${destination}: ${own.length} calls, ${retries.length} of them again` +
        (retries.length === 0
          ? ''
          : `, from ${seconds(Math.min(...times))} to ${seconds(Math.max(...times))} s after their time, half within ${seconds(quantile(times, 0.5))} s`) +
        `; at most ${atOnce} at once and ${perSecond} in a second`,
    ],
    failures,
  }
}

interface Retry {
  readonly id: string
  readonly number: number
  /** Milliseconds after its time; negative: before it. */
  readonly late: number
}

/** An idle connection that is reset before any of an answer has come may have been closed before the request came: it is made anew, once, at once. */
const anewMs = 250

/** The calls that an attempt ended with: one that was made anew is of the same attempt as the one before it. */
function attemptsIn(tries: readonly Call[], patience: number): readonly Call[] {
  const attempts: Call[] = []
  let isAnew = false
  for (const call of tries) {
    const before = attempts.at(-1)
    isAnew = !isAnew && before?.answer === 'reset' && call.at - before.at <= anewMs * patience
    if (isAnew) attempts.pop()
    attempts.push(call)
  }
  return attempts
}

/** Those that follow a success are no retries: whether they may be is said elsewhere. */
function retriesIn(tries: readonly Call[], schedule: readonly number[]): readonly Retry[] {
  return tries.slice(1).flatMap((call, index) => {
    const before = tries[index] as Call
    if (isSuccess(before)) return []
    const asked = typeof before.answer === 'object' ? (before.answer.retryAfter ?? 0) * 1_000 : 0
    const wait = Math.max(schedule[index] ?? 0, asked)
    return [{ id: call.id, number: index + 2, late: call.at - ((before.endedAt ?? before.at) + wait) }]
  })
}

const told = ({ id, number, late }: Retry): string => `attempt ${number} of ${id} by ${Math.abs(Math.round(late))} ms`
const seconds = (ms: number): string => (ms / 1_000).toFixed(2)

/**
 * How many calls were under way at most. One without an end has been from its beginning on; where the caller has given up, its next call may
 * come in before it shows that the one before is over.
 */
function mostAtOnce(calls: readonly Call[], lateMs: number): number {
  const steps = calls
    .flatMap(({ at, answer, endedAt = Number.POSITIVE_INFINITY }) => [
      { at, by: 1 },
      { at: statusOf(answer) === undefined ? endedAt - lateMs : endedAt, by: -1 },
    ])
    // Who ends in the moment in which another begins has made room for it.
    .toSorted((a, b) => a.at - b.at || a.by - b.by)
  let underWay = 0
  let most = 0
  for (const { by } of steps) {
    underWay += by
    most = Math.max(most, underWay)
  }
  return most
}

/** How many calls began within a second at most. */
function mostPerSecond(calls: readonly Call[]): number {
  let first = 0
  let most = 0
  calls.forEach(({ at }, index) => {
    while (at - (calls[first] as Call).at >= 1_000) first++
    most = Math.max(most, index - first + 1)
  })
  return most
}
