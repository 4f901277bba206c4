import { LiveSums } from '../../../src/core/live-status/status-sums-of-all-processes.ts'
import type { LogProducer, OutgoingRecord } from '../../../src/core/ports.ts'
import type { EpochMs } from '../../../src/core/time.ts'

interface Pending {
  readonly record: OutgoingRecord
  readonly onAck: (error: Error | undefined) => void
}

/**
 * An in-memory status topic. `sums` are a reader's totals. The test decides when and how a write
 * ends.
 */
export class StatusTopic implements LogProducer {
  readonly sums = new LiveSums()
  readonly values = new Map<string, string>()
  readonly stored: string[] = []
  readonly pending: Pending[] = []
  readonly #now: () => EpochMs
  /** Whether each write ends immediately. Otherwise it ends in `answer`. */
  isAnswering = true

  constructor(now: () => EpochMs) {
    this.#now = now
  }

  append(_topic: string, record: OutgoingRecord, onAck: Pending['onAck']): void {
    this.pending.push({ record, onAck })
    if (this.isAnswering) this.answer()
  }

  /**
   * Ends the pending writes. With `stored_and_failed`, the record is stored although the producer
   * gets an error.
   */
  answer(how: 'stored' | 'failed' | 'stored_and_failed' = 'stored'): void {
    for (const { record, onAck } of this.pending.splice(0)) {
      if (how !== 'failed') this.#store(record)
      onAck(how === 'stored' ? undefined : new Error('no answer'))
    }
  }

  #store({ key, value }: OutgoingRecord): void {
    const text = String(key)
    this.stored.push(text)
    if (value === null) this.values.delete(text)
    else this.values.set(text, value.toString())
    this.sums.apply(text, value, this.#now())
  }

  async flush(): Promise<void> {}
  async stop(): Promise<void> {}
}
