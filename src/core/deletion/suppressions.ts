import { isObject, parseField } from '../message/json.ts'
import type { MessageType } from '../message/message.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs, type JsonText } from '../units.ts'

/** That a user was deleted. */
export interface Mark {
  /** A source whose events it stops; undefined: those of every source. */
  readonly source: string | undefined
  /** Events received up to then are not delivered any more. */
  readonly deletedAt: EpochMs
  /** Nor is anything received later, until that is lifted. */
  readonly isSuppressed: boolean
}

/** All that is known of one deleted user, at most one mark a source: the value of a record of the suppressions topic. */
export type UserSuppressions = readonly Mark[]

/** With the retention that the topics are created with (`receivedLasts`): 51 days. */
const defaultLasts = durationMs(51 * 24 * 3_600_000)

/** Nothing received before the deletion can be delivered after `lasts` (`receivedLasts`), not even when it is replayed. */
const isOver = ({ isSuppressed, deletedAt }: Mark, now: EpochMs, lasts: DurationMs): boolean =>
  !isSuppressed && now > deletedAt + lasts

/** The marks that are not over; undefined: there are none, the record becomes a tombstone. */
export function lastingMarks(marks: UserSuppressions, now: EpochMs, lasts: DurationMs): UserSuppressions | undefined {
  const lasting = marks.filter(mark => !isOver(mark, now, lasts))
  return lasting.length === 0 ? undefined : lasting
}

/** The marks of a user after one more deletion; an earlier suppression stays. */
export function markedAgain(marks: UserSuppressions = [], added: readonly Mark[]): UserSuppressions {
  const bySource = new Map(marks.map(mark => [mark.source, mark]))
  for (const mark of added) {
    const before = bySource.get(mark.source)
    bySource.set(mark.source, {
      source: mark.source,
      deletedAt: epochMs(Math.max(mark.deletedAt, before?.deletedAt ?? mark.deletedAt)),
      isSuppressed: mark.isSuppressed || (before?.isSuppressed ?? false),
    })
  }
  return [...bySource.values()]
}

/** The marks once a suppression is lifted: what was deleted stays deleted. */
export const unsuppressed = (marks: UserSuppressions): UserSuppressions =>
  marks.map(mark => ({ ...mark, isSuppressed: false }))

/** What a mark is held against: an event, or anything else that tells of a user. */
export interface Stoppable {
  readonly userId: string | undefined
  readonly sourceId: string
  readonly receivedAt: EpochMs
  readonly type?: MessageType
}

/** Why marks stop an event; undefined: they do not. The deletion itself always goes out. */
export function stoppedBy(
  marks: UserSuppressions,
  { sourceId, receivedAt, type }: Stoppable,
  now: EpochMs,
  lasts: DurationMs,
): 'user_deleted' | 'suppressed' | undefined {
  if (type === 'delete') return undefined
  const own = marks.filter(mark => (mark.source === undefined || mark.source === sourceId) && !isOver(mark, now, lasts))
  if (own.some(mark => receivedAt <= mark.deletedAt)) return 'user_deleted'
  return own.some(mark => mark.isSuppressed) ? 'suppressed' : undefined
}

/** Whether somebody asked for the delete message that was accepted at this time: its mark is written before it. */
export function isRequested(
  marks: UserSuppressions,
  { sourceId, receivedAt }: Pick<Stoppable, 'sourceId' | 'receivedAt'>,
): boolean {
  return marks.some(({ source, deletedAt }) => (source ?? sourceId) === sourceId && deletedAt >= receivedAt)
}

interface Held {
  readonly marks: UserSuppressions
  /** Of the record that the next one has to be made of. */
  readonly offset: number
}

/** The marks of all users, as the suppressions topic tells them: some 300 bytes for each deleted user. */
export class SuppressionIndex {
  readonly #byUser = new Map<string, Held>()
  /** Users whose last record lacks a mark that an earlier record has. */
  readonly #incomplete = new Set<string>()
  readonly #lasts: DurationMs

  /** @param lasts how long a mark without suppression is kept. */
  constructor(lasts = defaultLasts) {
    this.#lasts = lasts
  }

  /**
   * A record of the topic. The last one of a user holds, unless it was made without knowing the one before it (`madeOf`: the offset of the
   * record that it was made of; undefined: it does not say). Then both hold until somebody writes what they say together.
   */
  apply(userId: string, marks: UserSuppressions | undefined, offset = 0, madeOf?: number): void {
    const held = this.#byUser.get(userId)
    if (held !== undefined && madeOf !== undefined && madeOf !== held.offset) {
      this.#incomplete.add(userId)
      return void this.#byUser.set(userId, { ...held, marks: markedAgain(held.marks, marks ?? []) })
    }
    this.#incomplete.delete(userId)
    if (marks === undefined) this.#byUser.delete(userId)
    else this.#byUser.set(userId, { marks, offset })
  }

  get(userId: string): UserSuppressions | undefined {
    return this.#byUser.get(userId)?.marks
  }

  /** The record that a change of this user is made of; undefined: there is none. */
  offsetOf(userId: string): number | undefined {
    return this.#byUser.get(userId)?.offset
  }

  get size(): number {
    return this.#byUser.size
  }

  /** As `stoppedBy`. */
  stops(event: Stoppable, now: EpochMs): 'user_deleted' | 'suppressed' | undefined {
    const held = event.userId === undefined ? undefined : this.#byUser.get(event.userId)
    return held && stoppedBy(held.marks, event, now, this.#lasts)
  }

  /** What is left of a user's marks. */
  lasting(marks: UserSuppressions, now: EpochMs): UserSuppressions | undefined {
    return lastingMarks(marks, now, this.#lasts)
  }

  /** Users whose record is to be written again: some of their marks have expired, or it lacks a mark that an earlier record has. */
  *outdated(now: EpochMs): Iterable<string> {
    yield* this.#incomplete
    for (const [userId, { marks }] of this.#byUser)
      if (!this.#incomplete.has(userId) && marks.some(mark => isOver(mark, now, this.#lasts))) yield userId
  }
}

/** `{"marks":[{"source":…,"deletedAt":…,"suppressed":…}]}`, `source` only where there is one. */
export function encodeSuppressions(marks: UserSuppressions): JsonText {
  const shown = marks.map(({ source, deletedAt, isSuppressed }) => ({ source, deletedAt, suppressed: isSuppressed }))
  return JSON.stringify({ marks: shown }) as JsonText
}

/** Undefined: it is none that we wrote. */
export function decodeSuppressions(text: string): UserSuppressions | undefined {
  const read = parseField(text, 'marks')
  const list = read.kind === 'parsed' && isObject(read.value) ? read.value['marks'] : undefined
  if (!Array.isArray(list)) return undefined
  const marks = list.map(markOf)
  return marks.every(mark => mark !== undefined) ? marks : undefined
}

function markOf(value: unknown): Mark | undefined {
  if (!isObject(value)) return undefined
  const { source, deletedAt, suppressed } = value
  if (source !== undefined && typeof source !== 'string') return undefined
  if (!Number.isSafeInteger(deletedAt) || typeof suppressed !== 'boolean') return undefined
  return { source, deletedAt: epochMs(deletedAt as number), isSuppressed: suppressed }
}
