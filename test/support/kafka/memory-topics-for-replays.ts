import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import type { LogProducer, LogRecord, OutgoingRecord, TopicReader } from '../../../src/core/ports.ts'
import type { EpochMs } from '../../../src/core/time.ts'

interface Pending {
  readonly topic: string
  readonly partition: number
  readonly record: OutgoingRecord
  readonly onAck: (error: Error | undefined) => void
}

/**
 * In-memory topics for operator commands. Tests write directly. Code under test writes through a
 * `MemoryTopicsProducer`, record by record.
 */
export class MemoryTopics {
  readonly partitions = 2
  readonly #records: LogRecord[] = []
  readonly #now: () => EpochMs

  constructor(now: () => EpochMs) {
    this.#now = now
  }

  write(topic: string, { key, value, headers, partition = this.partitionOf(key) }: OutgoingRecord): void {
    const offset = this.#records.filter(record => record.topic === topic && record.partition === partition).length
    this.#records.push({ topic, partition, offset, timestamp: this.#now(), key, value, headers })
  }

  records(topic: string): readonly LogRecord[] {
    return this.#records.filter(record => record.topic === topic)
  }

  partitionOf(key: Buffer | null): number {
    return key === null ? 0 : partitionFor(key, this.partitions)
  }

  reader(): TopicReader {
    return {
      readToEnd: async (topic, onRecord, { since = 0 } = {}) => {
        const records = this.records(topic)
          .filter(({ timestamp }) => timestamp >= since)
          .toSorted((a, b) => a.partition - b.partition || a.offset - b.offset)
        for (const record of records) await onRecord(record)
        return records.length
      },
    }
  }
}

/**
 * A producer that writes and acknowledges only in `step`. It keeps only the order within each
 * partition.
 */
export class MemoryTopicsProducer implements LogProducer {
  readonly #topics: MemoryTopics
  readonly #pending: Pending[] = []
  /** True, or an error, if the topic rejects the record. */
  readonly refuses: (topic: string, record: OutgoingRecord) => boolean | Error
  written = 0
  mostPending = 0

  constructor(topics: MemoryTopics, refuses: MemoryTopicsProducer['refuses'] = () => false) {
    this.#topics = topics
    this.refuses = refuses
  }

  append(topic: string, record: OutgoingRecord, onAck: Pending['onAck']): void {
    this.#pending.push({ topic, partition: record.partition ?? this.#topics.partitionOf(record.key), record, onAck })
    this.mostPending = Math.max(this.mostPending, this.#pending.length)
  }

  /**
   * Writes the first waiting record of the partition that `pick` selects. With `isAnswerLost`, does
   * not acknowledge it.
   */
  step(pick = 0, isAnswerLost = false): void {
    const lanes = Map.groupBy(this.#pending, ({ topic, partition }) => `${topic}/${partition}`)
    const heads = [...lanes.values()].map(lane => lane[0] as Pending)
    const chosen = heads[pick % heads.length]
    if (chosen === undefined) return
    this.#pending.splice(this.#pending.indexOf(chosen), 1)
    const { topic, record, onAck } = chosen
    const refusal = this.refuses(topic, record)
    if (refusal !== false) return onAck(refusal === true ? new Error(`${topic} takes nothing`) : refusal)
    this.#topics.write(topic, record)
    this.written++
    if (!isAnswerLost) onAck(undefined)
  }

  async flush(): Promise<void> {}
  async stop(): Promise<void> {}
}

/**
 * Calls `producer.step` until `work` has ended. Each call gets the next number of `picks`,
 * cyclically.
 */
export async function whileWriting<T>(producer: MemoryTopicsProducer, work: Promise<T>, picks = [0]): Promise<T> {
  let isRunning = true
  const done = work.finally(() => (isRunning = false))
  for (let turn = 0; isRunning; turn++) {
    await new Promise(resolve => setImmediate(resolve))
    producer.step(picks[turn % picks.length])
  }
  return done
}

/**
 * Like `whileWriting`, but ends after `writes` written records, and does not acknowledge the last
 * one, as after a kill. Resolves with false if `work` ended earlier.
 */
export async function killedAfter(
  producer: MemoryTopicsProducer,
  work: Promise<unknown>,
  writes: number,
  picks = [0],
): Promise<boolean> {
  let isRunning = true
  void work.finally(() => (isRunning = false))
  for (let turn = 0; producer.written < writes; turn++) {
    await new Promise(resolve => setImmediate(resolve))
    if (!isRunning) return false
    producer.step(picks[turn % picks.length], producer.written === writes - 1)
  }
  return true
}
