import {
  type DeletionEntry,
  type DeletionOutcome,
  type DeletionRecord,
  type DeletionStatus,
  DeletionTally,
  decodeDeletion,
  deletionKey,
  mergeDeletionParts,
} from '../../core/deletion/deletion-record-and-status.ts'
import { deletionRequestedAt } from '../../core/deletion/deletion-request.ts'
import type { Clock, LogRecord, Portion, TopicReader } from '../../core/ports.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../../core/time.ts'
import { within } from '../../core/within-time-limit.ts'
import { createReadQueue } from './one-read-at-a-time.ts'

export type FoundDeletion =
  | { readonly kind: 'found'; readonly record: DeletionRecord; readonly status: DeletionStatus }
  | { readonly kind: 'none' }
  /** The search reached a limit. The deletion may be in the unread part of the topic. */
  | { readonly kind: 'not_reached' }

/** Looks up a deletion by its id. Rejects when the topic cannot be read. */
export type FindDeletion = (id: string) => Promise<FoundDeletion>

interface Deps {
  readonly reader: TopicReader
  readonly topic: string
  readonly clock: Clock
  readonly limits: LookUpLimits
}

export interface LookUpLimits {
  readonly records: number
  /** Maximum time of a look-up, including its wait for earlier look-ups. */
  readonly time: DurationMs
  /**
   * Whether the look-up ends after `time`, even without a response from Kafka. Otherwise, it waits
   * for the Kafka client's error.
   */
  readonly isStrict: boolean
}

/** Maximum number of records of a look-up: twenty times the records of a usual deletion. */
const maxRecords = 300_000
export const commandLimits: LookUpLimits = { records: maxRecords, time: durationMs(5_000), isStrict: false }
export const requestLimits: LookUpLimits = { records: maxRecords, time: durationMs(1_500), isStrict: true }
/**
 * Maximum error, in ms, of the time in a deletion's id. The time may come from the clock of a
 * process, if no broker responded.
 */
const marginMs = 600_000

/**
 * Looks up deletions, one at a time. Calls for one id share a look-up, unless it has already begun.
 */
export function createFindDeletion({ reader, topic, clock, limits }: Deps): FindDeletion {
  const inTurn = createReadQueue(clock, limits.time)

  async function find(id: string, until: number): Promise<FoundDeletion> {
    const entries = new Entries(id)
    const left = until - clock.monotonic()
    if (left <= 0) return entries.found(true)
    let count = 0
    let isPartial = false
    const mustStop = (): boolean => {
      if (entries.areComplete()) return true
      isPartial = count >= limits.records || clock.monotonic() >= until
      return isPartial
    }
    const onRecord = (record: LogRecord): void => {
      count++
      entries.take(record)
    }
    const read = reader.readToEnd(topic, onRecord, { ...portionToRead(id), mustStop })
    const found = read.then(() => entries.found(isPartial))
    return limits.isStrict ? within(clock, durationMs(left), found, () => entries.found(true)) : found
  }

  return id => inTurn(id, until => find(id, until))
}

/**
 * Returns the part of the topic to read: the deletion's partition, from shortly before the request
 * on. An id from an earlier version of Hookline contains no time, so the whole topic is read.
 */
function portionToRead(id: string): Pick<Portion, 'key' | 'since'> {
  const asked = deletionRequestedAt(id)
  return asked === undefined ? {} : { key: Buffer.from(deletionKey(id)), since: before(asked) }
}

const before = (time: EpochMs): EpochMs => epochMs(Math.max(0, time - marginMs))

/**
 * Returns the record of a deletion. Reads without a limit: if the function missed an existing
 * deletion, the caller would begin another one with the same id.
 */
export async function findDeletionRecord(
  { reader, topic }: Pick<Deps, 'reader' | 'topic'>,
  id: string,
): Promise<DeletionRecord | undefined> {
  const parts = new DeletionParts()
  let found: DeletionRecord | undefined
  const onRecord = ({ key, value }: LogRecord): void => {
    const entry = value === null ? undefined : decodeDeletion(key?.toString() ?? '', value.toString())
    if (entry?.kind === 'request' && entry.record.id === id) found = parts.take(entry) ?? found
  }
  await reader.readToEnd(topic, onRecord, portionToRead(id))
  return found
}

class Entries {
  readonly #id: string
  /**
   * The last outcome by key. Append times decide which outcome is the last. Offsets cannot, because
   * earlier versions of Hookline wrote one key to several partitions.
   */
  readonly #outcomes = new Map<string, { readonly outcome: DeletionOutcome; readonly at: EpochMs }>()
  readonly #parts = new DeletionParts()
  #record: DeletionRecord | undefined
  #tally: DeletionTally | undefined

  constructor(id: string) {
    this.#id = id
  }

  take({ key, value, timestamp: at }: LogRecord): void {
    const name = key?.toString() ?? ''
    const entry = value === null ? undefined : decodeDeletion(name, value.toString())
    const record = entry?.kind === 'request' && entry.record.id === this.#id ? this.#parts.take(entry) : undefined
    if (record !== undefined) this.#begin(record)
    if (entry?.kind !== 'outcome' || entry.outcome.request !== this.#id) return
    if (at < (this.#outcomes.get(name)?.at ?? 0)) return
    this.#outcomes.set(name, { outcome: entry.outcome, at })
    this.#tally?.addOutcome(entry.outcome)
  }

  /**
   * Begins to count results. Results can precede the request in the topic, and count too: after a
   * crash, the request is written again, and compaction removes its first record.
   */
  #begin(record: DeletionRecord): void {
    this.#record = record
    this.#tally = new DeletionTally(record)
    for (const { outcome } of this.#outcomes.values()) this.#tally.addOutcome(outcome)
  }

  /** Whether every delete message was delivered, so that the rest of the topic need not be read. */
  areComplete(): boolean {
    return this.#tally?.isFinished() === true
  }

  found(isPartial: boolean): FoundDeletion {
    if (this.#record === undefined || this.#tally === undefined) return { kind: isPartial ? 'not_reached' : 'none' }
    const status = this.#tally.status()
    return { kind: 'found', record: this.#record, status: isPartial ? { ...status, partial: true } : status }
  }
}

/** Collects the parts of one deletion. */
class DeletionParts {
  readonly #parts = new Map<number, DeletionRecord>()

  /**
   * Returns the record when all its parts are read. All parts of one write have the same time.
   * Parts with another time are from an earlier write that failed.
   */
  take({ record, part, parts }: Extract<DeletionEntry, { kind: 'request' }>): DeletionRecord | undefined {
    const [earlier] = this.#parts.values()
    if (earlier?.createdAt !== record.createdAt) this.#parts.clear()
    this.#parts.set(part, record)
    if (this.#parts.size !== parts) return undefined
    const [first = record, ...others] = [...this.#parts].sort(([a], [b]) => a - b).map(([, each]) => each)
    return mergeDeletionParts([first, ...others])
  }
}
