import type { LogRecord, TopicFollower, TopicFollowerHandlers } from '../../../src/core/ports.ts'

export class MemoryFollower implements TopicFollower {
  readonly #records: () => readonly LogRecord[]
  readonly #now: () => number
  #handlers: TopicFollowerHandlers | undefined
  readonly #positions = new Map<number, number>()
  isCutOff = false

  constructor(records: () => readonly LogRecord[], now: () => number) {
    this.#records = records
    this.#now = now
  }

  async start(handlers: TopicFollowerHandlers): Promise<void> {
    this.#handlers = handlers
    this.poll()
  }

  poll(): boolean {
    if (this.isCutOff) return false
    this.#beginAgain()
    const records = this.#records().filter(({ partition, offset }) => offset >= (this.#positions.get(partition) ?? 0))
    for (const record of records) {
      this.#positions.set(record.partition, record.offset + 1)
      this.#handlers?.onRecord(record)
    }
    this.#handlers?.onCurrent(this.#now())
    return records.length > 0
  }

  /**
   * If a partition ends before the follower's position, continues at the beginning of the
   * partition.
   */
  #beginAgain(): void {
    for (const [partition, position] of this.#positions) {
      const last = this.#records().findLast(record => record.partition === partition)
      if (position <= (last?.offset ?? -1) + 1) continue
      this.#positions.delete(partition)
      this.#handlers?.onTruncated?.(partition)
    }
  }

  async stop(): Promise<void> {
    this.#handlers = undefined
  }
}
