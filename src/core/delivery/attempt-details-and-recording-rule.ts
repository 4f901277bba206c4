import { isCount } from '../message/json.ts'
import type { RecordedAttempts } from '../settings/schema-of-attempts-topic.ts'
import { type DurationMs, type EpochMs, epochMs } from '../time.ts'
import { type AttemptRecord, decodeAttempt, type EndedAttempt } from './attempt-facts-and-record.ts'
import type { DeliveryState, Origin } from './delivery-state.ts'
import type { DropReason } from './outcomes-reasons-and-classification.ts'

/** The fields that a record of the attempts topic has in addition to the fields of the log line. */
export interface AttemptDetails {
  /**
   * `result` if the delivery ended without an attempt, for example because its retry window was
   * over.
   */
  readonly kind?: 'result' | undefined
  /** The HTTP status of each response, by the label of the webhook. */
  readonly statuses: Readonly<Record<string, number>>
  /** When the next attempt is due, in ISO 8601; `undefined` when no attempt follows. */
  readonly dueAt: string | undefined
  /** The wait in the retry topic that the delivery enters, in ms; `undefined` if it enters none. */
  readonly tierMs: DurationMs | undefined
  /** The position of the event's record in the events topic, not of its copy in a retry topic. */
  readonly origin: Origin
  readonly round: number
}

/**
 * A record of the attempts topic. Records that earlier versions of Hookline wrote have no
 * `AttemptDetails`.
 */
export type RecordedAttempt = AttemptRecord & Partial<AttemptDetails>

type Ended = Pick<EndedAttempt, 'carried' | 'attempt' | 'decision'>

/**
 * Whether an attempt is recorded. The mode `failures` records a success only after a failure or a
 * replay. It records an attempt without success only if the attempt sent a request or ended in a
 * dead letter.
 */
export function isRecorded(mode: RecordedAttempts, { carried, attempt, decision }: Ended): boolean {
  if (mode !== 'failures') return mode === 'all'
  if (decision.kind === 'delivered') return hasHistory(carried)
  return attempt.calls.length > 0 || decision.kind === 'dead_lettered'
}

/**
 * Whether the end of a delivery without an attempt is recorded. A drop is recorded only after a
 * failure, a replay or a deletion: otherwise, a disabled destination would cause a record for each
 * event.
 */
export function isResultRecorded(mode: RecordedAttempts, { carried, decision }: Pick<Ended, 'carried' | 'decision'>) {
  if (mode === 'off') return false
  if (decision.kind === 'dropped') return isOfDeletion(decision.reason) || hasHistory(carried)
  return decision.kind === 'dead_lettered'
}

const isOfDeletion = (reason: DropReason): boolean => reason === 'user_deleted' || reason === 'suppressed'

const hasHistory = ({ attempt, outcomes, round }: DeliveryState): boolean => attempt > 0 || outcomes !== '' || round > 0

export function attemptDetails({ carried, attempt, decision }: Ended, endedAt: EpochMs): AttemptDetails {
  const statuses: Record<string, number> = {}
  for (const { webhook, status } of attempt.calls) if (status !== undefined) statuses[webhook.label] = status
  return {
    statuses,
    dueAt: dueAtOf(decision, endedAt),
    tierMs: 'tier' in decision ? decision.tier : undefined,
    origin: carried.origin,
    round: carried.round,
  }
}

function dueAtOf(decision: EndedAttempt['decision'], endedAt: EpochMs): string | undefined {
  if (decision.kind === 'retried') return new Date(decision.carried.notBefore).toISOString()
  return decision.kind === 'deferred' ? new Date(endedAt + decision.tier).toISOString() : undefined
}

/**
 * Returns `undefined` when the value is not an attempt in this version's format. Malformed details
 * are left out.
 */
export function decodeRecordedAttempt(text: string): RecordedAttempt | undefined {
  const record: RecordedAttempt | undefined = decodeAttempt(text)
  if (record === undefined) return undefined
  const { statuses, dueAt, tierMs, origin, round, ...others } = record
  return {
    ...others,
    ...(isStatuses(statuses) && { statuses }),
    ...(typeof dueAt === 'string' && !Number.isNaN(Date.parse(dueAt)) && { dueAt }),
    ...(Number.isSafeInteger(tierMs) && { tierMs }),
    ...(isOrigin(origin) && { origin: { ...origin, timestamp: epochMs(origin.timestamp) } }),
    ...(isCount(round) && { round }),
  }
}

const isStatuses = (value: unknown): value is AttemptDetails['statuses'] =>
  typeof value === 'object' && value !== null && Object.values(value).every(isCount)

function isOrigin(value: unknown): value is Origin {
  if (typeof value !== 'object' || value === null) return false
  const { topic, partition, offset, timestamp } = value as Partial<Record<keyof Origin, unknown>>
  return typeof topic === 'string' && isCount(partition) && isCount(offset) && Number.isSafeInteger(timestamp)
}
