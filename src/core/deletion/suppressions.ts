import { defaultSuppressionRetention } from '../default-suppression-retention.ts'
import { isObject, parseField } from '../message/json.ts'
import type { JsonText } from '../message/json-text.ts'
import type { MessageType } from '../message/message.ts'
import { type DurationMs, type EpochMs, epochMs } from '../time.ts'

/** The record that a user was deleted. It stops events of this user. */
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

/**
 * Whether a suppression has expired. It expires `lasts` milliseconds after the deletion. After this
 * time, no event received before the deletion can be delivered, not even by a replay. A suppression
 * that also stops later events never expires.
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

/**
 * Returns a user's suppressions after one more deletion. If an earlier deletion also stopped later
 * events (`isSuppressed`), the new suppression still stops them.
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
 * Returns a user's suppressions without `isSuppressed`, so that events received after the deletion
 * are delivered again. Events received before the deletion stay suppressed.
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
 * Whether a delete message belongs to a deletion that Hookline has accepted. A deletion writes the
 * suppression before its delete messages. So a delete message without a suppression that covers its
 * receive time is forged.
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
   * The offset of the user's last record in the suppressions topic. The headers of the user's next
   * record must have this offset (see `madeOf` in `apply`).
   */
  readonly offset: number
  /** The partition of the suppressions topic that has the user's records. */
  readonly partition: number
}

/**
 * The suppressions of all users, built from the suppressions topic. They take about 300 bytes of
 * memory for each deleted user.
 */
export class SuppressionIndex {
  readonly #byUser = new Map<string, Held>()
  /**
   * Users whose last record in the suppressions topic may lack a suppression that an earlier record
   * has, because two processes wrote concurrently. The caller of `outdated` gets these users, and
   * must write one record with all suppressions of the user.
   */
  readonly #incomplete = new Set<string>()
  readonly #lasts: DurationMs

  /** @param lasts how long a suppression is kept if it does not stop later events */
  constructor(lasts = defaultSuppressionRetention) {
    this.#lasts = lasts
  }

  /**
   * Applies a record of the suppressions topic. To write a record of a user, a process changes the
   * last record of this user that the process has read. `madeOf` is the offset of that earlier
   * record. It is -1 when the process had read none, and `undefined` when the headers of the new
   * record lack the offset.
   * - The new record replaces the suppressions of the user if the index has none, if `madeOf` is
   *   `undefined`, or if `madeOf` is the offset of the user's last record in this index.
   * - Otherwise the process did not know the user's last record. The suppressions in the index and
   *   those in the new record are then all valid, until a process writes one record with all of
   *   them.
   *
   * `offset` and `partition` are the position of the record.
   */
  apply(userId: string, suppressions: UserSuppressions | undefined, offset = 0, madeOf?: number, partition = 0): void {
    const held = this.#byUser.get(userId)
    if (held !== undefined && madeOf !== undefined && madeOf !== held.offset) {
      this.#incomplete.add(userId)
      const merged = mergeSuppressions(held.suppressions, suppressions ?? [])
      return void this.#byUser.set(userId, { suppressions: merged, offset, partition })
    }
    this.#incomplete.delete(userId)
    if (suppressions === undefined) this.#byUser.delete(userId)
    else this.#byUser.set(userId, { suppressions, offset, partition })
  }

  /** Replaces the users of a partition of the suppressions topic with the users of `rebuilt`. */
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

  /**
   * The offset of the user's record in this index; `undefined` when the user has no record. The
   * headers of the user's next record must have this offset (see `madeOf` in `apply`).
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
   * Returns the users for whom the caller must write a new record: a suppression in the last record
   * has expired, or the last record may lack a suppression that an earlier record has.
   */
  *outdated(now: EpochMs): Iterable<string> {
    yield* this.#incomplete
    for (const [userId, { suppressions }] of this.#byUser)
      if (!this.#incomplete.has(userId) && suppressions.some(each => isOver(each, now, this.#lasts))) yield userId
  }
}

/**
 * Encodes the value of a record of the suppressions topic:
 * `{"marks":[{"source":…,"deletedAt":…,"suppressed":…}]}`. `source` is optional.
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
