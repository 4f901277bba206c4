import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import type {
  Clock,
  LogConsumer,
  LogConsumerHandlers,
  LogProducer,
  LogRecord,
  OutgoingRecord,
  PartitionReader,
  Position,
  RecordHeaders,
  UnreadBatch,
} from '../../../src/core/ports.ts'
import { type DurationMs, durationMs } from '../../../src/core/time.ts'
import { MemoryFollower } from './memory-follower.ts'

/**
 * An in-memory log behind the Kafka ports. Like a broker, it responds only after the called method
 * has returned.
 */
export class MemoryLog {
  readonly #topics = new Map<string, LogRecord[][]>()
  /** Cached records of all partitions, by topic. An append to the topic removes them. */
  readonly #records = new Map<string, readonly LogRecord[]>()
  readonly #committed = new Map<string, Map<string, Position[]>>()
  readonly #consumers = new Set<MemoryConsumer>()
  readonly #followers = new Set<MemoryFollower>()
  readonly #answers: (() => void)[] = []
  readonly unwritable = new Set<string>()
  /** Maximum bytes of a value, by topic. */
  readonly maxBytes = new Map<string, number>()
  readonly #clock: Clock
  readonly #partitions: number

  constructor(clock: Clock, partitions = 1) {
    this.#clock = clock
    this.#partitions = partitions
  }

  records(topic: string): readonly LogRecord[] {
    const records = this.#records.get(topic) ?? this.#logs(topic).flat()
    this.#records.set(topic, records)
    return records
  }

  committed(group: string, topic: string, partition = 0): number {
    return this.#position(group, topic, partition).offset
  }

  write(topic: string, value: Buffer | null, key: string | null = null, headers: RecordHeaders = {}): void {
    this.#append(topic, { key: key === null ? null : Buffer.from(key), value, headers })
  }

  writeTo(
    partition: number,
    topic: string,
    value: Buffer | null,
    headers: RecordHeaders = {},
    key: string | null = null,
  ): void {
    this.#append(topic, { key: key === null ? null : Buffer.from(key), value, headers, partition })
  }

  createAgain(topic: string): void {
    this.#topics.delete(topic)
    this.#records.delete(topic)
  }

  /** Writes a batch that the consumer skips, for example a control batch. */
  writeUnreadBatch(topic: string, unreadBatch: UnreadBatch): void {
    this.#append(topic, { key: null, value: null, headers: {} }, unreadBatch)
  }

  /**
   * Reads a partition up to the end offset that it had when the read began. With `isCompacted`,
   * reads only the last record of each key, and no tombstones.
   */
  reader({ isCompacted = false } = {}): PartitionReader {
    const logOf = (topic: string, partition: number): readonly LogRecord[] => this.#logs(topic)[partition] ?? []
    return {
      readPartition: async ({ topic, partition }, onRecord, from = 0) => {
        const all = logOf(topic, partition).slice(from)
        const last = new Map(all.map(record => [String(record.key), record]))
        const left = isCompacted ? [...last.values()].filter(({ value }) => value !== null) : all
        for (const record of left) await onRecord(record)
        return left.length
      },
      endOf: async ({ topic, partition }) => logOf(topic, partition).length,
    }
  }

  async endOffsets(topic: string): Promise<readonly number[]> {
    return this.#logs(topic).map(({ length }) => length)
  }

  producer(): LogProducer {
    return {
      append: (topic, record, onAck) => {
        this.#answers.push(() => {
          if (this.unwritable.has(topic))
            return onAck(
              Object.assign(new Error(`${topic} is not writable`), { code: 'NOT_WRITABLE', retriable: false }),
            )
          if ((record.value?.length ?? 0) > (this.maxBytes.get(topic) ?? Number.POSITIVE_INFINITY))
            return onAck(Object.assign(new Error('too large'), { code: 'MESSAGE_TOO_LARGE', retriable: false }))
          onAck(undefined, this.#append(topic, record))
        })
      },
      flush: async () => {},
      stop: async () => {},
    }
  }

  consumer(group: string, topics: () => readonly string[]): MemoryConsumer {
    const committed = this.#committedOf(group)
    const consumer = new MemoryConsumer({
      assign: () =>
        topics().flatMap(topic => this.#logs(topic).map((_, partition) => this.#position(group, topic, partition))),
      read: (topic, partition, offset) => this.#logs(topic)[partition]?.slice(offset) ?? [],
      commit: position => {
        const positions = committed.get(position.topic) ?? []
        positions[position.partition] = position
        committed.set(position.topic, positions)
      },
    })
    this.#consumers.add(consumer)
    return consumer
  }

  follower(topic: string): MemoryFollower {
    const follower = new MemoryFollower(
      () => this.records(topic),
      () => this.#clock.boottime(),
    )
    this.#followers.add(follower)
    return follower
  }

  get partitionNumbers(): readonly number[] {
    return Array.from({ length: this.#partitions }, (_, partition) => partition)
  }

  /** Acknowledges writes and delivers records. Returns false if nothing was waiting. */
  poll(): boolean {
    const hasAnswered = this.answer()
    const handedOver = [...this.#followers, ...this.#consumers].map(reader => reader.poll())
    return hasAnswered || handedOver.includes(true)
  }

  /** Acknowledges writes only. Returns false if none was waiting. */
  answer(): boolean {
    const answers = this.#answers.splice(0)
    for (const answer of answers) answer()
    return answers.length > 0
  }

  #position(group: string, topic: string, partition: number): Position {
    return this.#committedOf(group).get(topic)?.[partition] ?? { topic, partition, offset: 0, metadata: '' }
  }

  #committedOf(group: string): Map<string, Position[]> {
    const committed = this.#committed.get(group) ?? new Map()
    this.#committed.set(group, committed)
    return committed
  }

  #logs(topic: string): LogRecord[][] {
    const logs = this.#topics.get(topic) ?? Array.from({ length: this.#partitions }, () => [])
    this.#topics.set(topic, logs)
    return logs
  }

  #append(topic: string, record: OutgoingRecord, unreadBatch?: UnreadBatch): number {
    const { key, value, headers, partitionKey = key } = record
    const { partition = partitionKey === null ? 0 : partitionFor(partitionKey, this.#partitions) } = record
    const log = this.#logs(topic)[partition] as LogRecord[]
    const at = { topic, partition, offset: log.length, timestamp: this.#clock.now() }
    this.#records.delete(topic)
    log.push({ ...at, key, value, headers, ...(unreadBatch && { unreadBatch }) })
    return at.offset
  }
}

interface StoredTopics {
  assign(): readonly Position[]
  read(topic: string, partition: number, offset: number): readonly LogRecord[]
  commit(position: Position): void
}

/** The only member of its consumer group. It owns all partitions. */
export class MemoryConsumer implements LogConsumer {
  readonly #stored: StoredTopics
  #handlers: LogConsumerHandlers | undefined
  #positions = new Map<string, { topic: string; partition: number; offset: number; paused: boolean }>()

  constructor(stored: StoredTopics) {
    this.#stored = stored
  }

  async start(handlers: LogConsumerHandlers): Promise<void> {
    this.#handlers = handlers
    this.rebalance()
  }

  /** Revokes and assigns all partitions. Records without a commit are delivered again. */
  rebalance(): void {
    this.#handlers?.onRevoked([...this.#positions.values()])
    const assigned = this.#stored.assign()
    this.#positions = new Map(
      assigned.map(position => [`${position.topic}/${position.partition}`, { ...position, paused: false }]),
    )
    this.#handlers?.onAssigned(assigned)
  }

  poll(): boolean {
    let handedOver = false
    for (const position of this.#positions.values()) {
      if (position.paused) continue
      const records = this.#stored.read(position.topic, position.partition, position.offset)
      if (records.length === 0) continue
      handedOver = true
      position.offset += records.length
      this.#handlers?.onRecords({ ...position, records, nextOffset: position.offset, highWatermark: position.offset })
    }
    if (this.isCommitting) for (const position of this.#handlers?.positions() ?? []) this.#stored.commit(position)
    return handedOver
  }

  pause({ topic, partition }: { topic: string; partition: number }): void {
    const position = this.#positions.get(`${topic}/${partition}`)
    if (position !== undefined) position.paused = true
  }

  resume({ topic, partition }: { topic: string; partition: number }): void {
    const position = this.#positions.get(`${topic}/${partition}`)
    if (position !== undefined) position.paused = false
  }

  seek({ topic, partition }: { topic: string; partition: number }, offset: number): void {
    const position = this.#positions.get(`${topic}/${partition}`)
    if (position !== undefined) position.offset = offset
  }

  async stop(): Promise<void> {
    for (const position of this.#handlers?.positions() ?? []) this.#stored.commit(position)
    this.kill()
  }

  /** Kills the process, which then commits nothing. */
  kill(): void {
    this.#handlers = undefined
    this.#positions.clear()
  }

  isCommitting = true

  /** Whether the group coordinator has recently confirmed the membership. */
  confirmed = true

  holdsLease(): boolean {
    return this.confirmed
  }

  get handlers(): LogConsumerHandlers | undefined {
    return this.#handlers
  }

  /** Time since the last response of a broker. */
  silentFor: DurationMs = durationMs(0)
  inactiveFor: DurationMs = durationMs(0)

  timeSinceContact(): DurationMs {
    return this.silentFor
  }

  inactivity(): DurationMs {
    return this.inactiveFor
  }
}
