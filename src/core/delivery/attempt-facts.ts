import type { EventHead } from '../message/event.ts'
import { type MessageType, messageTypes } from '../message/message.ts'
import type { RecordHeaders } from '../ports.ts'
import { parseTraceparent } from '../trace/context.ts'
import { type EpochMs, epochMs } from '../units.ts'
import type { Attempt, Decision } from './decide.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { Outcome } from './outcome.ts'

/** What an attempt can end in. */
export const attemptDecisions = ['delivered', 'retried', 'deferred', 'dead_lettered'] as const

/** What is told of an attempt, in the log and on the topic of attempts: no URL, no user, nothing that the message says. */
export interface AttemptFacts {
  readonly decision: Decision['kind']
  readonly reason?: string | undefined
  /** Milliseconds from the end of this one. */
  readonly nextAttemptInMs?: number | undefined
  readonly destination: string
  readonly source: string
  readonly messageId: string
  /** The trace of the first attempt, on the lines of all of them. */
  readonly traceId?: string | undefined
  readonly type: MessageType
  /** 1 for the first. */
  readonly attempt: number
  /** By the label of the webhook; of those that were still under way at the first success nothing is known. */
  readonly outcomes: Readonly<Record<string, Outcome>>
  readonly elapsedMs: number
}

export interface EndedAttempt {
  readonly carried: DeliveryState
  /** Of the record. */
  readonly headers: RecordHeaders
  readonly event: EventHead
  readonly attempt: Attempt
  readonly decision: Decision
  readonly elapsedMs: number
}

/** What is undefined is written nowhere. All have one shape: while an endpoint fails each attempt is told of. */
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

/** A record on the topic of attempts. */
export interface AttemptRecord extends AttemptFacts {
  /** When it began. */
  readonly at: EpochMs
}

/** The value of a record: JSON, `at` in ISO 8601. */
export function encodeAttempt(facts: AttemptFacts, at: EpochMs): string {
  return JSON.stringify({ at: new Date(at).toISOString(), ...facts })
}

const types: ReadonlySet<unknown> = new Set(messageTypes)

/** Undefined: not what we write, or of a version that is not ours. What it has beyond what we know stays. */
export function decodeAttempt(text: string): AttemptRecord | undefined {
  const value = parsed(text)
  const at = Date.parse(String(value?.['at']))
  const isOurs =
    value !== undefined &&
    !Number.isNaN(at) &&
    (['decision', 'destination', 'source', 'messageId'] as const).every(name => typeof value[name] === 'string') &&
    (['attempt', 'elapsedMs'] as const).every(name => typeof value[name] === 'number') &&
    types.has(value['type']) &&
    isObject(value['outcomes'])
  return isOurs ? ({ ...value, at: epochMs(at) } as unknown as AttemptRecord) : undefined
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Which attempts are meant; all that is said has to hold. */
export interface AttemptFilter {
  readonly destination?: string | undefined
  readonly source?: string | undefined
  readonly type?: MessageType | undefined
  /** Of any of its webhooks. */
  readonly outcome?: Outcome | undefined
  readonly decision?: string | undefined
  readonly messageId?: string | undefined
}

export function isMeant(record: AttemptRecord, { outcome, ...same }: AttemptFilter): boolean {
  const hasOutcome = outcome === undefined || Object.values(record.outcomes).includes(outcome)
  return (
    hasOutcome &&
    (Object.keys(same) as (keyof typeof same)[]).every(name => same[name] === undefined || same[name] === record[name])
  )
}
