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
export type UserMarks = readonly Mark[]

/** After this nothing received before the deletion can be waiting any more, retry topics keep it for 3 days. */
const markLasts: DurationMs = durationMs(4 * 24 * 3_600_000)

const isOver = ({ isSuppressed, deletedAt }: Mark, now: EpochMs): boolean =>
  !isSuppressed && now > deletedAt + markLasts

/** The marks that are not over; undefined: there are none, the record becomes a tombstone. */
export function lastingMarks(marks: UserMarks, now: EpochMs): UserMarks | undefined {
  const lasting = marks.filter(mark => !isOver(mark, now))
  return lasting.length === 0 ? undefined : lasting
}

/** The marks of a user after one more deletion; an earlier suppression stays. */
export function markedAgain(marks: UserMarks = [], added: readonly Mark[]): UserMarks {
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

/** The marks once a suppression is lifted: what was deleted stays deleted. Undefined as for `lastingMarks`. */
export function unsuppressed(marks: UserMarks, now: EpochMs): UserMarks | undefined {
  return lastingMarks(
    marks.map(mark => ({ ...mark, isSuppressed: false })),
    now,
  )
}

/** What a mark is held against: an event, or anything else that tells of a user. */
export interface Stoppable {
  readonly userId: string | undefined
  readonly sourceId: string
  readonly receivedAt: EpochMs
  readonly type?: MessageType
}

/** Why marks stop an event; undefined: they do not. The deletion itself always goes out. */
export function stoppedBy(
  marks: UserMarks,
  { sourceId, receivedAt, type }: Stoppable,
  now: EpochMs,
): 'user_deleted' | 'suppressed' | undefined {
  if (type === 'delete') return undefined
  const own = marks.filter(mark => (mark.source === undefined || mark.source === sourceId) && !isOver(mark, now))
  if (own.some(mark => receivedAt <= mark.deletedAt)) return 'user_deleted'
  return own.some(mark => mark.isSuppressed) ? 'suppressed' : undefined
}

/** The marks of all users, as the suppressions topic tells them. */
export class MarkIndex {
  readonly #byUser = new Map<string, UserMarks>()

  /** A record of the topic: its last one holds. */
  apply(userId: string, marks: UserMarks | undefined): void {
    if (marks === undefined) this.#byUser.delete(userId)
    else this.#byUser.set(userId, marks)
  }

  get(userId: string): UserMarks | undefined {
    return this.#byUser.get(userId)
  }

  get size(): number {
    return this.#byUser.size
  }

  /** As `stoppedBy`. */
  stops(event: Stoppable, now: EpochMs): 'user_deleted' | 'suppressed' | undefined {
    const marks = event.userId === undefined ? undefined : this.#byUser.get(event.userId)
    return marks && stoppedBy(marks, event, now)
  }

  /** Users some of whose marks are over, with what is left of these: to be written to the topic. */
  *over(now: EpochMs): Iterable<readonly [userId: string, left: UserMarks | undefined]> {
    for (const [userId, marks] of this.#byUser)
      if (marks.some(mark => isOver(mark, now))) yield [userId, lastingMarks(marks, now)]
  }
}

/** `{"marks":[{"source":…,"deletedAt":…,"suppressed":…}]}`, `source` only where there is one. */
export function encodeMarks(marks: UserMarks): JsonText {
  const shown = marks.map(({ source, deletedAt, isSuppressed }) => ({ source, deletedAt, suppressed: isSuppressed }))
  return JSON.stringify({ marks: shown }) as JsonText
}

/** Undefined: it is none that we wrote. */
export function decodeMarks(text: string): UserMarks | undefined {
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
