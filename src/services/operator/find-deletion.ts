import { deletionAsked } from '../../core/deletion/deletion-request.ts'
import {
  type DeletionOutcome,
  type DeletionRecord,
  type DeletionStatus,
  DeletionTally,
  decodeDeletion,
  deletionKey,
} from '../../core/deletion/deletion-status.ts'
import type { Clock, LogRecord, Portion, TopicReader } from '../../core/ports.ts'
import { durationMs, type EpochMs, epochMs } from '../../core/units.ts'

export type FoundDeletion =
  | { readonly kind: 'found'; readonly record: DeletionRecord; readonly status: DeletionStatus }
  | { readonly kind: 'none' }
  /** As much was read as may be, and there is more: it may be in the rest. */
  | { readonly kind: 'not_reached' }

/** Rejects when the topic cannot be read. */
export type FindDeletion = (id: string) => Promise<FoundDeletion>

interface Deps {
  readonly reader: TopicReader
  readonly topic: string
  readonly clock: Clock
}

/** What one question may read: some seconds of it, and twenty times what a usual deletion has. */
export const mostRead = { records: 300_000, time: durationMs(5_000) }
/** An id may have been made by a clock that nobody had told the brokers' time yet. */
const marginMs = 600_000

/**
 * Looks deletions up in their topic, one after the other: whoever asks for the same one before it is
 * its turn gets the same answer. An id of ours says where and since when to read.
 */
export function createFindDeletion({ reader, topic, clock }: Deps): FindDeletion {
  const waiting = new Map<string, Promise<FoundDeletion>>()
  let last: Promise<unknown> = Promise.resolve()

  async function find(id: string): Promise<FoundDeletion> {
    const entries = new Entries(id)
    const until = clock.monotonic() + mostRead.time
    let count = 0
    let isPartial = false
    const isEnough = (): boolean => {
      if (entries.areComplete()) return true
      isPartial = count >= mostRead.records || clock.monotonic() >= until
      return isPartial
    }
    const onRecord = (record: LogRecord): void => {
      count++
      entries.take(record)
    }
    await reader.readToEnd(topic, onRecord, { ...placeOf(id), isEnough })
    return entries.found(isPartial)
  }

  return id => {
    const shared = waiting.get(id)
    if (shared !== undefined) return shared
    const found = last.then(() => {
      // Whoever asks from now on might miss what is written while it is read.
      waiting.delete(id)
      return find(id)
    })
    waiting.set(id, found)
    last = found.catch(() => undefined)
    return found
  }
}

/** Earlier versions wrote the outcomes of a deletion into any partition; their ids say no time. */
function placeOf(id: string): Pick<Portion, 'key' | 'since'> {
  const asked = deletionAsked(id)
  return asked === undefined ? {} : { key: Buffer.from(deletionKey(id)), since: before(asked) }
}

const before = (time: EpochMs): EpochMs => epochMs(Math.max(0, time - marginMs))

/** What was read of one deletion. */
class Entries {
  readonly #id: string
  /** By key, with the time when it was appended: the last one holds, also of those in two partitions. */
  readonly #outcomes = new Map<string, { readonly outcome: DeletionOutcome; readonly at: EpochMs }>()
  #record: DeletionRecord | undefined
  #tally: DeletionTally | undefined

  constructor(id: string) {
    this.#id = id
  }

  take({ key, value, timestamp: at }: LogRecord): void {
    const name = key?.toString() ?? ''
    const entry = value === null ? undefined : decodeDeletion(name, value.toString())
    if (entry?.kind === 'request' && entry.record.id === this.#id) this.#begin(entry.record)
    if (entry?.kind !== 'outcome' || entry.outcome.request !== this.#id) return
    if (at < (this.#outcomes.get(name)?.at ?? 0)) return
    this.#outcomes.set(name, { outcome: entry.outcome, at })
    this.#tally?.note(entry.outcome)
  }

  /** Compaction may leave outcomes before it. */
  #begin(record: DeletionRecord): void {
    this.#record = record
    this.#tally = new DeletionTally(record)
    for (const { outcome } of this.#outcomes.values()) this.#tally.note(outcome)
  }

  /** Everybody was told: nothing that comes later changes that. */
  areComplete(): boolean {
    return this.#tally?.isFinished() === true
  }

  found(isPartial: boolean): FoundDeletion {
    if (this.#record === undefined || this.#tally === undefined) return { kind: isPartial ? 'not_reached' : 'none' }
    const status = this.#tally.status()
    return { kind: 'found', record: this.#record, status: isPartial ? { ...status, partial: true } : status }
  }
}
