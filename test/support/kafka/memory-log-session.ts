import { topicMissing } from '../../../src/adapters/kafka/kafkajs/errors.ts'
import type { Commit, LogSession } from '../../../src/core/log-session.ts'
import type { LogRecord, OutgoingRecord } from '../../../src/core/ports.ts'
import { type EpochMs, epochMs } from '../../../src/core/time.ts'

/**
 * An in-memory `LogSession`. As in Kafka, a read from a deleted record fails. `count` is the number
 * of records read.
 */
export class MemorySession implements LogSession {
  readonly #topics = new Map<string, LogRecord[][]>()
  readonly #committed = new Map<string, readonly Commit[]>()
  readonly #partitions: number
  /** Offset of the first record that is not deleted, by topic and partition (`t/0`). Default: 0. */
  readonly removed = new Map<string, number>()
  readonly missing = new Set<string>()
  count = 0

  constructor(partitions = 1) {
    this.#partitions = partitions
  }

  append(topic: string, partition: number, at: number, { key, value, headers }: OutgoingRecord): number {
    const log = this.#of(topic)[partition] as LogRecord[]
    log.push({ topic, partition, offset: log.length, timestamp: epochMs(at), key, value, headers })
    return log.length - 1
  }

  commit(groupId: string, topic: string, commits: readonly Commit[]): void {
    this.#committed.set(`${groupId}/${topic}`, commits)
  }

  async ranges(topic: string) {
    return this.#of(topic).map((log, partition) => ({
      beginning: this.removed.get(`${topic}/${partition}`) ?? 0,
      end: log.length,
    }))
  }

  async offsetsSince(topic: string, at: EpochMs) {
    return this.#of(topic).map(log => log.find(({ timestamp }) => timestamp >= at)?.offset ?? log.length)
  }

  async read(
    { topic, partition }: { topic: string; partition: number },
    from: number,
    to: number,
    onRecord: (record: LogRecord) => void,
  ) {
    if (from < (this.removed.get(`${topic}/${partition}`) ?? 0))
      throw Object.assign(new Error('out of range'), { code: 'OFFSET_OUT_OF_RANGE', retriable: false })
    for (const record of this.#of(topic)[partition]?.slice(from, to) ?? []) {
      this.count++
      onRecord(record)
    }
  }

  async commits(groupId: string, topic: string) {
    const none = this.#of(topic).map(() => ({ offset: -1, metadata: '' }))
    return this.#committed.get(`${groupId}/${topic}`) ?? none
  }

  #of(topic: string): LogRecord[][] {
    if (this.missing.has(topic)) throw topicMissing(topic)
    const logs = this.#topics.get(topic) ?? Array.from({ length: this.#partitions }, () => [])
    this.#topics.set(topic, logs)
    return logs
  }
}
