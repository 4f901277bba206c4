import type { EventHead } from '../message/event.ts'
import { isObject, objectIn } from '../message/json.ts'
import { type MessageType, messageTypes } from '../message/message.ts'
import type { RecordHeaders } from '../ports.ts'
import { type EpochMs, epochMs } from '../time.ts'
import { parseTraceparent } from '../trace/context.ts'
import type { Attempt, Decision } from './decide.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { Outcome } from './outcomes-reasons-and-classification.ts'

/** The possible decisions after an attempt. A delivery can also be `dropped` without an attempt. */
export const attemptDecisions = ['delivered', 'retried', 'deferred', 'dead_lettered'] as const

/**
 * Facts about an attempt. They are written to the log and the attempts topic, so they contain no
 * URL, user or content of the message.
 */
export interface AttemptFacts {
  readonly decision: Decision['kind']
  readonly reason?: string | undefined
  /** Milliseconds until the next attempt is due, when the decision is `retried`. */
  readonly nextAttemptInMs?: number | undefined
  readonly destination: string
  readonly source: string
  readonly messageId: string
  /** The trace id of the delivery's first attempt, also in the records of later attempts. */
  readonly traceId?: string | undefined
  readonly type: MessageType
  /** The number of the attempt, from 1 on. */
  readonly attempt: number
  /**
   * The outcomes of the requests that had ended when the attempt ended, by the label of the
   * webhook.
   */
  readonly outcomes: Readonly<Record<string, Outcome>>
  readonly elapsedMs: number
}

export interface EndedAttempt {
  readonly carried: DeliveryState
  /** The headers of the delivery's record. */
  readonly headers: RecordHeaders
  readonly event: EventHead
  readonly attempt: Attempt
  readonly decision: Decision
  readonly elapsedMs: number
}

/**
 * Returns the facts about an attempt. Every field is set, possibly to `undefined`, because V8
 * handles objects of one shape faster.
 */
export function attemptFacts(ended: EndedAttempt, now: EpochMs): AttemptFacts {
  const { carried, headers, event, attempt, decision, elapsedMs } = ended
  const trace = parseTraceparent(carried.firstTrace) ?? parseTraceparent(headers['traceparent'])
  return {
    decision: decision.kind,
    reason: 'reason' in decision ? decision.reason : undefined,
    nextAttemptInMs: decision.kind === 'retried' ? decision.carried.notBefore - now : undefined,
    destination: carried.destination,
    source: event.sourceId,
    messageId: carried.messageId,
    traceId: trace?.traceId,
    type: event.message.type,
    attempt: attempt.number,
    outcomes: outcomesOf(attempt),
    elapsedMs: Math.round(elapsedMs),
  }
}

function outcomesOf({ calls }: Attempt): AttemptFacts['outcomes'] {
  const outcomes: Record<string, Outcome> = {}
  for (const { webhook, outcome } of calls) outcomes[webhook.label] = outcome
  return outcomes
}

/** A record of the attempts topic. */
export interface AttemptRecord extends AttemptFacts {
  /** When the attempt began. */
  readonly at: EpochMs
}

export function encodeAttempt(facts: AttemptFacts, at: EpochMs): string {
  return JSON.stringify({ at: new Date(at).toISOString(), ...facts })
}

const types: ReadonlySet<unknown> = new Set(messageTypes)

/**
 * Returns `undefined` when the value is not an attempt in this version's format. Unknown fields are
 * kept.
 */
export function decodeAttempt(text: string): AttemptRecord | undefined {
  const value = objectIn(text)
  const at = Date.parse(String(value?.['at']))
  const isValid =
    value !== undefined &&
    !Number.isNaN(at) &&
    (['decision', 'destination', 'source', 'messageId'] as const).every(name => typeof value[name] === 'string') &&
    (['attempt', 'elapsedMs'] as const).every(name => typeof value[name] === 'number') &&
    types.has(value['type']) &&
    isObject(value['outcomes'])
  return isValid ? ({ ...value, at: epochMs(at) } as unknown as AttemptRecord) : undefined
}

/** Selects attempts that meet every given condition. */
export interface AttemptFilter {
  readonly destination?: string | undefined
  readonly source?: string | undefined
  readonly type?: MessageType | undefined
  /** The outcome that at least one request of the attempt must have. */
  readonly outcome?: Outcome | undefined
  readonly decision?: string | undefined
  readonly messageId?: string | undefined
}

export function matchesAttemptFilter(record: AttemptRecord, { outcome, ...same }: AttemptFilter): boolean {
  const hasOutcome = outcome === undefined || Object.values(record.outcomes).includes(outcome)
  return (
    hasOutcome &&
    (Object.keys(same) as (keyof typeof same)[]).every(name => same[name] === undefined || same[name] === record[name])
  )
}
