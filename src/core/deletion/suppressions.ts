import { defaultSuppressionRetention } from '../default-suppression-retention.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import { isObject } from '../message/json.ts'
import type { MessageType } from '../message/message.ts'
import { parseField } from '../message/parse-message-json.ts'
import { type DurationMs, type EpochMs, epochMs } from '../time.ts'

/** States that a user was deleted, and stops events of this user. */
export interface Suppression {
  /** The source whose events the suppression stops; `undefined` for every source. */
  readonly source: string | undefined
  /** Events received until this time are not delivered. */
  readonly deletedAt: EpochMs
  /** Whether events that are received later are stopped too. */
  readonly isSuppressed: boolean
}

/**
 * All suppressions of one user, at most one per source: the value of a record of the suppressions
 * topic.
 */
export type UserSuppressions = readonly Suppression[]

/**
 * Whether a suppression has expired. After the time `retention`, no event from before the deletion
 * can be delivered, not even by a replay.
 */
const hasExpired = ({ isSuppressed, deletedAt }: Suppression, now: EpochMs, retention: DurationMs): boolean =>
  !isSuppressed && now > deletedAt + retention

/**
 * The suppressions that have not expired. `undefined` when none are left; the user's record then
 * becomes a tombstone.
 */
export function unexpiredSuppressions(
  suppressions: UserSuppressions,
  now: EpochMs,
  retention: DurationMs,
): UserSuppressions | undefined {
  const unexpired = suppressions.filter(each => !hasExpired(each, now, retention))
  return unexpired.length === 0 ? undefined : unexpired
}

/**
 * A user's suppressions after one more deletion. If `isSuppressed` was true for a source, it stays
 * true.
 */
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
 * Returns a user's suppressions without `isSuppressed`: events received after the deletion are
 * delivered again.
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
 * Why suppressions stop an event; `undefined` when they do not. They never stop a delete message.
 */
export function stoppedBy(
  suppressions: UserSuppressions,
  { sourceId, receivedAt, type }: SuppressibleRecord,
  now: EpochMs,
  retention: DurationMs,
): 'user_deleted' | 'suppressed' | undefined {
  if (type === 'delete') return undefined
  const own = suppressions.filter(
    each => (each.source === undefined || each.source === sourceId) && !hasExpired(each, now, retention),
  )
  if (own.some(each => receivedAt <= each.deletedAt)) return 'user_deleted'
  return own.some(each => each.isSuppressed) ? 'suppressed' : undefined
}

/** Whether suppressions stop all events of a source, whenever they are received. */
export const isSuppressed = (suppressions: UserSuppressions, sourceId: string): boolean =>
  suppressions.some(each => each.isSuppressed && (each.source ?? sourceId) === sourceId)

/**
 * Whether a delete message is genuine: a deletion writes its suppression first, so a message
 * without one is forged.
 */
export function isConfirmedDelete(
  suppressions: UserSuppressions,
  { sourceId, receivedAt }: Pick<SuppressibleRecord, 'sourceId' | 'receivedAt'>,
): boolean {
  return suppressions.some(({ source, deletedAt }) => (source ?? sourceId) === sourceId && deletedAt >= receivedAt)
}

interface Held {
  readonly suppressions: UserSuppressions
  /**
   * The offset of the user's last record that this process has read. If this process writes the
   * user's next record, the headers contain this offset (`basedOnOffset` in `apply`).
   */
  readonly offset: number
  readonly partition: number
}

/**
 * The suppressions of all users, built from the suppressions topic, with about 300 bytes of memory
 * for each deleted user.
 */
export class SuppressionIndex {
  readonly #byUser = new Map<string, Held>()
  /**
   * Users whose last record may lack a suppression of an earlier record, because two processes
   * wrote concurrently.
   */
  readonly #incomplete = new Set<string>()
  readonly #retention: DurationMs

  /** @param retention how long a suppression is kept if it does not stop later events */
  constructor(retention = defaultSuppressionRetention) {
    this.#retention = retention
  }

  /**
   * Applies a user's record, whose writer knew the user's records up to the offset `basedOnOffset`.
   * If the user's last record has another offset, two processes wrote concurrently, and the
   * suppressions of both records are valid.
   */
  apply(
    userId: string,
    suppressions: UserSuppressions | undefined,
    offset = 0,
    basedOnOffset?: number,
    partition = 0,
  ): void {
    const held = this.#byUser.get(userId)
    if (held !== undefined && basedOnOffset !== undefined && basedOnOffset !== held.offset) {
      this.#incomplete.add(userId)
      const merged = mergeSuppressions(held.suppressions, suppressions ?? [])
      return void this.#byUser.set(userId, { suppressions: merged, offset, partition })
    }
    this.#incomplete.delete(userId)
    if (suppressions === undefined) this.#byUser.delete(userId)
    else this.#byUser.set(userId, { suppressions, offset, partition })
  }

  replace(partition: number, rebuilt: SuppressionIndex): void {
    for (const [userId, held] of this.#byUser) {
      if (held.partition !== partition) continue
      this.#byUser.delete(userId)
      this.#incomplete.delete(userId)
    }
    for (const [userId, held] of rebuilt.#byUser) this.#byUser.set(userId, held)
    for (const userId of rebuilt.#incomplete) this.#incomplete.add(userId)
  }

  get(userId: string): UserSuppressions | undefined {
    return this.#byUser.get(userId)?.suppressions
  }

  offsetOf(userId: string): number | undefined {
    return this.#byUser.get(userId)?.offset
  }

  get size(): number {
    return this.#byUser.size
  }

  stops(event: SuppressibleRecord, now: EpochMs): 'user_deleted' | 'suppressed' | undefined {
    const held = event.userId === undefined ? undefined : this.#byUser.get(event.userId)
    return held && stoppedBy(held.suppressions, event, now, this.#retention)
  }

  unexpired(suppressions: UserSuppressions, now: EpochMs): UserSuppressions | undefined {
    return unexpiredSuppressions(suppressions, now, this.#retention)
  }

  /**
   * Users who need a new record, because a suppression has expired, or because their last record
   * may lack a suppression.
   */
  *outdated(now: EpochMs): Iterable<string> {
    yield* this.#incomplete
    const isOutdated = (each: Suppression): boolean => hasExpired(each, now, this.#retention)
    for (const [userId, { suppressions }] of this.#byUser)
      if (!this.#incomplete.has(userId) && suppressions.some(isOutdated)) yield userId
  }
}

/**
 * Encodes the value of a record of the suppressions topic:
 * `{"marks":[{"source":…,"deletedAt":…,"suppressed":…}]}`.
 */
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
