import type { Counts } from '../../core/live-status/result-counts.ts'
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
 * Maximum age of an unchanged value, in ms; after it, the value is written again. A reader of the
 * topic begins with the records of the last day, so it would not find an older value.
 */
const renewAfterMs = 3_600_000

/**
 * The values that this process wrote to the status topic for one shard. The function `shardOf`
 * assigns each destination to a shard.
 */
export class WrittenShard {
  /**
   * The JSON of the activity and results that Kafka has stored for this shard. A value is
   * `undefined` while it is being written. After a failed write, it stays `undefined`, because
   * Kafka may have stored the record nevertheless, and a later run writes it again.
   */
  #activity: string | undefined = '{}'
  #results: string | undefined = '{}'
  #activityAt = 0
  /** The beginning of the period of 15 minutes that the results belong to. */
  #start: EpochMs

  constructor(now: EpochMs) {
    this.#start = periodOf(now)
  }

  /** Whether the status topic may have an activity record that this process wrote for the shard. */
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
   * Writes the shard's counts (`all`) of the current period. When the period has ended, writes
   * these counts once more, and then subtracts them from `all`, so that the next period starts
   * without them. So every result counts in exactly one period.
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
    // The counts in `all` may grow while the write is in progress. At the end of a period, only the
    // written counts may be subtracted, so they are copied here.
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
