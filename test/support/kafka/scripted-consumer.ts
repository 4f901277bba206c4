import type { LogConsumer, LogConsumerHandlers, LogRecord, Position, TopicPartition } from '../../../src/core/ports.ts'
import { type DurationMs, durationMs } from '../../../src/core/time.ts'
import type { Admission } from '../../../src/services/partitions/partitions.ts'

export const partition: TopicPartition = { topic: 'hookline.retry.10s', partition: 3 }

export interface Fetch {
  readonly count: number
  /** Number of earlier records that are delivered again. */
  readonly again?: number
  /**
   * Whether the batch ends with offsets without records, as after compaction. The next fetch then
   * begins after them.
   */
  readonly withGap?: boolean
  /** Whether the fetch began before the partition was paused. */
  readonly late?: boolean
}

/** A consumer of one partition. `fetch` delivers records. */
export class ScriptedConsumer implements LogConsumer {
  next = 0
  isPaused = false
  readonly calls: string[] = []
  readonly #records: readonly LogRecord[]
  readonly #end: number
  #handlers: LogConsumerHandlers | undefined

  /** `end` is the end offset. It may be higher than the last record's offset plus 1. */
  constructor(records: readonly LogRecord[], end: number) {
    this.#records = records
    this.#end = end
  }

  async start(handlers: LogConsumerHandlers): Promise<void> {
    this.#handlers = handlers
  }

  assign({ offset, metadata }: Omit<Position, keyof TopicPartition>): void {
    this.next = offset
    this.isPaused = false
    this.#handlers?.onAssigned([{ ...partition, offset, metadata }])
  }

  revoke(): void {
    this.#handlers?.onRevoked([partition])
  }

  /** Delivers the next records. A paused partition delivers them only with `late`. */
  fetch({ count, again = 0, withGap = false, late = false }: Fetch): void {
    if (this.isPaused && !late) return
    const before = this.#records.filter(({ offset }) => offset < this.next)
    const ahead = this.#records.filter(({ offset }) => offset >= this.next)
    const records = ahead.slice(0, count)
    const following = ahead[count]?.offset ?? this.#end
    this.next = withGap ? following : Math.max(this.next, (records.at(-1)?.offset ?? -1) + 1)
    this.#handOver([...before.slice(before.length - again), ...records], this.next)
  }

  /** Delivers records as a late response to a fetch that began before the last seek. */
  stray(count: number): void {
    const records = this.#records.filter(({ offset }) => offset >= this.next).slice(0, count)
    this.#handOver(records, (records.at(-1)?.offset ?? this.next) + 1)
  }

  #handOver(records: readonly LogRecord[], nextOffset: number): void {
    this.#handlers?.onRecords({ ...partition, records, nextOffset, highWatermark: this.#end })
  }

  pause(of: TopicPartition): void {
    if (of.partition !== partition.partition) return
    this.calls.push('pause')
    this.isPaused = true
  }

  resume(of: TopicPartition): void {
    if (of.partition !== partition.partition) return
    this.calls.push('resume')
    this.isPaused = false
  }

  seek(_: TopicPartition, offset: number): void {
    this.calls.push(`seek ${offset}`)
    this.next = offset
  }

  async stop(): Promise<void> {}

  holdsLease(): boolean {
    return true
  }

  timeSinceContact(): DurationMs {
    return durationMs(0)
  }

  inactivity(): DurationMs {
    return durationMs(0)
  }
}

/** Callbacks of a service that does nothing with its records. */
export const noAdmission: Admission = {
  usesStalledLimits: () => true,
  assigned: () => undefined,
  admit: () => undefined,
  admitted: () => undefined,
  revoked: () => undefined,
  handOver: () => undefined,
  released: () => undefined,
}
