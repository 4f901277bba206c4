import type { CollectorsSeen } from './collector-watch.ts'
import type { Injected } from './delivery-verdict.ts'
import type { Posted } from './message-ledger.ts'

/** The time limits are for a machine without other load. */
export interface IntakeLimits {
  /**
   * When collectors may respond with 503.
   * - `none`: never.
   * - `in_outages`: from the start of an outage until every partition delivers again. Each outage
   *   must have a 503.
   * - `possible_in_outages`: like `in_outages`, but an outage needs no 503.
   */
  readonly refusals: 'none' | 'in_outages' | 'possible_in_outages'
  /** Which requests may have no response: none, or those to a collector that a fault kills. */
  readonly broken: 'none' | 'of_victims'
  /** Maximum time from a request to its response. */
  readonly answerMs: number
  /** Maximum time from a fault, or from the end of an outage, to the next 200. */
  readonly acceptedMs: number
  /**
   * Time limits for the change of readiness: `unreadyMs` from the beginning of an outage, `readyMs`
   * from its end. Absent: the readiness does not change.
   */
  readonly readiness?: { readonly unreadyMs: number; readonly readyMs: number }
  readonly peakMb: number
}

export interface IntakeEvidence {
  readonly limits: IntakeLimits
  /** Factor for every time limit, for a busy machine. */
  readonly patience: number
  /** In the order in which the requests ended. */
  readonly posted: readonly Posted[]
  readonly injected: readonly Injected[]
  readonly seen: CollectorsSeen
}

/** Times are rounded ms; counts are messages. */
export interface IntakeFindings {
  readonly refused: number
  /** Messages whose requests got no response. They may be stored or not. */
  readonly broken: number
  readonly answerMs: number
  /**
   * Longest time from a fault, or from the end of an outage, to the next 200. Null without a next
   * 200.
   */
  readonly acceptedMs: number | null
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
  if (answerMs > answerLimit) failures.push(`a response of a collector took ${answerMs} ms, limit ${answerLimit} ms`)
  for (const [index, after] of accepted.entries()) {
    const limit = limits.acceptedMs * patience
    const what = injected[index]?.what
    if (after === null) failures.push(`${what}: the collectors accepted no message after it`)
    else if (after > limit)
      failures.push(`${what}: the collectors accepted a message again after ${Math.round(after)} ms, limit ${limit} ms`)
  }
  if (seen.peakMb.size === 0) failures.push('the memory of no collector was measured')
  if (peakMb > limits.peakMb)
    failures.push(`a collector had ${peakMb} MB of resident memory, limit ${limits.peakMb} MB`)
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

/**
 * Milliseconds from `from` to the first 200 for a request that was sent after `from`. Null without
 * a 200.
 */
function acceptedAfter(posted: readonly Posted[], from: number): number | null {
  const next = posted.find(({ answer, at }) => answer === 200 && at >= from)
  return next === undefined ? null : next.endedAt - from
}

const isOutage = ({ at, from }: Injected): boolean => from > at
/** Tolerance for readiness, because collectors are polled. */
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
      ? `requests without a response from a collector that was not killed: ${inWords(all)}`
      : `unexpected response ${answer}: ${inWords(all)}`,
  )
  const refusals = posted.filter(({ answer }) => answer === 503)
  const silent = refusals.filter(({ retryAfter = '' }) => !/^[1-9]\d*$/.test(retryAfter))
  if (silent.length > 0) failures.push(`503 without a valid Retry-After: ${inWords(silent)}`)
  for (const outage of limits.refusals === 'in_outages' ? outages : [])
    if (!refusals.some(({ endedAt }) => inOutage(endedAt) === outage))
      failures.push(`${outage.what}: no request got a 503, although Kafka could not be reached`)
  return failures
}

/**
 * In each outage, a collector must become not ready, and then ready again, in time. Outside of
 * outages, it must be ready.
 */
function failuresOfReadiness({ limits, patience, injected, seen }: IntakeEvidence): string[] {
  if (limits.readiness === undefined) return []
  const [unreadyMs, readyMs] = [limits.readiness.unreadyMs * patience, limits.readiness.readyMs * patience]
  const failures: string[] = seen.looks.length === 0 ? ['the readiness of no collector was measured'] : []
  const outages = injected.filter(isOutage)
  for (const [collector, looks] of Map.groupBy(seen.looks, each => each.collector)) {
    for (const { what, at, from } of outages) {
      if (looks[0]!.at > at || looks.at(-1)!.at < from) continue
      if (!looks.some(look => !look.isReady && look.at >= at && look.at <= at + unreadyMs + lookMs))
        failures.push(`${what}: ${collector} was still ready after ${unreadyMs} ms`)
      if (!looks.some(look => look.isReady && look.at >= from && look.at <= from + readyMs + lookMs))
        failures.push(`${what}: ${collector} was not ready ${readyMs} ms after the end of the outage`)
    }
    const isOut = (moment: number): boolean =>
      outages.some(({ at, from }) => moment >= at && moment <= from + readyMs + lookMs)
    const without = looks.filter(look => !look.isReady && !isOut(look.at)).length
    if (without > 0) failures.push(`${collector} was not ready without an outage, ${without} times`)
  }
  return failures
}

const inWords = (all: readonly Posted[]): string => {
  const shown = all
    .slice(0, 3)
    .map(({ collector = 'nobody', messages, at }) => `${messages} by ${collector} at ${Math.round(at)}`)
  return `${all.length} requests (${shown.join('; ')}${all.length > 3 ? '; …' : ''})`
}
