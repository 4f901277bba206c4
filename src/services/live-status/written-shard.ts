import type { Counts } from '../../core/live-status/result-counts.ts'
import {
  type DestinationActivity,
  encodeActivity,
  encodeResults,
  periodOf,
  type StatusKey,
} from '../../core/live-status/status-record.ts'
import type { EpochMs } from '../../core/time.ts'
import type { StatusRecords } from './status-records.ts'

/** Readers begin a day before their start, so a value that does not change is written again. */
const renewAfterMs = 3_600_000

/** The records of one shard that the topic has. */
export class WrittenShard {
  /** `undefined` while a write is in progress, and after it failed: then it may have arrived. */
  #activity: string | undefined = '{}'
  #results: string | undefined = '{}'
  #activityAt = 0
  /** The beginning of the period that the results belong to. */
  #start: EpochMs

  constructor(now: EpochMs) {
    this.#start = periodOf(now)
  }

  /** Whether the topic may have destinations of the shard that are not at rest. */
  get hasActivity(): boolean {
    return this.#activity !== '{}'
  }

  writeActivity(
    records: StatusRecords,
    key: StatusKey,
    active: Iterable<readonly [string, DestinationActivity]>,
    now: EpochMs,
  ): void {
    if (records.isWriting(key)) return
    const text = encodeActivity(active)
    const isWritten = text === this.#activity && (text === '{}' || now - this.#activityAt < renewAfterMs)
    if (isWritten) return
    this.#activity = undefined
    this.#activityAt = now
    records.write(key, text === '{}' ? undefined : text, () => (this.#activity = text))
  }

  /**
   * Writes the results since the beginning of the period. After the period it writes them once more
   * and subtracts what was written, so that every result counts in one period.
   */
  writeResults(
    records: StatusRecords,
    { instance, shard }: { readonly instance: string; readonly shard: number },
    all: ReadonlyMap<string, Counts>,
    now: EpochMs,
  ): void {
    const key = { kind: 'results', instance, start: this.#start, shard } as const
    if (records.isWriting(key)) return
    const text = encodeResults(all)
    const next = periodOf(now)
    // Counts change until the write ends. The end of a period therefore subtracts a copy of the
    // written counts.
    const counted = next > this.#start ? [...all].map(([id, counts]) => [id, { ...counts }] as const) : undefined
    const onWritten = (): void => {
      this.#results = text
      if (counted === undefined) return
      for (const [id, counts] of counted) subtract(all.get(id), counts)
      this.#results = '{}'
      this.#start = next
    }
    if (text === this.#results) return onWritten()
    this.#results = undefined
    records.write(key, text, onWritten)
  }
}

function subtract(counts: Counts | undefined, written: Counts): void {
  if (counts === undefined) return
  counts.delivered -= written.delivered
  counts.failed -= written.failed
  counts.deadLettered -= written.deadLettered
  counts.dropped -= written.dropped
}
