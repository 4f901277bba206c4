import { isObject, parseField } from '../message/json.ts'
import type { JsonText } from '../message/json-text.ts'
import type { MessageType } from '../message/message.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'

/** A deletion of one user that stops events of that user. */
export interface Suppression {
  /** The source whose events the suppression stops; `undefined` for every source. */
  readonly source: string | undefined
  /** Events received until this time are not delivered. */
  readonly deletedAt: EpochMs
  /** Whether events that are received later are stopped too, until the suppression is removed. */
  readonly isSuppressed: boolean
}

/**
 * All suppressions of one user, at most one per source: the value of a record of the suppressions
 * topic.
 */
export type UserSuppressions = readonly Suppression[]

/** The value of `maxDeliveryAge` for the default retention of the topics: 53 days. */
export const defaultSuppressionRetention = durationMs(53 * 24 * 3_600_000)

/**
 * Whether a suppression has expired. It never expires while it also stops later events. After
 * `lasts`, no event received before the deletion can be delivered, not even by a replay.
 */
const isOver = ({ isSuppressed, deletedAt }: Suppression, now: EpochMs, lasts: DurationMs): boolean =>
  !isSuppressed && now > deletedAt + lasts

/**
 * The suppressions that have not expired. `undefined` when there are none; the user's record then
 * becomes a tombstone.
 */
export function unexpiredSuppressions(
  suppressions: UserSuppressions,
  now: EpochMs,
  lasts: DurationMs,
): UserSuppressions | undefined {
  const lasting = suppressions.filter(each => !isOver(each, now, lasts))
  return lasting.length === 0 ? undefined : lasting
}

/** A user's suppressions after one more deletion. An earlier `isSuppressed` stays set. */
export function mergeSuppressions(earlier: UserSuppressions = [], added: readonly Suppression[]): UserSuppressions {
  const bySource = new Map(earlier.map(each => [each.source, each]))
  for (const each of added) {
    const before = bySource.get(each.source)
    bySource.set(each.source, {
      source: each.source,
      deletedAt: epochMs(Math.max(each.deletedAt, before?.deletedAt ?? each.deletedAt)),
      isSuppressed: each.isSuppressed || (before?.isSuppressed ?? false),
    })
  }
  return [...bySource.values()]
}

/**
 * A user's suppressions after later events are allowed again. Events from before the deletion stay
 * suppressed.
 */
export const allowLaterEvents = (suppressions: UserSuppressions): UserSuppressions =>
  suppressions.map(each => ({ ...each, isSuppressed: false }))

/** An event, or another record with data of a user, that a suppression may stop. */
export interface SuppressibleRecord {
  readonly userId: string | undefined
  readonly sourceId: string
  readonly receivedAt: EpochMs
  readonly type?: MessageType
}

/**
 * Why suppressions stop an event; `undefined` when they do not. Delete messages are never stopped.
 */
export function stoppedBy(
  suppressions: UserSuppressions,
  { sourceId, receivedAt, type }: SuppressibleRecord,
  now: EpochMs,
  lasts: DurationMs,
): 'user_deleted' | 'suppressed' | undefined {
  if (type === 'delete') return undefined
  const own = suppressions.filter(
    each => (each.source === undefined || each.source === sourceId) && !isOver(each, now, lasts),
  )
  if (own.some(each => receivedAt <= each.deletedAt)) return 'user_deleted'
  return own.some(each => each.isSuppressed) ? 'suppressed' : undefined
}

/**
 * Whether a deletion requested the delete message with this receive time. A deletion writes the
 * suppression before the message, so a message without a suppression is forged.
 */
export function isConfirmedDelete(
  suppressions: UserSuppressions,
  { sourceId, receivedAt }: Pick<SuppressibleRecord, 'sourceId' | 'receivedAt'>,
): boolean {
  return suppressions.some(({ source, deletedAt }) => (source ?? sourceId) === sourceId && deletedAt >= receivedAt)
}

interface Held {
  readonly suppressions: UserSuppressions
  /** The offset of the record from which the next record of this user must be derived. */
  readonly offset: number
}

/**
 * The suppressions of all users, built from the suppressions topic. They take about 300 bytes for
 * each deleted user.
 */
export class SuppressionIndex {
  readonly #byUser = new Map<string, Held>()
  /** Users whose last record lacks a suppression that an earlier record has. */
  readonly #incomplete = new Set<string>()
  readonly #lasts: DurationMs

  /** @param lasts how long a suppression is kept when later events are allowed. */
  constructor(lasts = defaultSuppressionRetention) {
    this.#lasts = lasts
  }

  /**
   * Applies a record of the topic. A writer derives each record from the previous record of the
   * user that it knows: `madeOf` is the offset of that previous record, or `undefined` when the new
   * record does not contain it.
   * - Usually `madeOf` is the offset of the held record, or `undefined`. The new record then
   *   replaces the held one.
   * - Any other `madeOf` shows that the writer did not know the held record. The suppressions of
   *   both records are then valid until a process writes one record with all of them.
   */
  apply(userId: string, suppressions: UserSuppressions | undefined, offset = 0, madeOf?: number): void {
    const held = this.#byUser.get(userId)
    if (held !== undefined && madeOf !== undefined && madeOf !== held.offset) {
      this.#incomplete.add(userId)
      const merged = mergeSuppressions(held.suppressions, suppressions ?? [])
      return void this.#byUser.set(userId, { ...held, suppressions: merged })
    }
    this.#incomplete.delete(userId)
    if (suppressions === undefined) this.#byUser.delete(userId)
    else this.#byUser.set(userId, { suppressions, offset })
  }

  get(userId: string): UserSuppressions | undefined {
    return this.#byUser.get(userId)?.suppressions
  }

  /**
   * The offset of the record from which the user's next record must be derived; `undefined` when
   * there is none.
   */
  offsetOf(userId: string): number | undefined {
    return this.#byUser.get(userId)?.offset
  }

  get size(): number {
    return this.#byUser.size
  }

  /** Why a suppression of the user stops an event (`stoppedBy`); `undefined` when none does. */
  stops(event: SuppressibleRecord, now: EpochMs): 'user_deleted' | 'suppressed' | undefined {
    const held = event.userId === undefined ? undefined : this.#byUser.get(event.userId)
    return held && stoppedBy(held.suppressions, event, now, this.#lasts)
  }

  lasting(suppressions: UserSuppressions, now: EpochMs): UserSuppressions | undefined {
    return unexpiredSuppressions(suppressions, now, this.#lasts)
  }

  /**
   * Users whose record must be written again. Either some suppressions have expired, or the record
   * lacks a suppression that an earlier record has.
   */
  *outdated(now: EpochMs): Iterable<string> {
    yield* this.#incomplete
    for (const [userId, { suppressions }] of this.#byUser)
      if (!this.#incomplete.has(userId) && suppressions.some(each => isOver(each, now, this.#lasts))) yield userId
  }
}

/** `{"marks":[{"source":…,"deletedAt":…,"suppressed":…}]}`; `source` is optional. */
export function encodeSuppressions(suppressions: UserSuppressions): JsonText {
  const shown = suppressions.map(({ source, deletedAt, isSuppressed }) => ({
    source,
    deletedAt,
    suppressed: isSuppressed,
  }))
  return JSON.stringify({ marks: shown }) as JsonText
}

/** Parses the text of `encodeSuppressions`; `undefined` when it is in another format. */
export function decodeSuppressions(text: string): UserSuppressions | undefined {
  const read = parseField(text, 'marks')
  const list = read.kind === 'parsed' && isObject(read.value) ? read.value['marks'] : undefined
  if (!Array.isArray(list)) return undefined
  const suppressions = list.map(suppressionOf)
  return suppressions.every(each => each !== undefined) ? suppressions : undefined
}

function suppressionOf(value: unknown): Suppression | undefined {
  if (!isObject(value)) return undefined
  const { source, deletedAt, suppressed } = value
  if (source !== undefined && typeof source !== 'string') return undefined
  if (!Number.isSafeInteger(deletedAt) || typeof suppressed !== 'boolean') return undefined
  return { source, deletedAt: epochMs(deletedAt as number), isSuppressed: suppressed }
}
