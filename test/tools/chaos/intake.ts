import type { CollectorsSeen } from './collector-watch.ts'
import type { Posted } from './ledger.ts'
import type { Injected } from './verdict.ts'

/** What must hold where messages come in. Times are for a machine that does nothing else. */
export interface IntakeLimits {
  /**
   * Requests that are answered 503. `in_outages`: from the beginning of an outage of Kafka until everything that it hit is delivered again,
   * and then there must be some. `possible_in_outages`: then, and there need be none.
   */
  readonly refusals: 'none' | 'in_outages' | 'possible_in_outages'
  /** Requests whose connection ends without an answer. `of_victims`: those to a process that was killed, from then on. */
  readonly broken: 'none' | 'of_victims'
  /** From a request to its answer. */
  readonly answerMs: number
  /** From a fault, or from the end of an outage, to the next 200. */
  readonly acceptedMs: number
  /** How long into an outage a collector may call itself ready, and how long after it not. Absent: the outages are too short for that. */
  readonly readiness?: { readonly unreadyMs: number; readonly readyMs: number }
  /** The most that one collector may have resident. */
  readonly peakMb: number
}

export interface IntakeEvidence {
  readonly limits: IntakeLimits
  /** Factor on every time limit. */
  readonly patience: number
  /** In the order in which they ended. */
  readonly posted: readonly Posted[]
  readonly injected: readonly Injected[]
  readonly seen: CollectorsSeen
}

/** Times in milliseconds, rounded; numbers are messages. */
export interface IntakeFindings {
  /** Answered 503: to be sent again. */
  readonly refused: number
  /** Not answered at all: may have been taken or not. */
  readonly broken: number
  /** The longest that a request waited for its answer. */
  readonly answerMs: number
  /** The worst of all faults; null when nothing was accepted any more after one. */
  readonly acceptedMs: number | null
  /** The most that one collector had resident, whole MB. */
  readonly peakMb: number
  readonly failures: readonly string[]
}

export function judgeIntake(evidence: IntakeEvidence): IntakeFindings {
  const { limits, patience, posted, injected, seen } = evidence
  const peakMb = Math.ceil(Math.max(0, ...seen.peakMb.values()))
  const answerMs = Math.round(Math.max(0, ...posted.map(({ at, endedAt }) => endedAt - at)))
  const accepted = injected.map(({ from }) => acceptedAfter(posted, from))
  const failures = [...failuresOfAnswers(evidence), ...failuresOfReadiness(evidence)]

  const answerLimit = limits.answerMs * patience
  if (answerMs > answerLimit) failures.push(`an answer took ${answerMs} ms, limit ${answerLimit} ms`)
  for (const [index, after] of accepted.entries()) {
    const limit = limits.acceptedMs * patience
    const what = injected[index]?.what
    if (after === null) failures.push(`${what}: nothing was accepted any more`)
    else if (after > limit) failures.push(`${what}: accepted again after ${Math.round(after)} ms, limit ${limit} ms`)
  }
  if (peakMb > limits.peakMb) failures.push(`a collector had ${peakMb} MB resident, limit ${limits.peakMb} MB`)
  const messagesOf = (answer: Posted['answer']): number =>
    posted.filter(each => each.answer === answer).reduce((sum, { messages }) => sum + messages, 0)
  return {
    refused: messagesOf(503),
    broken: messagesOf('broken'),
    answerMs,
    acceptedMs: accepted.includes(null) ? null : Math.round(Math.max(0, ...(accepted as number[]))),
    peakMb,
    failures,
  }
}

/** Until a 200 to a request that was posted since then. */
function acceptedAfter(posted: readonly Posted[], from: number): number | null {
  const next = posted.find(({ answer, at }) => answer === 200 && at >= from)
  return next === undefined ? null : next.endedAt - from
}

const isOutage = ({ at, from }: Injected): boolean => from > at
/** What is seen now may have been so a moment ago. */
const lookMs = 1_000

function failuresOfAnswers({ limits, posted, injected }: IntakeEvidence): string[] {
  const outages = injected.filter(isOutage)
  const inOutage = (moment: number): Injected | undefined =>
    outages.find(({ at, recoveredAt = Number.POSITIVE_INFINITY }) => moment >= at && moment <= recoveredAt)
  const isExcused = ({ answer, endedAt, collector }: Posted): boolean => {
    switch (answer) {
      case 200:
        return true
      case 503:
        return limits.refusals !== 'none' && inOutage(endedAt) !== undefined
      case 'broken':
        return (
          limits.broken === 'of_victims' &&
          injected.some(({ victims, at }) => victims.includes(collector ?? '') && endedAt >= at)
        )
      default:
        return false
    }
  }
  const unexcused = posted.filter(each => !isExcused(each))
  const failures = [...Map.groupBy(unexcused, ({ answer }) => answer)].map(([answer, all]) =>
    answer === 'broken'
      ? `not answered without a reason: ${inWords(all)}`
      : `answered ${answer} without a reason: ${inWords(all)}`,
  )
  const refusals = posted.filter(({ answer }) => answer === 503)
  const silent = refusals.filter(({ retryAfter = '' }) => !/^[1-9]\d*$/.test(retryAfter))
  if (silent.length > 0) failures.push(`503 that does not say when to come back: ${inWords(silent)}`)
  for (const outage of limits.refusals === 'in_outages' ? outages : [])
    if (!refusals.some(({ endedAt }) => inOutage(endedAt) === outage))
      failures.push(`${outage.what}: nobody was refused`)
  return failures
}

/** Each collector that saw an outage from its beginning to its end says so in time, and at no other time. */
function failuresOfReadiness({ limits, patience, injected, seen }: IntakeEvidence): string[] {
  if (limits.readiness === undefined) return []
  const [unreadyMs, readyMs] = [limits.readiness.unreadyMs * patience, limits.readiness.readyMs * patience]
  const failures: string[] = []
  const outages = injected.filter(isOutage)
  for (const [collector, looks] of Map.groupBy(seen.looks, each => each.collector)) {
    for (const { what, at, from } of outages) {
      if (looks[0]!.at > at || looks.at(-1)!.at < from) continue
      if (!looks.some(look => !look.isReady && look.at >= at && look.at <= at + unreadyMs + lookMs))
        failures.push(`${what}: ${collector} was still ready after ${unreadyMs} ms`)
      if (!looks.some(look => look.isReady && look.at >= from && look.at <= from + readyMs + lookMs))
        failures.push(`${what}: ${collector} was not ready ${readyMs} ms after its end`)
    }
    const isOut = (moment: number): boolean =>
      outages.some(({ at, from }) => moment >= at && moment <= from + readyMs + lookMs)
    const without = looks.filter(look => !look.isReady && !isOut(look.at)).length
    if (without > 0) failures.push(`${collector} was not ready without a reason, ${without} times`)
  }
  return failures
}

const inWords = (all: readonly Posted[]): string => {
  const shown = all
    .slice(0, 3)
    .map(({ collector = 'nobody', messages, at }) => `${messages} by ${collector} at ${Math.round(at)}`)
  return `${all.length} requests (${shown.join('; ')}${all.length > 3 ? '; …' : ''})`
}
