import type { Counts } from '../../core/live-status/result-counts-of-this-process.ts'
import {
  type DestinationActivity,
  encodeActivity,
  encodeResults,
  periodOf,
  type StatusKey,
} from '../../core/live-status/status-record.ts'
import type { EpochMs } from '../../core/time.ts'
import type { StatusAppender } from './status-appender.ts'

/**
 * Age, in ms, after which an unchanged value is written again: readers of the topic read only the
 * last day.
 */
const renewAfterMs = 3_600_000

/**
 * The values that this process wrote to the status topic for one shard of destinations (`shardOf`).
 */
export class WrittenShard {
  /**
   * The JSON that Kafka has stored; `undefined` if unknown, because a write is in progress or has
   * failed.
   */
  #activity: string | undefined = '{}'
  #results: string | undefined = '{}'
  #activityAt = 0
  /** The beginning of the 15 minutes that the results belong to. */
  #start: EpochMs

  constructor(now: EpochMs) {
    this.#start = periodOf(now)
  }

  /** Whether this process may have an activity record of the shard in the status topic. */
  get hasActivity(): boolean {
    return this.#activity !== '{}'
  }

  writeActivity(
    records: StatusAppender,
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
   * Writes the counts of the current period of 15 minutes. After the end of the period, subtracts
   * the written counts from `all`, so that the next period does not count these results again.
   */
  writeResults(
    records: StatusAppender,
    { instance, shard }: { readonly instance: string; readonly shard: number },
    all: ReadonlyMap<string, Counts>,
    now: EpochMs,
  ): void {
    const key = { kind: 'results', instance, start: this.#start, shard } as const
    if (records.isWriting(key)) return
    const text = encodeResults(all)
    const next = periodOf(now)
    // `all` may grow during the write, but only the written counts may be subtracted.
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
